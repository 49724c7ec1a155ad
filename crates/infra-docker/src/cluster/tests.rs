//! Tables over clusters in containers: what is decided, and what is said.

use capstan_api::{condition::v1beta1, infrastructure::ClusterStatus};
use capstan_engine::{Lookup, ObjectKey, Outcome, Plan, ReadFailure, Trail};

use super::{
    act::ActError,
    decide::{Action, decide},
    report::report,
    view::{Found, View},
};
use crate::{
    docker::{Container, DockerError, Privileges},
    haproxy::Backend,
    kinds::{ClusterSubject, Identity},
    naming,
    tasks::Task,
};

fn at(seconds: i64) -> capstan_base::Timestamp {
    capstan_base::Timestamp::from_second(1_000 + seconds).unwrap()
}

/// A cluster that was just made: nothing is there but the image.
fn view() -> View {
    View {
        now: at(0),
        subject: ClusterSubject {
            identity: Identity {
                kind: "DockerCluster",
                key: ObjectKey::new("default", "demo"),
                uid: "u1".to_owned(),
                ..Identity::default()
            },
            ..ClusterSubject::default()
        },
        owner: Some(ObjectKey::new("default", "demo")),
        found: Ok(Found {
            has_image: true,
            ..Found::default()
        }),
        pull: None,
        backends: [].into(),
        template: Lookup::Absent,
        privileges: None,
    }
}

fn container(uid: &str) -> Container {
    Container {
        name: "demo-lb".to_owned(),
        labels: [(naming::OWNER_UID_LABEL.to_owned(), uid.to_owned())].into(),
        is_running: true,
        address: "172.30.128.1".to_owned(),
        ..Container::default()
    }
}

/// A cluster whose load balancer runs and knows what it should.
fn running() -> View {
    let mut view = view();
    view.subject.endpoint.host = "172.30.128.1".to_owned();
    view.subject.endpoint.port = 6443;
    let loaded = view.configuration().ok();
    view.found = Ok(Found {
        container: Some(container("u1")),
        has_image: true,
        loaded,
        ..Found::default()
    });
    view
}

fn found(view: &mut View) -> &mut Found {
    view.found.as_mut().unwrap()
}

