//! The schemas of `ClusterClass` variables, whose flags the older versions can not leave unset.

use serde_json::Value;

use crate::conversion::rules::{Around, Object};

/// Flags that count as false only if they are restored.
const FLAGS: [&str; 5] = [
    "uniqueItems",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-int-or-string",
];

/// Drops the flags of a schema, and of the schemas within it, that are false and not restored as such.
// Parity: upstream core/webhooks/conversion/clusterclass.go:restoreBoolIntentJSONSchemaProps
pub(super) fn restore_flags(schema: &mut Object, around: Around<'_>) {
    restore(schema, around.restored);
}

fn restore(schema: &mut Object, restored: Option<&Value>) {
    for flag in FLAGS {
        let kept = restored.and_then(|restored| restored.get(flag));
        match schema.get(flag) {
            Some(Value::Bool(true)) => {}
            _ if kept == Some(&Value::Bool(false)) => {
                schema.insert(flag.to_owned(), Value::Bool(false));
            }
            _ => {
                schema.remove(flag);
            }
        }
    }
    for inner in ["additionalProperties", "items", "not"] {
        if let Some(schema) = schema.get_mut(inner).and_then(Value::as_object_mut) {
            restore(schema, restored.and_then(|restored| restored.get(inner)));
        }
    }
    for inner in ["allOf", "anyOf", "oneOf"] {
        if let Some(schemas) = schema.get_mut(inner).and_then(Value::as_array_mut) {
            let kept = restored
                .and_then(|restored| restored.get(inner))
                .and_then(Value::as_array);
            let kept = kept.filter(|kept| kept.len() == schemas.len());
            for (index, schema) in schemas.iter_mut().enumerate() {
                if let Some(schema) = schema.as_object_mut() {
                    restore(schema, kept.and_then(|kept| kept.get(index)));
                }
            }
        }
    }
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        let kept = restored.and_then(|restored| restored.get("properties"));
        for (name, schema) in properties.iter_mut() {
            if let Some(schema) = schema.as_object_mut() {
                restore(schema, kept.and_then(|kept| kept.get(name)));
            }
        }
    }
}
