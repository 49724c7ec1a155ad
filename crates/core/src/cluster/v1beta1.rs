//! What readers of v1beta1 are told of a Cluster.
// Parity: upstream core/reconcilers/cluster/cluster_controller.go:patchCluster, cluster_controller_phases.go

use capstan_api::{
    condition::v1beta1::{self, Draft, Reason, Severity, StepCounter, Summary, Type, with_summary},
    core::{DeprecatedFailure, V1Beta1Condition},
};
use capstan_engine::Lookup;

use super::{
    decide::{Stage, stage},
    view::{View, has_node},
};
use crate::v1beta1::{info, mirrored, take_failure};

/// The condition types that this controller owns.
pub(super) const OWNED: &[&str] = &[
    "Ready",
    "ControlPlaneReady",
    "InfrastructureReady",
    "ControlPlaneInitialized",
];

const READY: Summary<'static> = Summary {
    types: &[Type::ControlPlaneReady, Type::InfrastructureReady],
    steps: StepCounter::Off,
};

/// The whole of it.
pub(super) fn report(view: &View) -> DeprecatedFailure {
    let mut deprecated = view.cluster.status.clone().unwrap_or_default().deprecated;
    let status = &mut deprecated.v1beta1;
    if let Some(external) = view.infrastructure_object() {
        take_failure(status, external, external.infrastructure_cluster().failure());
    }
    if let Some(external) = view.control_plane_object() {
        take_failure(status, external, external.control_plane().failure());
    }
    let drafts = [
        infrastructure_ready(view),
        control_plane_ready(view),
        control_plane_initialized(view, &status.conditions),
    ];
    status.conditions = with_summary(&status.conditions, drafts, READY, view.now);
    deprecated
}

fn infrastructure_ready(view: &View) -> Option<Draft> {
    let target = Type::InfrastructureReady;
    match &view.infrastructure {
        None => view.is_infrastructure_provisioned().then(|| Draft::yes(target)),
        Some(Lookup::Found(external)) if view.is_deleting() => {
            mirrored(external, target, false, Reason::Deleting)
        }
        Some(Lookup::Found(external)) => {
            let provisioned = external.infrastructure_cluster().provisioned().unwrap_or(false);
            mirrored(external, target, provisioned, Reason::WaitingForInfrastructure)
        }
        Some(Lookup::Absent) if view.is_deleting() && matches!(stage(view), Stage::Completed) => {
            Some(info(target, Reason::Deleted))
        }
        Some(Lookup::Absent | Lookup::Unreadable(_)) => None,
    }
}

fn control_plane_ready(view: &View) -> Option<Draft> {
    let target = Type::ControlPlaneReady;
    match view.control_plane.as_ref()? {
        Lookup::Found(external) if view.is_deleting() => mirrored(external, target, false, Reason::Deleting),
        Lookup::Found(external) => {
            let initialized = external.control_plane().initialized().unwrap_or(false);
            mirrored(external, target, initialized, Reason::WaitingForControlPlane)
        }
        Lookup::Absent
            if view.is_deleting() && matches!(stage(view), Stage::Infrastructure | Stage::Completed) =>
        {
            Some(info(target, Reason::Deleted))
        }
        Lookup::Absent | Lookup::Unreadable(_) => None,
    }
}

/// Once true it stays true.
fn control_plane_initialized(view: &View, before: &[V1Beta1Condition]) -> Option<Draft> {
    let target = Type::ControlPlaneInitialized;
    if v1beta1::is_true(before, target) {
        return None;
    }
    let waiting = |reason, message| Some(Draft::no(target, reason, Severity::Info, message));
    match &view.control_plane {
        Some(Lookup::Found(external)) if external.is_deleting() => None,
        Some(Lookup::Found(external)) if external.control_plane().initialized().unwrap_or(false) => {
            Some(Draft::yes(target))
        }
        Some(Lookup::Found(_)) => waiting(
            Reason::WaitingForControlPlaneProviderInitialized,
            "Waiting for control plane provider to indicate the control plane has been initialized",
        ),
        Some(Lookup::Absent | Lookup::Unreadable(_)) => None,
        None if view.is_deleting() => None,
        None if view
            .control_plane_machines()
            .any(|it| it.metadata.deletion_timestamp.is_none() && has_node(it)) =>
        {
            Some(Draft::yes(target))
        }
        None => waiting(
            Reason::MissingNodeRef,
            "Waiting for the first control plane machine to have its status.nodeRef set",
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use capstan_api::condition::v1beta1::lines;
    use capstan_contract::External;
    use capstan_workload::Health;
    use expect_test::expect;
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::external;

    fn with_status(kind: &str, status: Value) -> Lookup<External> {
        let object = json!({ "metadata": { "name": "c", "namespace": "ns" }, "status": status });
        external(kind, object)
    }

    fn view(
        deleted: Value,
        infrastructure: Option<Lookup<External>>,
        control_plane: Option<Lookup<External>>,
    ) -> View {
        let cluster = json!({ "metadata": { "name": "c", "namespace": "ns", "deletionTimestamp": deleted } });
        View {
            now: "2026-01-01T00:01:00Z".parse().expect("a time"),
            cluster: Arc::new(serde_json::from_value(cluster).expect("a Cluster")),
            infrastructure,
            control_plane,
            machines: Vec::new(),
            machine_sets: Vec::new(),
            machine_deployments: Vec::new(),
            health: Health {
                last_probe_success: None,
                failures: 0,
            },
        }
    }

    #[test]
    fn readers_of_v1beta1_follow_a_cluster_too() {
        let shown = |view: &View| lines(&report(view).v1beta1.conditions);
        let nothing_yet = view(
            Value::Null,
            Some(with_status("DevCluster", json!({}))),
            Some(with_status("KubeadmControlPlane", json!({}))),
        );
        expect![[r"
            Ready False Info | WaitingForControlPlane
            ControlPlaneInitialized False Info | WaitingForControlPlaneProviderInitialized | Waiting for control plane provider to indicate the control plane has been initialized
            ControlPlaneReady False Info | WaitingForControlPlane
            InfrastructureReady False Info | WaitingForInfrastructure
        "]]
        .assert_eq(&shown(&nothing_yet));
        let running = view(
            Value::Null,
            Some(with_status(
                "DevCluster",
                json!({ "initialization": { "provisioned": true } }),
            )),
            Some(with_status(
                "KubeadmControlPlane",
                json!({ "initialization": { "controlPlaneInitialized": true } }),
            )),
        );
        expect![[r"
            Ready True
            ControlPlaneInitialized True
            ControlPlaneReady True
            InfrastructureReady True
        "]]
        .assert_eq(&shown(&running));
        let by_hand = view(Value::Null, None, None);
        expect![[r"
            Ready True
            ControlPlaneInitialized False Info | MissingNodeRef | Waiting for the first control plane machine to have its status.nodeRef set
            InfrastructureReady True
        "]]
        .assert_eq(&shown(&by_hand));
        let going = view(
            json!("2026-01-01T00:00:30Z"),
            Some(with_status("DevCluster", json!({}))),
            Some(Lookup::Absent),
        );
        expect![[r"
            Ready False Info | Deleted
            ControlPlaneReady False Info | Deleted
            InfrastructureReady False Info | Deleting
        "]]
        .assert_eq(&shown(&going));
    }
}
