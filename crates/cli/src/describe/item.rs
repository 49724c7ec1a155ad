//! One object as the tree shows it: its name, its numbers, its conditions, and the one condition that speaks for it.

use capstan_api::{
    condition::{Draft, Status, foreign_conditions},
    contract::{Contract, ControlPlane},
};
use serde_json::Value;

/// The numbers of machines behind an object, as text; empty where the object has none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Counters {
    pub(super) replicas: String,
    pub(super) available: String,
    pub(super) ready: String,
    pub(super) up_to_date: String,
}

/// An object as the tree shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Item {
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
    /// The Kubernetes version it is about.
    pub(super) version: Option<String>,
    pub(super) is_deleted: bool,
    pub(super) counters: Counters,
    pub(super) conditions: Vec<Draft>,
    /// The type of the condition that speaks for it: `Ready` or `Available`; none for MachineSets.
    pub(super) headline: Option<&'static str>,
}

impl Item {
    /// A Cluster: all its machines in numbers, control plane and workers together.
    pub(super) fn cluster(object: &Value) -> Self {
        let sum = |name: &str| -> Option<i64> {
            let part = |group: &str| object["status"][group][name].as_i64();
            let (control_plane, workers) = (part("controlPlane"), part("workers"));
            control_plane
                .or(workers)
                .map(|_| control_plane.unwrap_or(0) + workers.unwrap_or(0))
        };
        let replicas = (sum("replicas"), sum("desiredReplicas"));
        let counters = Counters {
            replicas: match replicas {
                (None, None) => String::new(),
                (there, wanted) => format!("{}/{}", there.unwrap_or(0), wanted.unwrap_or(0)),
            },
            available: number(sum("availableReplicas")),
            ready: number(sum("readyReplicas")),
            up_to_date: number(sum("upToDateReplicas")),
        };
        let version = text(object, "/spec/topology/version");
        Self {
            counters,
            version,
            headline: Some("Available"),
            ..Self::plain(object)
        }
    }

    /// A control plane, read by its contract.
    pub(super) fn control_plane(object: &Value, contract: Contract) -> Self {
        let plain = Self::plain(object);
        let control_plane = ControlPlane::new(object, contract);
        let count = |value: Result<Option<i32>, _>| value.ok().flatten().map(i64::from);
        let (there, wanted) = (
            count(control_plane.status_replicas()),
            count(control_plane.replicas()),
        );
        let counters = Counters {
            replicas: there
                .zip(wanted)
                .map_or_else(String::new, |(there, wanted)| format!("{there}/{wanted}")),
            available: number(count(control_plane.available_replicas())),
            ready: number(count(control_plane.ready_replicas())),
            up_to_date: number(count(control_plane.up_to_date_replicas())),
        };
        let version = control_plane.version().ok().flatten();
        let headline = if plain.condition("Available").is_some() {
            "Available"
        } else {
            "Ready"
        };
        Self {
            counters,
            version,
            headline: Some(headline),
            ..plain
        }
    }

    /// A MachineDeployment.
    pub(super) fn machine_deployment(object: &Value) -> Self {
        Self {
            headline: Some("Available"),
            ..Self::machine_set(object)
        }
    }

    /// A MachineSet, for which no condition speaks.
    pub(super) fn machine_set(object: &Value) -> Self {
        let status = |name: &str| object["status"][name].as_i64();
        let wanted = object["spec"]["replicas"].as_i64();
        let counters = Counters {
            replicas: wanted.map_or_else(String::new, |it| {
                format!("{}/{it}", status("replicas").unwrap_or(0))
            }),
            available: number(status("availableReplicas")),
            ready: number(status("readyReplicas")),
            up_to_date: number(status("upToDateReplicas")),
        };
        let version = text(object, "/spec/template/spec/version");
        Self {
            counters,
            version,
            headline: None,
            ..Self::plain(object)
        }
    }

    /// A MachinePool: no numbers, as upstream shows it.
    pub(super) fn machine_pool(object: &Value) -> Self {
        let version = text(object, "/spec/template/spec/version");
        Self {
            version,
            headline: None,
            ..Self::plain(object)
        }
    }

    /// A Machine: its conditions are its numbers.
    pub(super) fn machine(object: &Value) -> Self {
        let plain = Self::plain(object);
        let one = |type_: &str| if plain.is_true(type_) { "1" } else { "0" }.to_owned();
        let counters = Counters {
            replicas: "1".to_owned(),
            available: one("Available"),
            ready: one("Ready"),
            up_to_date: one("UpToDate"),
        };
        Self {
            counters,
            version: text(object, "/spec/version"),
            ..plain
        }
    }

    /// Any other object, for which `Ready` speaks. Conditions that cannot be read are left out: the rest still helps.
    pub(super) fn plain(object: &Value) -> Self {
        let field = |pointer: &str| text(object, pointer).unwrap_or_default();
        Self {
            kind: field("/kind"),
            namespace: field("/metadata/namespace"),
            name: field("/metadata/name"),
            is_deleted: object["metadata"].get("deletionTimestamp").is_some(),
            conditions: foreign_conditions(object).unwrap_or_default(),
            headline: Some("Ready"),
            ..Self::default()
        }
    }

    /// An object that is known by its reference only.
    pub(super) fn reference(kind: &str, namespace: &str, name: &str) -> Self {
        let owned = str::to_owned;
        Self {
            kind: owned(kind),
            namespace: owned(namespace),
            name: owned(name),
            ..Self::default()
        }
    }

    /// The condition of that type.
    pub(super) fn condition(&self, type_: &str) -> Option<&Draft> {
        self.conditions.iter().find(|it| it.type_ == type_)
    }

    /// Whether the condition of that type is there and true.
    pub(super) fn is_true(&self, type_: &str) -> bool {
        self.condition(type_).is_some_and(|it| it.status == Status::True)
    }
}

fn number(value: Option<i64>) -> String {
    value.map(|it| it.to_string()).unwrap_or_default()
}

fn text(object: &Value, pointer: &str) -> Option<String> {
    object
        .pointer(pointer)?
        .as_str()
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
}
