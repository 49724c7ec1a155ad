//! Every field that a schema has is in the kind's struct, under the same name: an object with all of them set is read
//! and written without loss.

use std::collections::BTreeMap;

use capstan_api::{VERSION, addons, bootstrap, controlplane, core, crd, infrastructure, ipam, runtime};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

/// A value that has everything `schema` has.
fn filled(schema: &Value) -> Value {
    if let Some(word) = schema["enum"].as_array().and_then(|it| it.first()) {
        return word.clone();
    }
    if schema["x-kubernetes-preserve-unknown-fields"] == json!(true) {
        return json!({ "any": 1 });
    }
    if schema["x-kubernetes-int-or-string"] == json!(true) {
        return json!("10%");
    }
    match schema["type"].as_str().unwrap_or_default() {
        "object" => {
            let mut members: Map<String, Value> = Map::new();
            for (name, member) in schema["properties"].as_object().into_iter().flatten() {
                members.insert(name.clone(), filled(member));
            }
            if schema["additionalProperties"].is_object() {
                members.insert("key".to_owned(), filled(&schema["additionalProperties"]));
            }
            Value::Object(members)
        }
        "array" => json!([filled(&schema["items"])]),
        "integer" => json!(schema["minimum"].as_i64().unwrap_or(1).max(1)),
        "boolean" => json!(true),
        "string" => match schema["format"].as_str() {
            Some("date-time") => json!("2026-01-02T03:04:05Z"),
            Some("byte") => json!("YWJj"),
            _ => json!("text"),
        },
        other => panic!("unknown type {other:?} in {schema}"),
    }
}

fn round_trip<K: Serialize + DeserializeOwned>(object: &Value) -> Value {
    let read: K = serde_json::from_value(object.clone()).expect("the struct holds what the schema allows");
    serde_json::to_value(read).expect("json")
}

#[test]
fn an_object_with_every_field_is_kept_whole() {
    let mut trips: BTreeMap<&str, fn(&Value) -> Value> = BTreeMap::new();
    trips.insert("Cluster", round_trip::<core::Cluster>);
    trips.insert("ClusterClass", round_trip::<core::ClusterClass>);
    trips.insert("Machine", round_trip::<core::Machine>);
    trips.insert("MachineSet", round_trip::<core::MachineSet>);
    trips.insert("MachineDeployment", round_trip::<core::MachineDeployment>);
    trips.insert("MachinePool", round_trip::<core::MachinePool>);
    trips.insert("MachineHealthCheck", round_trip::<core::MachineHealthCheck>);
    trips.insert("MachineDrainRule", round_trip::<core::MachineDrainRule>);
    trips.insert("ClusterResourceSet", round_trip::<addons::ClusterResourceSet>);
    trips.insert(
        "ClusterResourceSetBinding",
        round_trip::<addons::ClusterResourceSetBinding>,
    );
    trips.insert("IPAddress", round_trip::<ipam::IPAddress>);
    trips.insert("IPAddressClaim", round_trip::<ipam::IPAddressClaim>);
    trips.insert("ExtensionConfig", round_trip::<runtime::ExtensionConfig>);
    trips.insert("KubeadmConfig", round_trip::<bootstrap::KubeadmConfig>);
    trips.insert(
        "KubeadmConfigTemplate",
        round_trip::<bootstrap::KubeadmConfigTemplate>,
    );
    trips.insert(
        "KubeadmControlPlane",
        round_trip::<controlplane::KubeadmControlPlane>,
    );
    trips.insert(
        "KubeadmControlPlaneTemplate",
        round_trip::<controlplane::KubeadmControlPlaneTemplate>,
    );
    trips.insert("DevCluster", round_trip::<infrastructure::DevCluster>);
    trips.insert(
        "DevClusterTemplate",
        round_trip::<infrastructure::DevClusterTemplate>,
    );
    trips.insert("DevMachine", round_trip::<infrastructure::DevMachine>);
    trips.insert(
        "DevMachineTemplate",
        round_trip::<infrastructure::DevMachineTemplate>,
    );
    trips.insert("DockerCluster", round_trip::<infrastructure::DockerCluster>);
    trips.insert(
        "DockerClusterTemplate",
        round_trip::<infrastructure::DockerClusterTemplate>,
    );
    trips.insert("DockerMachine", round_trip::<infrastructure::DockerMachine>);
    trips.insert(
        "DockerMachineTemplate",
        round_trip::<infrastructure::DockerMachineTemplate>,
    );

    for definition in crd::definitions() {
        let kind = definition["spec"]["names"]["kind"].as_str().expect("a kind");
        let Some(trip) = trips.remove(kind) else { continue };
        let versions = definition["spec"]["versions"].as_array().expect("versions");
        let hub = versions
            .iter()
            .find(|it| it["name"] == VERSION)
            .expect("the hub version");
        let properties = &hub["schema"]["openAPIV3Schema"]["properties"];
        let group = definition["spec"]["group"].as_str().expect("a group");
        let mut object = json!({
            "apiVersion": format!("{group}/{VERSION}"), "kind": kind,
            "metadata": { "name": "name" }, "spec": filled(&properties["spec"])
        });
        if !properties["status"].is_null() {
            object["status"] = filled(&properties["status"]);
        }
        assert_eq!(trip(&object), object, "{kind}");
    }
    assert_eq!(
        trips.keys().collect::<Vec<_>>(),
        Vec::<&&str>::new(),
        "kinds without a definition"
    );
}
