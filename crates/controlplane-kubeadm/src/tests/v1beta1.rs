//! What readers of v1beta1 are told.

use capstan_api::{condition::v1beta1::lines, core::V1Beta1Condition};
use capstan_engine::Trail;
use expect_test::expect;

use super::drawing::control_plane;
use crate::{
    decide::decide,
    remediation::Verdict,
    report::{machine_conditions_patch, report},
    view::View,
};

fn told(view: &View) -> String {
    let plan = decide(view);
    let status = report(view, &plan, &Trail::all_done(plan.steps.len()))
        .deprecated
        .v1beta1;
    let counts = [
        status.updated_replicas,
        status.ready_replicas,
        status.unavailable_replicas,
    ];
    format!(
        "{:?}\n{}",
        counts.map(Option::unwrap_or_default),
        lines(&status.conditions)
    )
}

/// What is said of the first machine.
fn told_of_first(view: &View) -> String {
    let patch = machine_conditions_patch(view, &view.members[0], &Verdict::Nothing).unwrap_or_default();
    let list = patch
        .pointer("/status/deprecated/v1beta1/conditions")
        .cloned()
        .unwrap_or_default();
    let conditions: Vec<V1Beta1Condition> = serde_json::from_value(list).unwrap_or_default();
    lines(&conditions)
}

#[test]
fn a_control_plane_tells_how_it_comes_up() {
    expect![[r#"
        [1, 0, 1]
        Ready False Warning | ScalingUp | Scaling up control plane to 3 replicas (actual 1)
        Available True
        CertificatesAvailable True
        ControlPlaneComponentsHealthy True
        EtcdClusterHealthy True
        Resized False Warning | ScalingUp | Scaling up control plane to 3 replicas (actual 1)
    "#]]
    .assert_eq(&told(&control_plane(3, "m1")));
    expect![[r#"
        [3, 0, 3]
        Ready True
        Available True
        CertificatesAvailable True
        ControlPlaneComponentsHealthy True
        EtcdClusterHealthy True
        MachinesCreated True
    "#]]
    .assert_eq(&told(&control_plane(3, "m1 m2 m3")));
    expect![[r#"
        [2, 0, 3]
        Ready False Warning | RollingUpdateInProgress | Rolling 1 replicas with outdated spec (2 replicas up to date)
        Available True
        CertificatesAvailable True
        ControlPlaneComponentsHealthy False Error | ControlPlaneComponentsUnhealthy | Following Machines are reporting control plane errors: m3
        EtcdClusterHealthy True
        MachinesCreated True
        MachinesSpecUpToDate False Warning | RollingUpdateInProgress | Rolling 1 replicas with outdated spec (2 replicas up to date)
    "#]].assert_eq(&told(&control_plane(3, "m1 m2:o m3:a")));
}

#[test]
fn machines_tell_how_their_components_are() {
    expect![[r""]].assert_eq(&told_of_first(&control_plane(1, "m1:n")));
    expect![[r#"
        APIServerPodHealthy False Error | PodFailed | All the containers have been terminated
        ControllerManagerPodHealthy True
        EtcdMemberHealthy False Error | EtcdMemberUnhealthy | Waiting for learner etcd member to be promoted
        EtcdPodHealthy True
        SchedulerPodHealthy True
    "#]]
    .assert_eq(&told_of_first(&control_plane(1, "m1:al")));
    expect![[r#"
        APIServerPodHealthy False Info | Deleting
        ControllerManagerPodHealthy False Info | Deleting
        EtcdMemberHealthy False Info | Deleting
        EtcdPodHealthy False Info | Deleting
        SchedulerPodHealthy False Info | Deleting
    "#]]
    .assert_eq(&told_of_first(&control_plane(3, "m1:d m2 m3")));
}
