//! Tables over machines in containers: what is decided, and what is said.

use std::sync::Arc;

use capstan_api::{
    Condition,
    condition::v1beta1,
    core::{Cluster, Machine},
    infrastructure::{
        MachineStatus,
        words::{condition as types, reason},
    },
};
use capstan_engine::{Lookup, ObjectKey, Outcome, Plan, Trail};
use serde_json::json;

use super::{
    act::ActError,
    decide::{Action, decide},
    report::report,
    view::{BootstrapData, Found, NodeState, View},
};
use crate::{
    cloud_config::Probe,
    docker::{Container, DockerError},
    kinds::{Identity, MachineSubject},
    naming,
    tasks::Task,
};

fn at(seconds: i64) -> capstan_base::Timestamp {
    capstan_base::Timestamp::from_second(1_000 + seconds).unwrap()
}

fn machine() -> Machine {
    serde_json::from_value(json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
        "metadata": {
            "namespace": "default", "name": "demo-a", "uid": "m1",
            "labels": { "cluster.x-k8s.io/control-plane": "" },
        },
        "spec": {
            "clusterName": "demo", "version": "v1.36.3", "failureDomain": "one",
            "bootstrap": { "dataSecretName": "demo-a" },
        },
    }))
    .unwrap()
}

fn cluster() -> Cluster {
    serde_json::from_value(json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
        "metadata": { "namespace": "default", "name": "demo" },
        "spec": {},
        "status": { "initialization": { "infrastructureProvisioned": true } },
    }))
    .unwrap()
}

/// A machine that has everything but a container.
fn view() -> View {
    View {
        now: at(0),
        subject: MachineSubject {
            identity: Identity {
                kind: "DockerMachine",
                key: ObjectKey::new("default", "demo-a"),
                uid: "u1".to_owned(),
                ..Identity::default()
            },
            tells_load_balancer: true,
            ..MachineSubject::default()
        },
        machine: Some(Arc::new(machine())),
        cluster_key: Some(ObjectKey::new("default", "demo")),
        cluster: Some(Arc::new(cluster())),
        found: Ok(Found {
            has_image: true,
            ..Found::default()
        }),
        repository: "kindest/node".to_owned(),
        pull: None,
        images: None,
        data: Lookup::Absent,
        node: NodeState::Unknown,
    }
}

/// A machine whose container runs, and what a look into it says.
fn running(machine: Result<(), String>, bootstrap: Probe) -> View {
    let mut view = view();
    view.found = Ok(Found {
        container: Some(Container {
            name: "demo-a".to_owned(),
            labels: [(naming::OWNER_UID_LABEL.to_owned(), "u1".to_owned())].into(),
            is_running: true,
            address: "172.30.128.7".to_owned(),
            ..Container::default()
        }),
        look: Some((machine, bootstrap)),
        ..Found::default()
    });
    view.data = Lookup::Found(BootstrapData {
        format: String::new(),
        value: b"runcmd: [kubeadm init]".to_vec(),
    });
    view
}

/// The same, after its identity was recorded.
fn provisioned(bootstrap: Probe) -> View {
    let mut view = running(Ok(()), bootstrap);
    view.subject.provider_id = Some("docker:////demo-a".to_owned());
    view
}

fn container(view: &mut View) -> &mut Container {
    view.found.as_mut().unwrap().container.as_mut().unwrap()
}

fn spec(view: &mut View, change: impl FnOnce(&mut Machine)) {
    change(Arc::make_mut(view.machine.as_mut().unwrap()));
}

fn steps(plan: &Plan<Action>) -> String {
    let name = |action: &Action| match action {
        Action::Pull(image) => format!("pull {image}"),
        Action::Create { image } => format!("create of {image}"),
        Action::Start => "start".to_owned(),
        Action::Remove => "remove".to_owned(),
        Action::LoadImages(images) => format!("load {}", images.join(" ")),
        Action::RecordProviderId(id) => format!("record {id}"),
        Action::StartBootstrap { timeout, .. } => format!("bootstrap in {} s", timeout.as_secs()),
        Action::CompleteNode(id) => format!("complete node {id}"),
    };
    let mut words: Vec<String> = plan.steps.iter().map(|it| name(&it.action)).collect();
    words.extend(plan.waiting.iter().map(|it| format!("wait {}", it.reason)));
    if plan.finalize {
        words.push("finalize".to_owned());
    }
    words.join(", ")
}

fn check(view: &View, expected: &str) {
    assert_eq!(steps(&decide(view)), expected);
}

