//! The schema of `metadata`, which is the same for every kind. Upstream: `io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta`.

use std::sync::LazyLock;

use serde_json::{Value, json};

/// The definition, in the form any other schema has.
pub(super) static OBJECT_META: LazyLock<Value> = LazyLock::new(|| {
    let text = json!({"type": "string"});
    let time = json!({"type": "string", "format": "date-time"});
    let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
    json!({
        "type": "object",
        "properties": {
            "annotations": texts,
            "creationTimestamp": time,
            "deletionGracePeriodSeconds": {"type": "integer"},
            "deletionTimestamp": time,
            "finalizers": {
                "type": "array",
                "items": text,
                "x-kubernetes-list-type": "set",
                "x-kubernetes-patch-strategy": "merge",
            },
            "generateName": text,
            "generation": {"type": "integer"},
            "labels": texts,
            "managedFields": {
                "type": "array",
                "x-kubernetes-list-type": "atomic",
                "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            },
            "name": text,
            "namespace": text,
            "ownerReferences": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["uid"],
                "x-kubernetes-patch-strategy": "merge",
                "x-kubernetes-patch-merge-key": "uid",
                "items": {
                    "type": "object",
                    "x-kubernetes-map-type": "atomic",
                    "properties": {
                        "apiVersion": text,
                        "blockOwnerDeletion": {"type": "boolean"},
                        "controller": {"type": "boolean"},
                        "kind": text,
                        "name": text,
                        "uid": text,
                    },
                },
            },
            "resourceVersion": text,
            "selfLink": text,
            "uid": text,
        },
    })
});
