//! Tables of what is decided and reported about DevMachines.

use std::{fmt::Write, sync::Arc};

use capstan_api::{
    core::{Cluster, Machine},
    infrastructure::DevMachine,
};
use capstan_base::{SeededEntropy, Timestamp};
use capstan_engine::{Lookup, ObjectKey, Plan, Trail, Wake};
use capstan_pki::{Algorithm, Authority, UniformKeys};
use serde_json::json;

use super::{
    act::ActError,
    decide::{Action, decide},
    report::report,
    view::{BootstrapData, View},
};
use crate::{
    backend::{Authorities, BackendError, MachineFacts},
    bootstrap::{Bootstrap, Registration, Token},
    timeline::Parts,
};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("a time")
}

fn authorities() -> Authorities {
    let keys = UniformKeys::new(Arc::new(SeededEntropy::new(1)));
    let validity = jiff::SignedDuration::from_hours(1);
    let authority = Authority::generate("kubernetes", Algorithm::EcdsaP256, validity, at(1_000_000), &keys);
    let authority = Arc::new(authority.expect("an authority"));
    Authorities {
        cluster: authority.clone(),
        etcd: authority,
    }
}

fn init() -> Bootstrap {
    Bootstrap::Init {
        cluster_configuration: String::new(),
        tokens: Vec::new(),
        registration: Registration::default(),
    }
}

fn join() -> Bootstrap {
    Bootstrap::Join {
        token: Token::parse("abcdef.0123456789abcdef"),
        authority_hashes: Vec::new(),
        registration: Registration::default(),
    }
}

/// A machine that may boot: VM 10 s, node 2 s, etcd 3 s, API server 4 s.
fn view(second: i64, is_control_plane: bool, bootstrap: Bootstrap) -> View {
    let taking = |seconds: &str| json!({ "provisioning": { "startupDuration": seconds } });
    let object: DevMachine = serde_json::from_value(json!({
        "metadata": { "name": "m", "namespace": "ns", "uid": "uid", "generation": 1 },
        "spec": { "backend": { "inMemory": {
            "vm": taking("10s"), "node": taking("2s"), "etcd": taking("3s"), "apiServer": taking("4s"),
        } } },
    }))
    .expect("a DevMachine");
    let labels = if is_control_plane {
        json!({ "cluster.x-k8s.io/control-plane": "" })
    } else {
        json!({})
    };
    let machine: Machine = serde_json::from_value(json!({
        "metadata": { "name": "m", "labels": labels },
        "spec": { "clusterName": "c", "bootstrap": { "dataSecretName": "data" }, "version": "v1.34.1" },
    }))
    .expect("a Machine");
    let cluster: Cluster = serde_json::from_value(json!({
        "metadata": { "name": "c" },
        "status": { "initialization": { "infrastructureProvisioned": true } },
    }))
    .expect("a Cluster");
    View {
        now: at(second),
        object: Arc::new(object),
        machine: Some(Arc::new(machine)),
        cluster_key: Some(ObjectKey::new("ns", "c")),
        cluster: Some(Arc::new(cluster)),
        is_cluster_open: true,
        bootstrap: Lookup::Found(BootstrapData {
            bootstrap,
            created: Some(at(-5)),
        }),
        authorities: Lookup::Found(authorities()),
        facts: MachineFacts {
            started: Some(at(0)),
            ..MachineFacts::default()
        },
    }
}

fn shown(plan: &Plan<Action>) -> String {
    let mut text = String::new();
    for step in &plan.steps {
        let word = match &step.action {
            Action::StartVm(intent) => format!("start VM at {}", intent.start.as_second()),
            Action::RecordProviderId(id) => format!("record {id}"),
            Action::RegisterNode(_, bootstrap, _) => {
                format!("register node{}", if bootstrap.is_some() { "" } else { " again" })
            }
            Action::StartEtcd(..) => "start etcd".to_owned(),
            Action::StartControlPlane(..) => "start control plane".to_owned(),
            Action::StopVm => "stop VM".to_owned(),
        };
        write!(text, "{word}; ").expect("written");
    }
    for why in &plan.waiting {
        write!(text, "wait {}; ", why.reason).expect("written");
    }
    match plan.wake {
        Wake::OnChange => {}
        Wake::After(pause) => write!(text, "after {} s; ", pause.as_secs()).expect("written"),
        Wake::At(time) => write!(text, "at {}; ", time.as_second()).expect("written"),
    }
    if plan.finalize {
        text.push_str("let go; ");
    }
    text.trim_end_matches("; ").to_owned()
}

fn check(view: &View, expected: &str) {
    assert_eq!(shown(&decide(view)), expected);
}

fn object(view: &mut View, change: impl FnOnce(&mut DevMachine)) {
    change(Arc::make_mut(&mut view.object));
}

#[test]
fn a_machine_boots_part_by_part() {
    let mut fresh = view(0, true, init());
    fresh.facts.started = None;
    check(&fresh, "start VM at 0; wait WaitingForStartupTimeout; at 10");
    check(&view(9, true, init()), "wait WaitingForStartupTimeout; at 10");
    check(
        &view(10, true, init()),
        "record in-memory://m; wait WaitingForStartupTimeout; at 12",
    );
    let mut booting = view(12, true, init());
    object(&mut booting, |it| {
        it.spec.provider_id = Some("in-memory://m".to_owned())
    });
    check(&booting, "register node; wait WaitingForStartupTimeout; at 15");
    booting.facts.running = Parts {
        vm: true,
        node: true,
        ..Parts::default()
    };
    booting.now = at(15);
    check(&booting, "start etcd; wait WaitingForStartupTimeout; at 16");
    booting.facts.running.etcd = true;
    booting.now = at(16);
    check(&booting, "start control plane");
    booting.facts.running.api_server = true;
    check(&booting, "");
}