fn unreachable() -> DockerError {
    DockerError::Unreachable {
        address: "unix:///docker.sock".to_owned(),
        cause: "no such file".to_owned(),
        fix: "start it",
    }
}

#[test]
fn a_machine_waits_for_what_it_needs_before_it_has_a_container() {
    let mut view = view();
    view.machine = None;
    check(&view, "wait WaitingForOwner");
    view.machine = Some(Arc::new(machine()));
    view.found = Err(unreachable());
    check(&view, "wait EngineUnreachable");
    view.found = Ok(Found::default());
    check(&view, "pull kindest/node:v1.36.3, wait WaitingForImage");
    view.pull = Some(Task::Running);
    check(&view, "wait WaitingForImage");
    spec(&mut view, |it| it.spec.bootstrap.data_secret_name = None);
    check(&view, "wait WaitingForBootstrapData");
    spec(&mut view, |it| it.metadata.labels = None);
    check(&view, "wait WaitingForControlPlane");
    view.cluster = Some(Arc::new(Cluster {
        status: None,
        ..cluster()
    }));
    check(&view, "wait WaitingForClusterInfrastructure");
}

#[test]
fn a_machine_becomes_a_node_step_by_step() {
    check(&view(), "create of kindest/node:v1.36.3");
    let mut new = running(Ok(()), Probe::NotStarted);
    container(&mut new).is_running = false;
    container(&mut new).is_new = true;
    check(&new, "start");
    check(
        &running(Err("starting".to_owned()), Probe::NotStarted),
        "wait WaitingForBoot",
    );
    check(
        &running(Ok(()), Probe::NotStarted),
        "record docker:////demo-a, bootstrap in 300 s",
    );
    let mut patient = provisioned(Probe::NotStarted);
    patient.subject.backend.bootstrap_timeout = Some("12m".to_owned());
    check(&patient, "bootstrap in 720 s");
    let step = "runcmd: kubeadm init".to_owned();
    check(&provisioned(Probe::Running { step }), "wait Bootstrapping");
    check(&provisioned(Probe::Done), "");
    let mut odd = provisioned(Probe::Done);
    odd.node = NodeState::Incomplete;
    check(&odd, "complete node docker:////demo-a");
}

#[test]
fn images_are_loaded_before_a_machine_counts_as_provisioned() {
    let mut view = running(Ok(()), Probe::NotStarted);
    view.subject.backend.pre_load_images = vec!["a:1".to_owned(), "b:2".to_owned()];
    check(&view, "load a:1 b:2, wait WaitingForImages");
    view.images = Some(Task::Running);
    check(&view, "wait WaitingForImages");
    view.images = Some(Task::Done);
    check(&view, "record docker:////demo-a, bootstrap in 300 s");
}

#[test]
fn what_is_lost_is_never_made_again() {
    let mut view = provisioned(Probe::Done);
    container(&mut view).is_running = false;
    check(&view, "wait ContainerGone");
    view.found = Ok(Found::default());
    check(&view, "wait ContainerGone");
}

#[test]
fn a_container_that_ends_before_it_is_provisioned_is_made_again_after_a_while() {
    let mut view = running(Ok(()), Probe::NotStarted);
    container(&mut view).is_running = false;
    container(&mut view).ended = Some(at(-3));
    check(&view, "wait ContainerEnded");
    view.now = at(15);
    check(&view, "remove, wait ContainerEnded");
}

#[test]
fn a_failed_bootstrap_is_not_tried_again() {
    let failed = Probe::Failed {
        step: "runcmd: kubeadm init".to_owned(),
        how: "failed with exit code 1".to_owned(),
        log: "no".to_owned(),
    };
    check(&provisioned(failed.clone()), "wait BootstrapFailed");
    // It is recorded, and nobody looks again.
    let mut recorded = provisioned(Probe::NotStarted);
    recorded.found.as_mut().unwrap().look = None;
    recorded.subject.status.conditions = vec![Condition {
        type_: types::BOOTSTRAP_COMPLETED.to_owned(),
        status: "False".to_owned(),
        reason: reason::FAILED.to_owned(),
        message: "it failed".to_owned(),
        last_transition_time: capstan_api::Time(at(0)),
        observed_generation: None,
    }];
    check(&recorded, "wait BootstrapFailed");
}

#[test]
fn bootstrap_data_that_cannot_be_run_are_waited_for() {
    let mut view = provisioned(Probe::NotStarted);
    view.data = Lookup::Absent;
    check(&view, "wait WaitingForBootstrapData");
    view.data = Lookup::Found(BootstrapData {
        format: "ignition".to_owned(),
        value: Vec::new(),
    });
    check(&view, "wait WaitingForBootstrapData");
}

