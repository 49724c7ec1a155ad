//! Which unhealthy machine is replaced, and when none is.

use std::sync::Arc;

use capstan_api::well_known::annotation;
use kube::ResourceExt;

use super::drawing::{control_plane, decisions, with};
use crate::{remediation, report, view::View};

const REPLACED: &str = r#"{"machine":"m2","timestamp":"2026-01-02T00:00:00Z","retryCount":0}"#;

#[test]
fn the_most_broken_machine_is_replaced_if_the_others_can_do_without_it() {
    let replaced = |name: &str| {
        vec![
            format!("Remediating: Machine {name} is unhealthy and is replaced"),
            format!("DeleteMachine: delete Machine {name}: it is unhealthy"),
        ]
    };
    let refused = |name: &str, why: &str| vec![format!("wait Remediating: Machine {name}: {why}")];
    let loss = "KubeadmControlPlane can't remediate this Machine because this could result in loosing Kubernetes control plane components or in etcd quorum loss";
    let table = [
        ("m1 m2:u m3", replaced("m2")),
        ("m1:u m2:ua m3", replaced("m2")),
        ("m1:u m2:ua m3:ue m4 m5", replaced("m3")),
        ("m1:f m2 m3", vec![]),
        ("m1:r m2 m3", vec![]),
        ("m1:u m2:e m3", refused("m1", loss)),
        (
            "m1:u m2:n m3",
            refused(
                "m1",
                "KubeadmControlPlane waiting for control plane Machine provisioning to complete before triggering remediation",
            ),
        ),
        (
            "m1:u m2:d m3",
            refused(
                "m1",
                "KubeadmControlPlane waiting for control plane Machine deletion to complete before triggering remediation",
            ),
        ),
        (
            "m1:u",
            refused(
                "m1",
                "KubeadmControlPlane can't remediate if current replicas are less or equal to 1",
            ),
        ),
    ];
    for (drawn, expected) in table {
        let replicas = i32::try_from(drawn.split_whitespace().count()).expect("a number");
        let told: Vec<String> = decisions(&control_plane(replicas, drawn))
            .into_iter()
            .filter(|it| !it.contains("Scaling"))
            .collect();
        assert_eq!(told, expected, "{drawn}");
    }
}

#[test]
fn a_machine_that_never_made_a_cluster_is_replaced_even_alone() {
    let mut view = with(control_plane(1, "m1:nu"), |it| it.status = None);
    view.kubeadm_config = capstan_workload::Remote::Absent;
    assert_eq!(
        decisions(&view),
        [
            "Remediating: Machine m1 is unhealthy and is replaced",
            "DeleteMachine: delete Machine m1: it is unhealthy",
        ]
    );
}

fn in_progress(replicas: i32, drawn: &str) -> View {
    with(control_plane(replicas, drawn), |it| {
        it.annotations_mut().insert(
            annotation::REMEDIATION_IN_PROGRESS.to_owned(),
            REPLACED.to_owned(),
        );
    })
}

#[test]
fn a_replacement_goes_on_from_where_it_was_killed() {
    let table: [(&str, &str, &[&str]); 4] = [
        (
            "before the deletion",
            "m1 m2:u m3",
            &["DeleteMachine: delete Machine m2: it is unhealthy"],
        ),
        ("while it is deleted", "m1 m2:ud m3", &[]),
        (
            "before the replacement, with another machine broken too",
            "m1 m3:a m4",
            &["CreateMachine", "Remediated: the replacement is there"],
        ),
        (
            "before the replacement, with no quorum to spare",
            "m1:e m3",
            &["wait ScalingUp"],
        ),
    ];
    for (case, drawn, expected) in table {
        let replicas = if drawn.contains("m4") { 5 } else { 3 };
        let told = decisions(&in_progress(replicas, drawn));
        assert_eq!(told.len(), expected.len(), "{case}: {told:#?}");
        for (line, start) in told.iter().zip(expected) {
            assert!(line.starts_with(start), "{case}: {told:#?}");
        }
    }
}

#[test]
fn the_record_moves_from_the_control_plane_to_the_replacement() {
    let view = in_progress(3, "m1 m3");
    assert_eq!(
        crate::intent::annotations(&view)
            .get(annotation::REMEDIATION_FOR)
            .map(String::as_str),
        Some(REPLACED)
    );
    let mut done = in_progress(3, "m1 m3 m4");
    let replacement = Arc::make_mut(&mut done.members[2].machine);
    replacement
        .annotations_mut()
        .insert(annotation::REMEDIATION_FOR.to_owned(), REPLACED.to_owned());
    assert_eq!(decisions(&done), ["Remediated: the replacement is there"]);
    let last = remediation::last(&done).expect("a record");
    assert_eq!((last.machine.as_str(), last.retry_count), ("m2", Some(0)));
}

#[test]
fn a_replacement_that_fails_too_counts_as_a_retry_within_limits() {
    let table = [
        ("no limits", None, None, "2026-01-01T23:30:00Z", 2, "retry 3"),
        (
            "healthy for long enough",
            None,
            None,
            "2026-01-01T23:00:00Z",
            2,
            "retry 0",
        ),
        (
            "the pause is not over",
            Some(3600),
            None,
            "2026-01-01T23:30:00Z",
            0,
            "KubeadmControlPlane can't remediate this machine because the operation already failed in the latest 1h0m0s (RetryPeriodSeconds)",
        ),
        (
            "too often",
            None,
            Some(2),
            "2026-01-01T23:30:00Z",
            2,
            "KubeadmControlPlane can't remediate this machine because the operation already failed 2 times (MaxRetry)",
        ),
    ];
    for (case, pause, limit, last, count, expected) in table {
        let mut view = with(control_plane(3, "m1 m2:u m3"), |it| {
            it.spec.remediation.retry_period_seconds = pause;
            it.spec.remediation.max_retry = limit;
        });
        let machine = Arc::make_mut(&mut view.members[1].machine);
        let record = format!(r#"{{"machine":"m0","timestamp":"{last}","retryCount":{count}}}"#);
        machine
            .annotations_mut()
            .insert(annotation::REMEDIATION_FOR.to_owned(), record);
        let told = match remediation::judge(&view) {
            remediation::Verdict::Replace { record, .. } => format!("retry {}", record.retry_count),
            remediation::Verdict::NotNow { message, .. } => message,
            remediation::Verdict::Nothing => String::new(),
        };
        assert_eq!(told, expected, "{case}");
    }
}

#[test]
fn the_condition_tells_of_requests_and_of_machines_that_nobody_asks_about() {
    let told = |drawn: &str| {
        let view = control_plane(3, drawn);
        let status = report::report(
            &view,
            &capstan_engine::Plan::default(),
            &capstan_engine::Trail::default(),
        );
        let found = status.conditions.into_iter().find(|it| it.type_ == "Remediating");
        found
            .map(|it| format!("{} {} {}", it.status, it.reason, it.message))
            .unwrap_or_default()
    };
    assert_eq!(told("m1 m2 m3"), "False NotRemediating ");
    assert_eq!(
        told("m1:f m2:f m3"),
        "False NotRemediating Machines m1, m2 are not healthy (not to be remediated by KubeadmControlPlane)"
    );
    assert!(
        told("m1:u m2 m3").starts_with("True Remediating"),
        "{}",
        told("m1:u m2 m3")
    );
}
