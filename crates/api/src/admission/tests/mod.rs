//! Tables of defaults and refusals, over JSON as the server passes it.

mod core;
mod defaults;
mod infrastructure;
mod kubeadm;

use serde_json::{Value, json};

use super::{Context, default, validate};
use crate::feature::{Feature, Features};

const CORE: &str = "cluster.x-k8s.io";
const CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io";
const BOOTSTRAP: &str = "bootstrap.cluster.x-k8s.io";

fn context(features: &[Feature]) -> Context {
    let features = features
        .iter()
        .fold(Features::default(), |all, it| all.with(*it, true));
    Context {
        features,
        dry_run: false,
    }
}

/// `spec` after defaulting an object named `name` of a kind.
#[expect(clippy::needless_pass_by_value, reason = "tables pass literals")]
fn defaulted(group: &str, kind: &str, spec: Value) -> Value {
    let mut object = json!({ "metadata": { "name": "name" }, "spec": spec });
    default(group, kind, &mut object, None, &Context::default()).expect("defaults");
    object
}

/// What is wrong with an object named `name` of a kind, changed from `old`.
fn problems(group: &str, kind: &str, new: Value, old: Option<Value>, features: &[Feature]) -> Vec<String> {
    let object = |spec: Value| json!({ "metadata": { "name": "name" }, "spec": spec });
    let old = old.map(object);
    let errors = validate(group, kind, &object(new), old.as_ref(), &context(features));
    errors.iter().map(ToString::to_string).collect()
}

fn machine_spec(more: Value) -> Value {
    merged(
        json!({
            "clusterName": "c", "bootstrap": { "dataSecretName": "d" },
            "infrastructureRef": { "apiGroup": "i.io", "kind": "XMachine", "name": "x" }
        }),
        more,
    )
}

/// `more` laid over `base`, object by object; a null takes a member away.
fn merged(mut base: Value, more: Value) -> Value {
    let (Value::Object(members), Value::Object(more)) = (&mut base, more) else {
        panic!("two objects")
    };
    for (name, value) in more {
        let present = members.remove(&name);
        match (present, value) {
            (_, Value::Null) => {}
            (Some(present @ Value::Object(_)), value @ Value::Object(_)) => {
                members.insert(name, merged(present, value));
            }
            (_, value) => {
                members.insert(name, value);
            }
        }
    }
    base
}