#[test]
fn a_deleted_machine_takes_its_container_along_and_nobody_elses() {
    let mut view = provisioned(Probe::Done);
    view.subject.identity.is_deleting = true;
    check(&view, "remove, finalize");
    container(&mut view).labels.clear();
    check(&view, "finalize");
    view.found = Err(unreachable());
    check(&view, "wait EngineUnreachable");
}

#[test]
fn a_taken_name_is_waited_for() {
    let mut view = running(Ok(()), Probe::NotStarted);
    container(&mut view).labels.clear();
    check(&view, "wait NameTaken");
}

fn lines(status: &MachineStatus) -> String {
    let mut text: String = status
        .conditions
        .iter()
        .map(|it| {
            format!("{} {} {} | {}\n", it.type_, it.status, it.reason, it.message).replace(" | \n", "\n")
        })
        .collect();
    text.push_str("-- v1beta1\n");
    text.push_str(&v1beta1::lines(&status.deprecated.v1beta1.conditions));
    let addresses: Vec<&str> = status.addresses.iter().map(|it| it.address.as_str()).collect();
    text.push_str(&format!(
        "-- provisioned {:?}, at {addresses:?}\n",
        status.initialization.provisioned
    ));
    text
}

fn told(view: &View, outcome: Outcome<ActError>) -> String {
    let plan = decide(view);
    let mut trail = Trail::default();
    for step in 0..plan.steps.len() {
        trail.outcomes.push(if step == 0 {
            Outcome::Skipped
        } else {
            Outcome::Done
        });
    }
    if let Some(first) = trail.outcomes.first_mut() {
        *first = outcome;
    }
    lines(&report(view, &plan, &trail))
}

