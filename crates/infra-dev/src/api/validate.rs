//! Validation, as upstream's webhooks do it.
//!
//! Differs: durations and fractions are read here, so that a typing error is refused by name instead of stopping a
//! machine later.

use capstan_base::field::{Error, Path};
use serde_json::Value;

use super::{
    DevCluster, DevClusterTemplate, DevMachine, DevMachineTemplate,
    cluster::DevClusterSpec,
    default,
    machine::{Component, DevMachineSpec},
    quantity::{parse_duration, parse_jitter},
};

/// What is wrong with a DevCluster.
pub fn validate_cluster(cluster: &DevCluster) -> Vec<Error> {
    cluster_spec(&cluster.spec, &Path::new("spec"))
}

/// What is wrong with a DevClusterTemplate.
pub fn validate_cluster_template(template: &DevClusterTemplate) -> Vec<Error> {
    cluster_spec(&template.spec.template.spec, &Path::new("spec.template.spec"))
}

/// What is wrong with a change of a DevClusterTemplate: its spec is immutable.
pub fn validate_cluster_template_update(old: &DevClusterTemplate, new: &DevClusterTemplate) -> Vec<Error> {
    let (mut old, mut new) = (old.clone(), new.clone());
    default::default_cluster_template(&mut old);
    default::default_cluster_template(&mut new);
    if old.spec.template.spec == new.spec.template.spec {
        return Vec::new();
    }
    vec![immutable(
        "DevClusterTemplate",
        serde_json::to_value(&new.spec.template.spec),
    )]
}

/// What is wrong with a DevMachine; `old` is the machine before, absent on create.
pub fn validate_machine(old: Option<&DevMachine>, new: &DevMachine) -> Vec<Error> {
    let path = Path::new("spec");
    let mut errors = machine_spec(&new.spec, &path);
    let image = |it: &DevMachine| {
        it.spec
            .backend
            .docker
            .as_ref()
            .map(|it| it.get("customImage").cloned())
    };
    if let (Some(before), Some(after)) = (old.and_then(image), image(new))
        && before != after
    {
        let path = path.child("backend").child("docker").child("customImage");
        errors.push(Error::forbidden(&path, "cannot be modified"));
    }
    errors
}

/// What is wrong with a DevMachineTemplate.
pub fn validate_machine_template(template: &DevMachineTemplate) -> Vec<Error> {
    machine_spec(&template.spec.template.spec, &Path::new("spec.template.spec"))
}

/// What is wrong with a change of a DevMachineTemplate: its spec is immutable, but for the dry runs by which the
/// topology controller finds out what would change.
pub fn validate_machine_template_update(
    old: &DevMachineTemplate,
    new: &DevMachineTemplate,
    is_topology_dry_run: bool,
) -> Vec<Error> {
    let mut errors = validate_machine_template(new);
    if !is_topology_dry_run && old.spec.template.spec != new.spec.template.spec {
        errors.push(immutable(
            "DevMachineTemplate",
            serde_json::to_value(&new.spec.template.spec),
        ));
    }
    errors
}

fn immutable(kind: &str, spec: serde_json::Result<Value>) -> Error {
    let detail =
        format!("{kind} spec.template.spec field is immutable. Please create a new resource instead.");
    Error::invalid(&Path::new("spec.template.spec"), spec.unwrap_or_default(), detail)
}

fn cluster_spec(spec: &DevClusterSpec, path: &Path) -> Vec<Error> {
    let domains = spec
        .backend
        .docker
        .as_ref()
        .and_then(|it| it.get("failureDomains"));
    let names: Vec<&str> = domains
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|it| it.get("name")?.as_str())
        .collect();
    if names.is_sorted() {
        return Vec::new();
    }
    let path = path.child("backend").child("docker").child("failureDomains");
    vec![Error::invalid(
        &path,
        domains.cloned().unwrap_or_default(),
        "failure domains must be sorted by name",
    )]
}

fn machine_spec(spec: &DevMachineSpec, path: &Path) -> Vec<Error> {
    let Some(backend) = &spec.backend.in_memory else {
        return Vec::new();
    };
    let path = path.child("backend").child("inMemory");
    let components = [
        ("vm", &backend.vm),
        ("node", &backend.node),
        ("apiServer", &backend.api_server),
        ("etcd", &backend.etcd),
    ];
    let mut errors = Vec::new();
    for (name, component) in components {
        if let Some(component) = component {
            component_errors(component, &path.child(name).child("provisioning"), &mut errors);
        }
    }
    errors
}

fn component_errors(component: &Component, path: &Path, errors: &mut Vec<Error>) {
    let provisioning = &component.provisioning;
    if let Err(error) = parse_duration(&provisioning.startup_duration) {
        let path = path.child("startupDuration");
        errors.push(Error::invalid(
            &path,
            provisioning.startup_duration.as_str(),
            error.to_string(),
        ));
    }
    if parse_jitter(&provisioning.startup_jitter).is_none() {
        let path = path.child("startupJitter");
        let detail = "must be a number, like 0.2";
        errors.push(Error::invalid(
            &path,
            provisioning.startup_jitter.as_str(),
            detail,
        ));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn machine(spec: serde_json::Value) -> DevMachine {
        serde_json::from_value(json!({ "spec": spec })).expect("a machine")
    }

    #[test]
    fn a_duration_that_cannot_be_read_is_refused_by_name() {
        let typed = machine(json!({ "backend": { "inMemory": {
            "vm": { "provisioning": { "startupDuration": "10 seconds" } },
            "etcd": { "provisioning": { "startupDuration": "1s", "startupJitter": "a bit" } },
        } } }));
        let errors: Vec<String> = validate_machine(None, &typed)
            .iter()
            .map(ToString::to_string)
            .collect();
        expect_test::expect![[r#"
            [
                "spec.backend.inMemory.vm.provisioning.startupDuration: Invalid value: \"10 seconds\": \"10 seconds\" is no duration; write it like 10s, 1m30s or 250ms",
                "spec.backend.inMemory.etcd.provisioning.startupJitter: Invalid value: \"a bit\": must be a number, like 0.2",
            ]
        "#]]
        .assert_debug_eq(&errors);
    }

    #[test]
    fn a_template_is_immutable_unless_the_topology_controller_tries_it_out() {
        let old = DevMachineTemplate::default();
        let mut new = old.clone();
        new.spec.template.spec.provider_id = Some("in-memory://a".to_owned());
        assert_eq!(validate_machine_template_update(&old, &new, false).len(), 1);
        assert_eq!(validate_machine_template_update(&old, &new, true), []);
        assert_eq!(validate_machine_template_update(&old, &old, false), []);
    }

    #[test]
    fn a_spec_without_a_backend_gets_the_in_memory_one() {
        let mut bare = machine(json!({}));
        default::default_machine(&mut bare);
        assert_eq!(
            serde_json::to_value(&bare.spec).expect("json"),
            json!({ "backend": { "inMemory": {} } })
        );
    }
}
