//! Conversions of the kinds that hand out addresses.

use serde_json::{Value, json};

use crate::conversion::{
    paths::{get, get_mut, put, take},
    rules::{Around, CONDITIONS, Conversion, Object, Rule},
};

/// Says that a claim in its oldest version got its label from the conversion.
const LABEL_MARK: &str = "conversion.cluster.x-k8s.io/cluster-name-label-set";

/// The label that names the cluster of an object.
const CLUSTER_NAME_LABEL: &str = "cluster.x-k8s.io/cluster-name";

// Parity: upstream core/webhooks/conversion/ipaddress.go
pub(super) const IP_ADDRESS: Conversion = Conversion {
    kind: "IPAddress",
    spoke: "v1beta1",
    keeps_hub: false,
    rules: &[],
};

pub(super) const IP_ADDRESS_ALPHA: Conversion = Conversion {
    kind: "IPAddress",
    spoke: "v1alpha1",
    keeps_hub: false,
    rules: &[],
};

// Parity: upstream core/webhooks/conversion/ipaddressclaim.go
pub(super) const IP_ADDRESS_CLAIM: Conversion = Conversion {
    kind: "IPAddressClaim",
    spoke: "v1beta1",
    keeps_hub: false,
    rules: CONDITIONS,
};

pub(super) const IP_ADDRESS_CLAIM_ALPHA: Conversion = Conversion {
    kind: "IPAddressClaim",
    spoke: "v1alpha1",
    keeps_hub: true,
    rules: &[
        Rule::Move {
            old: "status.conditions",
            new: "status.deprecated.v1beta1.conditions",
        },
        Rule::Restored {
            at: "status.conditions",
        },
        Rule::Custom {
            up: label_to_name,
            down: name_to_label,
        },
    ],
};

/// The oldest version says by label only to which cluster a claim belongs.
fn label_to_name(claim: &mut Object, _: Around<'_>) {
    let label = entries(claim, "labels").and_then(|labels| labels.get(CLUSTER_NAME_LABEL).cloned());
    let mark = entries(claim, "annotations").and_then(|annotations| annotations.remove(LABEL_MARK));
    if mark == Some(json!("false"))
        && let Some(labels) = entries(claim, "labels")
    {
        labels.remove(CLUSTER_NAME_LABEL);
    }
    if mark.is_some() {
        drop_if_empty(claim, "labels");
        drop_if_empty(claim, "annotations");
    }
    if let Some(name) = label {
        put(claim, "spec.clusterName", name);
    }
}

/// Labels or annotations, whose keys have dots in them.
fn entries<'a>(object: &'a mut Object, map: &str) -> Option<&'a mut Object> {
    get_mut(object, "metadata")?.get_mut(map)?.as_object_mut()
}

fn drop_if_empty(object: &mut Object, map: &str) {
    if entries(object, map).is_some_and(|entries| entries.is_empty())
        && let Some(metadata) = get_mut(object, "metadata").and_then(Value::as_object_mut)
    {
        metadata.remove(map);
    }
}

fn name_to_label(claim: &mut Object, _: Around<'_>) {
    let Some(name) = take(claim, "spec.clusterName") else {
        return;
    };
    let labels = get(claim, "metadata.labels").and_then(Value::as_object);
    let labelled = labels.is_some_and(|labels| labels.contains_key(CLUSTER_NAME_LABEL));
    let metadata = claim.entry("metadata").or_insert_with(|| json!({}));
    if !labelled {
        insert(metadata, "annotations", LABEL_MARK, json!("false"));
    }
    insert(metadata, "labels", CLUSTER_NAME_LABEL, name);
}

/// Inserts an entry into a map of the metadata, whose keys have dots in them.
fn insert(metadata: &mut Value, map: &str, key: &str, value: Value) {
    if !metadata[map].is_object() {
        metadata[map] = json!({});
    }
    metadata[map][key] = value;
}
