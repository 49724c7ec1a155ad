//! How many machines, which one next, and what must be in order before.

use capstan_workload::Remote;
use kube::ResourceExt as _;

use super::drawing::{control_plane, decisions, stray, with};

#[test]
fn one_machine_at_a_time_comes_and_goes_and_only_from_a_control_plane_in_order() {
    let table: [(i32, &str, &[&str]); 9] = [
        (3, "m1 m2 m3", &[]),
        (1, "", &["CreateMachine: create Machine cp-*: the first machine"]),
        (
            3,
            "m1 m2",
            &["CreateMachine: create Machine cp-*: 2 of 3 machines are there"],
        ),
        (
            3,
            "m1 m2:n",
            &[
                "wait ScalingUp: Machine m2 does not have a corresponding Node yet (Machine.status.nodeRef not set)",
            ],
        ),
        (
            3,
            "m1 m2:a",
            &["wait ScalingUp: Machine m2: APIServerPodHealthy: All the containers have been terminated"],
        ),
        (
            3,
            "m1 m2:l",
            &["wait ScalingUp: Machine m2: EtcdMemberHealthy: not healthy or not known yet"],
        ),
        (
            1,
            "m1 m2 m3",
            &["DeleteMachine: delete Machine m1: 3 machines are there, 1 are wanted"],
        ),
        (
            1,
            "m1 m2:d m3",
            &["wait ScalingDown: waiting for Machine m2 to be deleted"],
        ),
        (
            3,
            "m1 m2 m3:o",
            &["CreateMachine: create Machine cp-*: 1 machines are not up to date"],
        ),
    ];
    for (replicas, drawn, expected) in table {
        assert_eq!(
            decisions(&control_plane(replicas, drawn)),
            expected,
            "{replicas}: {drawn}"
        );
    }
}

#[test]
fn an_etcd_member_is_taken_out_before_its_machine_goes() {
    let table: [(&str, &[&str]); 4] = [
        (
            "m1:h m2 m3",
            &[
                "RemoveEtcdMember: take the etcd member node-m1 out",
                "DropHook: release Machine m1: its etcd member is taken out",
            ],
        ),
        (
            "m1:hx m2 m3",
            &["DropHook: release Machine m1: its etcd member is gone"],
        ),
        (
            "m1:h m2:e m3",
            &["wait QuorumAtRisk: Machine m1 waits: without its etcd member there is no quorum"],
        ),
        ("m1:h", &["DropHook: release Machine m1: it is the last machine"]),
    ];
    for (drawn, expected) in table {
        let replicas = i32::try_from(drawn.split_whitespace().count()).expect("a number");
        assert_eq!(decisions(&control_plane(replicas, drawn)), expected, "{drawn}");
    }
}

#[test]
fn what_an_attempt_has_left_behind_is_finished_first() {
    let mut view = control_plane(3, "m1 m2");
    view.unclaimed = vec!["cp-begun".to_owned()];
    assert_eq!(
        decisions(&view),
        ["CreateMachine: create Machine cp-*: 2 of 3 machines are there"]
    );
    assert_eq!(crate::intent::name(&view), "cp-begun");
}

#[test]
fn other_hooks_come_before_ours() {
    let mut view = control_plane(3, "m1:h m2 m3");
    std::sync::Arc::make_mut(&mut view.members[0].machine)
        .annotations_mut()
        .insert(
            "pre-terminate.delete.hook.machine.cluster.x-k8s.io/backup".to_owned(),
            String::new(),
        );
    assert_eq!(
        decisions(&view),
        [
            "wait WaitingForPreTerminateHook: Machine m1 waits for the hook pre-terminate.delete.hook.machine.cluster.x-k8s.io/backup"
        ]
    );
}

#[test]
fn an_etcd_member_without_a_machine_is_taken_out_unless_it_may_belong_to_one_that_comes() {
    let table: [(&str, &[&str]); 4] = [
        (
            "m1 m2 m3",
            &["RemoveEtcdMember: the etcd member node-gone has no Machine"],
        ),
        ("m1 m2 m3:n", &[]),
        (
            "m1 m2:e m3:e",
            &[
                "wait EtcdMemberWithoutMachine: the etcd member node-gone has no Machine and cannot be taken out: etcd would lose its quorum",
            ],
        ),
        (
            "m1:d m2 m3",
            &["RemoveEtcdMember: the etcd member node-gone has no Machine"],
        ),
    ];
    for (drawn, expected) in table {
        let mut view = control_plane(3, drawn);
        if let Remote::Found(etcd) = &mut view.etcd {
            etcd.members.push(stray("node-gone", false));
        }
        assert_eq!(decisions(&view), expected, "{drawn}");
    }
}

#[test]
fn a_member_without_a_name_is_left_alone_while_a_node_is_new() {
    let unnamed = |now: &str| {
        let mut view = control_plane(3, "m1 m2 m3");
        view.now = now.parse().expect("a time");
        if let Remote::Found(etcd) = &mut view.etcd {
            etcd.members.push(stray("", true));
        }
        decisions(&view)
    };
    assert_eq!(unnamed("2026-01-01T00:30:19Z"), Vec::<String>::new());
    assert_eq!(
        unnamed("2026-01-01T00:30:21Z"),
        ["RemoveEtcdMember: the etcd member without a name has no Machine"]
    );
}

#[test]
fn certificates_that_end_soon_are_a_reason_to_replace() {
    let view = with(control_plane(3, "m1 m2 m3"), |it| {
        it.spec.rollout.before.certificates_expiry_days = Some(30);
    });
    let mut soon = view.clone();
    let machine = std::sync::Arc::make_mut(&mut soon.members[1].machine);
    let expiry = serde_json::from_value(serde_json::json!("2026-01-31T23:00:00Z")).expect("a time");
    machine.status.get_or_insert_default().certificates_expiry_date = Some(expiry);
    assert_eq!(view.differences(&view.members[1]), Vec::<String>::new());
    assert_eq!(
        soon.differences(&soon.members[1]),
        ["Certificates will expire soon"]
    );
}