#[test]
fn a_worker_has_no_control_plane() {
    let mut worker = view(20, false, join());
    worker.facts.cluster_serves = true;
    check(&worker, "record in-memory://m; register node");
}

#[test]
fn a_machine_does_not_join_a_cluster_that_does_not_answer() {
    check(
        &view(20, false, join()),
        "record in-memory://m; wait BootstrapFailed",
    );
}

#[test]
fn a_machine_waits_for_what_it_needs_by_name() {
    let mut orphan = view(0, false, join());
    orphan.machine = None;
    check(&orphan, "wait WaitingForOwner");
    let mut early = view(0, false, join());
    early.is_cluster_open = false;
    check(&early, "wait WaitingForClusterInfrastructureReady");
    let mut without_data = view(0, false, join());
    Arc::make_mut(without_data.machine.as_mut().expect("a Machine"))
        .spec
        .bootstrap
        .data_secret_name = None;
    check(&without_data, "wait WaitingForControlPlaneInitialized");
    let mut without_authority = view(12, true, init());
    without_authority.authorities = Lookup::Absent;
    check(
        &without_authority,
        "record in-memory://m; wait WaitingForStartupTimeout; wait BootstrapFailed; at 15",
    );
}

#[test]
fn after_a_restart_what_is_recorded_runs_again_at_once() {
    let condition = |kind: &str| {
        json!({ "type": kind, "status": "True", "reason": "Provisioned", "message": "",
                "lastTransitionTime": "1970-01-01T00:00:10Z" })
    };
    let kinds = [
        "VMProvisioned",
        "NodeProvisioned",
        "EtcdProvisioned",
        "APIServerProvisioned",
    ];
    let mut forgotten = view(1000, true, init());
    forgotten.facts.started = None;
    object(&mut forgotten, |it| {
        it.spec.provider_id = Some("in-memory://m".to_owned());
        it.status = serde_json::from_value(json!({ "conditions": kinds.map(condition) })).ok();
    });
    check(
        &forgotten,
        "start VM at 0; register node again; start etcd; start control plane",
    );
}

#[test]
fn a_machine_that_is_deleted_stops_its_vm_and_lets_go() {
    let deleted: k8s_openapi::apimachinery::pkg::apis::meta::v1::Time =
        serde_json::from_value(json!("1970-01-01T00:00:00Z")).expect("a time");
    let mut deleting = view(100, true, init());
    object(&mut deleting, |it| it.metadata.deletion_timestamp = Some(deleted));
    check(&deleting, "stop VM; let go");
    deleting.cluster_key = None;
    deleting.machine = None;
    check(&deleting, "let go");
}

fn reported(view: &View, trail: &Trail<ActError>) -> String {
    let status = report(view, &decide(view), trail);
    let line = |it: &k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition| {
        format!("{} {} {} {}", it.type_, it.status, it.reason, it.message)
            .trim_end()
            .to_owned()
    };
    let mut lines: Vec<String> = status.conditions.iter().map(line).collect();
    lines.push(format!("provisioned {:?}", status.initialization.provisioned));
    lines.join("\n")
}

#[test]
fn the_conditions_tell_how_far_the_machine_is() {
    expect_test::expect![[r"
        Ready False NotReady * VMProvisioned: WaitingForStartupTimeout
        * NodeProvisioned: WaitingForVMProvisioned
        * EtcdProvisioned: WaitingForVMProvisioned
        * APIServerProvisioned: WaitingForVMProvisioned
        APIServerProvisioned False WaitingForVMProvisioned
        EtcdProvisioned False WaitingForVMProvisioned
        NodeProvisioned False WaitingForVMProvisioned
        VMProvisioned False WaitingForStartupTimeout
        provisioned None"]]
    .assert_eq(&reported(&view(5, true, init()), &Trail::default()));

    let mut up = view(20, false, join());
    object(&mut up, |it| {
        it.spec.provider_id = Some("in-memory://m".to_owned())
    });
    up.facts.running = Parts {
        vm: true,
        node: true,
        ..Parts::default()
    };
    expect_test::expect![[r"
        Ready True Ready
        NodeProvisioned True Provisioned
        VMProvisioned True Provisioned
        provisioned Some(true)"]]
    .assert_eq(&reported(&up, &Trail::default()));
}

#[test]
fn a_refused_join_is_told_with_its_reason() {
    let mut refused = view(20, false, join());
    object(&mut refused, |it| {
        it.spec.provider_id = Some("in-memory://m".to_owned())
    });
    refused.facts.cluster_serves = true;
    let error = BackendError::Join("bootstrap token abcdef is expired".to_owned());
    let trail = Trail {
        outcomes: vec![capstan_engine::Outcome::Failed(ActError::Backend(error))],
    };
    expect_test::expect![[r"
        Ready False NotReady * NodeProvisioned: kubeadm join failed: bootstrap token abcdef is expired
        NodeProvisioned False BootstrapFailed kubeadm join failed: bootstrap token abcdef is expired
        VMProvisioned True Provisioned
        provisioned Some(true)"]]
    .assert_eq(&reported(&refused, &trail));
}