fn steps(plan: &Plan<Action>) -> String {
    let name = |action: &Action| match action {
        Action::Pull(image) => format!("pull {image}"),
        Action::Create { address, .. } => {
            format!("create at {}", address.as_deref().unwrap_or("any address"))
        }
        Action::Restart(_) => "restart".to_owned(),
        Action::RecordEndpoint { host, port } => format!("record {host}:{port}"),
        Action::Configure(_) => "configure".to_owned(),
        Action::Remove => "remove".to_owned(),
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
fn a_load_balancer_comes_up_step_by_step() {
    let mut fresh = view();
    check(&fresh, "create at any address");
    found(&mut fresh).has_image = false;
    check(
        &fresh,
        "pull kindest/haproxy:v20230606-42a2262b, wait WaitingForImage",
    );
    fresh.pull = Some(Task::Running);
    check(&fresh, "wait WaitingForImage");
    fresh.pull = Some(Task::Failed {
        message: "no route".to_owned(),
        at: at(-10),
    });
    check(&fresh, "wait WaitingForImage");
    fresh.now = at(30);
    check(
        &fresh,
        "pull kindest/haproxy:v20230606-42a2262b, wait WaitingForImage",
    );

    let mut made = running();
    check(&made, "");
    made.subject.endpoint.host.clear();
    check(&made, "record 172.30.128.1:6443");
}

#[test]
fn a_load_balancer_follows_the_control_plane_and_is_mended() {
    let mut view = running();
    let backend = Backend {
        address: "172.30.128.7".to_owned(),
        weight: 100,
    };
    view.backends.insert("demo-a".to_owned(), backend);
    check(&view, "configure");
    found(&mut view).container.as_mut().unwrap().is_running = false;
    check(&view, "restart");
    found(&mut view).container = None;
    check(&view, "create at 172.30.128.1");
    found(&mut view).container = Some(container("of another"));
    check(&view, "wait NameTaken");
}

#[test]
fn a_cluster_that_cannot_go_on_waits_and_says_for_what() {
    let mut orphan = view();
    orphan.owner = None;
    check(&orphan, "wait WaitingForOwner");
    let mut silent = view();
    silent.found = Err(unreachable());
    check(&silent, "wait EngineUnreachable");
    let mut odd = running();
    odd.template = Lookup::Found("{{ .Nothing".to_owned());
    check(&odd, "wait ConfigurationInvalid");
    odd.template = Lookup::Unreadable(ReadFailure("ConfigMap default/x does not exist".to_owned()));
    check(&odd, "wait ConfigurationInvalid");
    let mut foreign = running();
    foreign.subject.is_externally_managed = true;
    found(&mut foreign).container = None;
    check(&foreign, "");
}

#[test]
fn a_deleted_cluster_goes_when_its_load_balancer_has_gone() {
    let mut view = running();
    view.subject.identity.is_deleting = true;
    check(&view, "remove, finalize");
    view.found = Err(unreachable());
    check(&view, "wait EngineUnreachable");
}

fn lines(status: &ClusterStatus) -> String {
    let mut text: String = status
        .conditions
        .iter()
        .map(|it| {
            format!("{} {} {} | {}\n", it.type_, it.status, it.reason, it.message).replace(" | \n", "\n")
        })
        .collect();
    text.push_str(&v1beta1::lines(&status.deprecated.v1beta1.conditions));
    text.push_str(&format!("provisioned: {:?}\n", status.initialization.provisioned));
    text
}

fn told(view: &View, outcome: Outcome<ActError>) -> String {
    let plan = decide(view);
    let outcomes = plan.steps.iter().map(|_| Outcome::Skipped).skip(1);
    let mut trail = Trail {
        outcomes: outcomes.collect(),
    };
    if !plan.steps.is_empty() {
        trail.outcomes.insert(0, outcome);
    }
    lines(&report(view, &plan, &trail))
}

#[test]
fn a_status_says_what_is_there_and_what_is_not() {
    expect_test::expect![[r#"
        Ready True Ready
        LoadBalancerAvailable True Available
        Ready True
        LoadBalancerAvailable True
        provisioned: Some(true)
    "#]]
    .assert_eq(&told(&running(), Outcome::Done));
    let mut granted = running();
    granted.privileges = Some(Privileges::Missing(vec!["SYS_ADMIN".to_owned()]));
    expect_test::expect![[r#"
        Ready True Ready
        EnginePrivileges False CapabilitiesMissing | The Engine refuses privileged containers, and capabilities that a node needs: SYS_ADMIN. Run the Engine with them, or use another Engine with DOCKER_HOST
        LoadBalancerAvailable True Available
        Ready True
        LoadBalancerAvailable True
        provisioned: Some(true)
    "#]].assert_eq(&told(&granted, Outcome::Done));
    let refused = DockerError::refused("create container", "demo-lb", "no space left on device");
    expect_test::expect![[r#"
        Ready False NotReady | * LoadBalancerAvailable: Failed to set up the load balancer: failed to create container demo-lb: no space left on device
        LoadBalancerAvailable False NotAvailable | Failed to set up the load balancer: failed to create container demo-lb: no space left on device
        Ready False Warning | LoadBalancerProvisioningFailed | 0 of 1 completed
        LoadBalancerAvailable False Warning | LoadBalancerProvisioningFailed | Failed to set up the load balancer: failed to create container demo-lb: no space left on device
        provisioned: None
    "#]].assert_eq(&told(&view(), Outcome::Failed(refused.into())));
    let mut silent = view();
    silent.found = Err(unreachable());
    expect_test::expect![[r#"
        Ready Unknown ReadyUnknown | * LoadBalancerAvailable: no Docker Engine answers at unix:///docker.sock (no such file): start it
        LoadBalancerAvailable Unknown NotAvailable | no Docker Engine answers at unix:///docker.sock (no such file): start it
        Ready False Warning | LoadBalancerProvisioningFailed | 0 of 1 completed
        LoadBalancerAvailable False Warning | LoadBalancerProvisioningFailed | no Docker Engine answers at unix:///docker.sock (no such file): start it
        provisioned: None
    "#]].assert_eq(&told(&silent, Outcome::Done));
    let mut taken = running();
    found(&mut taken).container = Some(container("of another"));
    expect_test::expect![[r#"
        Ready False NotReady | * LoadBalancerAvailable: Container demo-lb is not Capstan's: remove or rename it (docker rename demo-lb …)
        LoadBalancerAvailable False NotAvailable | Container demo-lb is not Capstan's: remove or rename it (docker rename demo-lb …)
        Ready False Warning | LoadBalancerProvisioningFailed | 0 of 1 completed
        LoadBalancerAvailable False Warning | LoadBalancerProvisioningFailed | Container demo-lb is not Capstan's: remove or rename it (docker rename demo-lb …)
        provisioned: None
    "#]].assert_eq(&told(&taken, Outcome::Done));
}
