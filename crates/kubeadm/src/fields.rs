//! Small pieces of which kubeadm's documents are made: objects without absent fields, durations, arguments.

use capstan_api::bootstrap::{Arg, HostPathMount};
use k8s_openapi::{
    api::core::v1::{EnvVar, Taint},
    apimachinery::pkg::apis::meta::v1::Time,
};
use serde_json::{Map, Value};

use crate::KubeadmApi;

/// An object of the fields that are present.
pub(crate) fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    Value::Object(
        fields
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect::<Map<_, _>>(),
    )
}

/// A text that is left out when absent or empty.
pub(crate) fn text(value: Option<&String>) -> Option<Value> {
    value
        .filter(|it| !it.is_empty())
        .map(|it| Value::from(it.as_str()))
}

/// A list of texts that is left out when empty.
pub(crate) fn texts(values: &[String]) -> Option<Value> {
    (!values.is_empty()).then(|| Value::from(values.to_vec()))
}

/// A flag that is left out when false.
pub(crate) fn flag(value: Option<bool>) -> Option<Value> {
    value.filter(|it| *it).map(Value::from)
}

/// A duration as Go writes it: `1h2m3s` without leading zero units.
pub(crate) fn duration(seconds: u64) -> Value {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    Value::from(match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, _) => format!("{minutes}m{rest}s"),
        _ => format!("{hours}h{minutes}m{rest}s"),
    })
}

/// A duration of the hub, which counts seconds; negative ones do not pass validation.
pub(crate) fn seconds(value: Option<i32>) -> Option<Value> {
    value.map(|it| duration(u64::try_from(it).unwrap_or_default()))
}

/// A period of the hub, which counts days; zero means absent.
pub(crate) fn days(value: Option<i32>) -> Option<Value> {
    let days = value.and_then(|it| u64::try_from(it).ok()).filter(|it| *it > 0)?;
    Some(duration(days * 24 * 3600))
}

/// Arguments: a map in v1beta3, where the last of several values of one name wins, a list in v1beta4.
pub(crate) fn arguments(api: KubeadmApi, arguments: &[Arg]) -> Option<Value> {
    if arguments.is_empty() {
        return None;
    }
    let value = |it: &Arg| Value::from(it.value.clone().unwrap_or_default());
    Some(match api {
        KubeadmApi::V1Beta3 => Value::Object(
            arguments
                .iter()
                .map(|it| (it.name.clone(), value(it)))
                .collect::<Map<_, _>>(),
        ),
        KubeadmApi::V1Beta4 => arguments
            .iter()
            .map(|it| {
                object([
                    ("name", Some(Value::from(it.name.as_str()))),
                    ("value", Some(value(it))),
                ])
            })
            .collect(),
    })
}

/// Environment variables; v1beta3 has none.
pub(crate) fn variables(api: KubeadmApi, variables: Option<&Vec<EnvVar>>) -> Option<Value> {
    let variables = variables.filter(|it| api == KubeadmApi::V1Beta4 && !it.is_empty())?;
    let shown = |it: &EnvVar| {
        let EnvVar {
            name,
            value,
            value_from,
        } = it;
        object([
            ("name", Some(Value::from(name.as_str()))),
            ("value", text(value.as_ref())),
            (
                "valueFrom",
                value_from.as_ref().and_then(|it| serde_json::to_value(it).ok()),
            ),
        ])
    };
    Some(variables.iter().map(shown).collect())
}

/// Folders of the host that a component sees.
pub(crate) fn volumes(volumes: &[HostPathMount]) -> Option<Value> {
    if volumes.is_empty() {
        return None;
    }
    let shown = |it: &HostPathMount| {
        let HostPathMount {
            name,
            host_path,
            mount_path,
            read_only,
            path_type,
        } = it;
        object([
            ("name", Some(Value::from(name.as_str()))),
            ("hostPath", Some(Value::from(host_path.as_str()))),
            ("mountPath", Some(Value::from(mount_path.as_str()))),
            ("readOnly", flag(*read_only)),
            ("pathType", text(path_type.as_ref())),
        ])
    };
    Some(volumes.iter().map(shown).collect())
}

/// Taints: `null` leaves them to kubeadm, an empty list means none.
pub(crate) fn taints(taints: Option<&Vec<Taint>>) -> Value {
    let Some(taints) = taints else { return Value::Null };
    let shown = |it: &Taint| {
        let Taint {
            effect,
            key,
            time_added,
            value,
        } = it;
        object([
            ("effect", Some(Value::from(effect.as_str()))),
            ("key", Some(Value::from(key.as_str()))),
            ("timeAdded", time_added.as_ref().and_then(time)),
            ("value", text(value.as_ref())),
        ])
    };
    taints.iter().map(shown).collect()
}

/// A time in whole seconds, as the Kubernetes API writes it.
pub(crate) fn time(time: &Time) -> Option<Value> {
    serde_json::to_value(time).ok()
}