#[test]
fn a_status_says_how_far_a_machine_is() {
    expect_test::expect![[r#"
        Ready True Ready
        BootstrapCompleted True Completed
        CGroupsReady True Ready
        ContainerProvisioned True Provisioned
        PreLoadedImagesReady True Ready
        -- v1beta1
        Ready True
        BootstrapExecSucceeded True
        ContainerProvisioned True
        -- provisioned Some(true), at ["demo-a", "172.30.128.7", "172.30.128.7"]
    "#]]
    .assert_eq(&told(&provisioned(Probe::Done), Outcome::Done));
    let step = "runcmd: kubeadm init".to_owned();
    expect_test::expect![[r#"
        Ready False NotReady | * BootstrapCompleted: Running step "runcmd: kubeadm init"
        BootstrapCompleted False NotCompleted | Running step "runcmd: kubeadm init"
        CGroupsReady True Ready
        ContainerProvisioned True Provisioned
        PreLoadedImagesReady True Ready
        -- v1beta1
        Ready False Info | Bootstrapping
        BootstrapExecSucceeded False Info | Bootstrapping
        ContainerProvisioned True
        -- provisioned Some(true), at ["demo-a", "172.30.128.7", "172.30.128.7"]
    "#]]
    .assert_eq(&told(&provisioned(Probe::Running { step }), Outcome::Done));
    expect_test::expect![[r#"
        Ready False NotReady | * CGroupsReady: Container demo-a is starting; systemd says: starting
        * PreLoadedImagesReady: WaitingForCGroups
        * BootstrapCompleted: WaitingForCGroups
        BootstrapCompleted False WaitingForCGroups
        CGroupsReady False NotReady | Container demo-a is starting; systemd says: starting
        ContainerProvisioned True Provisioned
        PreLoadedImagesReady False WaitingForCGroups
        -- v1beta1
        Ready False Info | Bootstrapping | 1 of 2 completed
        BootstrapExecSucceeded False Info | Bootstrapping
        ContainerProvisioned True
        -- provisioned None, at ["demo-a", "172.30.128.7", "172.30.128.7"]
    "#]]
    .assert_eq(&told(
        &running(Err("starting".to_owned()), Probe::NotStarted),
        Outcome::Done,
    ));
}

#[test]
fn a_status_says_what_went_wrong_and_what_helps() {
    let refused = DockerError::refused(
        "create container",
        "demo-a",
        "No such image: kindest/node:v1.36.3",
    );
    expect_test::expect![[r#"
        Ready False NotReady | * CGroupsReady: WaitingForContainer
        * ContainerProvisioned: failed to create container demo-a: No such image: kindest/node:v1.36.3
        * PreLoadedImagesReady: WaitingForContainer
        * BootstrapCompleted: WaitingForContainer
        BootstrapCompleted False WaitingForContainer
        CGroupsReady False WaitingForContainer
        ContainerProvisioned False NotProvisioned | failed to create container demo-a: No such image: kindest/node:v1.36.3
        PreLoadedImagesReady False WaitingForContainer
        -- v1beta1
        Ready False Warning | ContainerProvisioningFailed | 0 of 2 completed
        ContainerProvisioned False Warning | ContainerProvisioningFailed | failed to create container demo-a: No such image: kindest/node:v1.36.3
        -- provisioned None, at []
    "#]].assert_eq(&told(&view(), Outcome::Failed(refused.into())));
    let failed = Probe::Failed {
        step: "runcmd: kubeadm init".to_owned(),
        how: "failed with exit code 1".to_owned(),
        log: "error: no".to_owned(),
    };
    expect_test::expect![[r#"
        Ready False NotReady | * BootstrapCompleted:
          * Step "runcmd: kubeadm init" failed with exit code 1; the end of its log:
          * error: no
        BootstrapCompleted False Failed | Step "runcmd: kubeadm init" failed with exit code 1; the end of its log:
        error: no
        CGroupsReady True Ready
        ContainerProvisioned True Provisioned
        PreLoadedImagesReady True Ready
        -- v1beta1
        Ready False Warning | BootstrapFailed | Step "runcmd: kubeadm init" failed with exit code 1; the end of its log:
        error: no
        BootstrapExecSucceeded False Warning | BootstrapFailed | Step "runcmd: kubeadm init" failed with exit code 1; the end of its log:
        error: no
        ContainerProvisioned True
        -- provisioned Some(true), at ["demo-a", "172.30.128.7", "172.30.128.7"]
    "#]].assert_eq(&told(&provisioned(failed), Outcome::Done));
    let mut gone = provisioned(Probe::Done);
    gone.found = Ok(Found::default());
    expect_test::expect![[r#"
        Ready False NotReady | * ContainerProvisioned: Container demo-a is not running anymore
        * BootstrapCompleted: WaitingForContainer
        BootstrapCompleted False WaitingForContainer
        CGroupsReady True Ready
        ContainerProvisioned False NotProvisioned | Container demo-a is not running anymore
        PreLoadedImagesReady True Ready
        -- v1beta1
        Ready False Error | ContainerDeleted | Container demo-a is not running anymore
        ContainerProvisioned False Error | ContainerDeleted | Container demo-a is not running anymore
        -- provisioned None, at []
    "#]]
    .assert_eq(&told(&gone, Outcome::Done));
    let mut silent = view();
    silent.found = Err(unreachable());
    expect_test::expect![[r#"
        Ready Unknown ReadyUnknown | * CGroupsReady: Condition not yet reported
        * ContainerProvisioned: no Docker Engine answers at unix:///docker.sock (no such file): start it
        * PreLoadedImagesReady: Condition not yet reported
        * BootstrapCompleted: Condition not yet reported
        ContainerProvisioned Unknown InternalError | no Docker Engine answers at unix:///docker.sock (no such file): start it
        -- v1beta1
        Ready Unknown InternalError | 0 of 2 completed
        ContainerProvisioned Unknown InternalError | no Docker Engine answers at unix:///docker.sock (no such file): start it
        -- provisioned None, at []
    "#]].assert_eq(&told(&silent, Outcome::Done));
    let mut ended = running(Ok(()), Probe::NotStarted);
    container(&mut ended).is_running = false;
    container(&mut ended).exit_code = 127;
    ended.found.as_mut().unwrap().last_words = "/sbin/init: not found\n".to_owned();
    expect_test::expect![[r#"
        Ready False NotReady | * CGroupsReady: WaitingForContainer
        * ContainerProvisioned:
          * Container demo-a ended with exit code 127 (is kindest/node:v1.36.3 a node image?), its last words:
          * /sbin/init: not found
        * PreLoadedImagesReady: WaitingForContainer
        * BootstrapCompleted: WaitingForContainer
        BootstrapCompleted False WaitingForContainer
        CGroupsReady False WaitingForContainer
        ContainerProvisioned False NotProvisioned | Container demo-a ended with exit code 127 (is kindest/node:v1.36.3 a node image?), its last words:
        /sbin/init: not found
        PreLoadedImagesReady False WaitingForContainer
        -- v1beta1
        Ready False Warning | ContainerProvisioningFailed | 0 of 2 completed
        ContainerProvisioned False Warning | ContainerProvisioningFailed | Container demo-a ended with exit code 127 (is kindest/node:v1.36.3 a node image?), its last words:
        /sbin/init: not found
        -- provisioned None, at []
    "#]].assert_eq(&told(&ended, Outcome::Done));
}
