//! What a static pod of the control plane says about its component, as a condition.
// Parity: upstream controlplane/kubeadm/pkg/workload_cluster_conditions.go

use k8s_openapi::api::core::v1::{ContainerStatus, Pod};

/// A component's state in the words of its condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// `True`, `False` or `Unknown`.
    pub status: &'static str,
    /// The reason.
    pub reason: &'static str,
    /// The message.
    pub message: String,
}

impl Health {
    fn new(status: &'static str, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            reason,
            message: message.into(),
        }
    }

    fn provisioning(message: &str) -> Self {
        Self::new("False", "Provisioning", message)
    }
}

/// What a pod says.
pub fn of(pod: &Pod) -> Health {
    let status = pod.status.clone().unwrap_or_default();
    let is_true = |kind: &str| {
        status
            .conditions
            .iter()
            .flatten()
            .any(|it| it.type_ == kind && it.status == "True")
    };
    match status.phase.as_deref() {
        Some("Pending") => {
            if !is_true("PodScheduled") {
                Health::provisioning("Waiting to be scheduled")
            } else if !is_true("Initialized") {
                Health::provisioning("Running init containers")
            } else {
                containers(status.container_statuses.as_deref().unwrap_or_default())
            }
        }
        Some("Running") if is_true("Ready") => Health::new("True", "Running", ""),
        Some("Running") => containers(status.container_statuses.as_deref().unwrap_or_default()),
        Some("Succeeded" | "Failed") => {
            Health::new("False", "Failed", "All the containers have been terminated")
        }
        _ => Health::new("Unknown", "InspectionFailed", "Pod is reporting Unknown status"),
    }
}

/// Why a pod that is not ready is not, from its containers.
fn containers(statuses: &[ContainerStatus]) -> Health {
    for status in statuses {
        let state = status.state.clone().unwrap_or_default();
        if let Some(waiting) = state.waiting {
            let reason = waiting.reason.unwrap_or_default();
            let last = status.last_state.clone().unwrap_or_default().terminated;
            if let Some(exit) = last.filter(|it| it.exit_code != 0) {
                let message = exit.message.or(exit.reason).unwrap_or_default();
                return Health::new(
                    "False",
                    "Failed",
                    if message.is_empty() { reason } else { message },
                );
            }
            if reason == "ContainerCreating" || reason == "PodInitializing" || reason.is_empty() {
                return Health::provisioning("Waiting for containers to start");
            }
            return Health::new(
                "False",
                "Failed",
                waiting.message.filter(|it| !it.is_empty()).unwrap_or(reason),
            );
        }
        if let Some(terminated) = state.terminated {
            return Health::new(
                "False",
                "Failed",
                terminated.message.or(terminated.reason).unwrap_or_default(),
            );
        }
    }
    Health::provisioning("Waiting for startup or readiness probes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pods_phase_and_containers_make_its_condition() {
        let ready = json!([{ "type": "PodScheduled", "status": "True" }, { "type": "Initialized", "status": "True" },
            { "type": "Ready", "status": "True" }]);
        let started = json!([{ "type": "PodScheduled", "status": "True" }, { "type": "Initialized", "status": "True" }]);
        let crash = json!([{ "name": "c", "image": "", "imageID": "", "ready": false, "restartCount": 1,
            "state": { "waiting": { "reason": "CrashLoopBackOff" } } }]);
        let table = [
            (
                json!({ "phase": "Running", "conditions": ready }),
                "True Running ",
            ),
            (
                json!({ "phase": "Running", "conditions": started }),
                "False Provisioning Waiting for startup or readiness probes",
            ),
            (
                json!({ "phase": "Pending" }),
                "False Provisioning Waiting to be scheduled",
            ),
            (
                json!({ "phase": "Running", "conditions": started, "containerStatuses": crash }),
                "False Failed CrashLoopBackOff",
            ),
            (
                json!({ "phase": "Failed" }),
                "False Failed All the containers have been terminated",
            ),
            (
                json!({}),
                "Unknown InspectionFailed Pod is reporting Unknown status",
            ),
        ];
        for (status, expected) in table {
            let pod = serde_json::from_value(json!({ "metadata": {}, "status": status })).expect("a pod");
            let health = of(&pod);
            assert_eq!(
                format!("{} {} {}", health.status, health.reason, health.message),
                expected
            );
        }
    }
}
