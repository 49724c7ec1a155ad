//! Tables of decisions and of what is reported, from views that are made by hand.

use std::{fmt::Write as _, sync::Arc, time::Duration};

use capstan_api::{
    bootstrap::KubeadmConfig,
    core::{Cluster, Machine},
};
use capstan_base::{SeededEntropy, Timestamp};
use capstan_engine::{Lookup, Outcome, Plan, Trail, Wake};
use capstan_pki::{AuthorityOptions, CertificateSet, UniformKeys};
use capstan_workload::{NotTried, Remote};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{
    act::{ActError, Action},
    decide::decide,
    report::report,
    stage::{Stage, stage},
    view::{Basics, DataSecret, FoundCertificate, InitLock, Materials, TokenSecret, View},
};

fn now() -> Timestamp {
    "2026-01-02T03:04:05Z".parse().expect("a time")
}

/// A config in a cluster whose infrastructure is there, changed as a case wants it.
struct Case {
    config: Value,
    machine: Value,
    cluster: Value,
    lock: Option<InitLock>,
    data_secret: Option<DataSecret>,
    token: Option<Remote<TokenSecret>>,
    workload: Remote<()>,
    certificates: Certificates,
}

#[derive(Clone, Copy, PartialEq)]
enum Certificates {
    All,
    None,
}

fn case() -> Case {
    Case {
        config: json!({ "metadata": { "namespace": "ns", "name": "m1", "uid": "u-config", "generation": 1 }, "spec": {} }),
        machine: json!({
            "metadata": { "namespace": "ns", "name": "m1", "uid": "u-machine" },
            "spec": { "clusterName": "c1", "version": "v1.34.0" }
        }),
        cluster: json!({
            "metadata": { "namespace": "ns", "name": "c1", "uid": "u-cluster" },
            "spec": { "controlPlaneEndpoint": { "host": "10.0.0.1", "port": 6443 },
                "controlPlaneRef": { "apiGroup": "controlplane.cluster.x-k8s.io", "kind": "KubeadmControlPlane", "name": "c1" } },
            "status": { "initialization": { "infrastructureProvisioned": true } }
        }),
        lock: None,
        data_secret: None,
        token: None,
        workload: Remote::Found(()),
        certificates: Certificates::All,
    }
}

impl Case {
    fn of_control_plane(mut self) -> Self {
        self.machine["metadata"]["labels"] = json!({ "cluster.x-k8s.io/control-plane": "" });
        self
    }

    fn initialized(mut self) -> Self {
        self.cluster["status"]["initialization"]["controlPlaneInitialized"] = json!(true);
        self.cluster["status"]["conditions"] = json!([{ "type": "ControlPlaneInitialized", "status": "True",
            "reason": "Initialized", "message": "", "lastTransitionTime": "2026-01-02T03:00:00Z" }]);
        self
    }

    fn complete(mut self) -> Self {
        self.config["spec"]["joinConfiguration"] = json!({ "discovery": { "bootstrapToken": {
            "token": "abcdef.0123456789abcdef", "apiServerEndpoint": "10.0.0.1:6443", "caCertHashes": ["sha256:aa"] } } });
        self
    }

    fn created(mut self) -> Self {
        self.config["status"] =
            json!({ "dataSecretName": "m1", "initialization": { "dataSecretCreated": true } });
        self
    }

    fn held_by(mut self, machine: &str, holder_exists: bool) -> Self {
        self.lock = Some(InitLock {
            uid: Some("u-lock".to_owned()),
            holder: Some(machine.to_owned()),
            holder_exists,
        });
        self
    }

    fn view(self) -> View {
        let config: KubeadmConfig = serde_json::from_value(self.config).expect("a config");
        let machine: Machine = serde_json::from_value(self.machine).expect("a machine");
        let cluster: Cluster = serde_json::from_value(self.cluster).expect("a cluster");
        let basics = Basics {
            now: now(),
            token_ttl: Duration::from_mins(15),
            config: Arc::new(config),
            machine: Some(Arc::new(machine)),
            cluster: Some(Arc::new(cluster)),
            data_secret: self.data_secret,
            lock: self.lock,
        };
        let stage = stage(&basics);
        let set = match stage {
            Stage::JoinWorker => CertificateSet::for_worker(None),
            _ => CertificateSet::for_control_plane(None, None),
        };
        let keys = UniformKeys::new(Arc::new(SeededEntropy::new(1)));
        let certificates = set.0.into_iter().map(|certificate| {
            let pair = certificate
                .generate(AuthorityOptions::default(), now(), &keys)
                .expect("a pair");
            let pair = pair.filter(|_| self.certificates == Certificates::All);
            FoundCertificate {
                certificate,
                pair: pair.map_or(Lookup::Absent, Lookup::Found),
            }
        });
        let materials = Materials {
            certificates: certificates.collect(),
            token: self.token,
            workload: Some(self.workload),
            ..Materials::default()
        };
        View {
            basics,
            stage,
            materials,
        }
    }
}

/// A plan as one line per step and wait.
fn shown(plan: &Plan<Action>) -> String {
    let mut text = String::new();
    for step in &plan.steps {
        let line = match &step.action {
            Action::AcquireLock { machine, .. } => format!("take the lock for {machine}"),
            Action::ReleaseLock { preconditions, .. } => format!("release the lock {:?}", preconditions.uid),
            Action::CreateCertificate { certificate, .. } => format!("make {}", certificate.purpose.suffix()),
            Action::CompleteDiscovery { patch, token, .. } => {
                let id = token.as_ref().map(|it| it.id.as_str());
                format!("complete {} token {id:?}", without_hashes(&patch.to_string()))
            }
            Action::RefreshToken { id, expires, .. } => format!("refresh {id} until {expires}"),
            Action::StoreData { secret, data, .. } => {
                let run = data
                    .expose()
                    .lines()
                    .find(|it| it.contains("kubeadm init") || it.contains("kubeadm join"));
                let command = run
                    .unwrap_or_default()
                    .split(" --config")
                    .next()
                    .unwrap_or_default();
                format!(
                    "store {secret}:{}",
                    command.replace("  - ", " ").replace('\'', "")
                )
            }
            Action::AdoptData { owners, .. } => format!("adopt: {} owners", owners.len()),
        };
        writeln!(text, "{line}").expect("text");
    }
    for why in &plan.waiting {
        writeln!(text, "wait: {}", why.message).expect("text");
    }
    if let Wake::After(delay) = plan.wake {
        writeln!(text, "look again after {}s", delay.as_secs()).expect("text");
    }
    text
}

/// A text with the digits of SHA-256 hashes left out.
fn without_hashes(text: &str) -> String {
    let mut parts = text.split("sha256:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        format!(
            "{text}sha256:{}",
            part.trim_start_matches(|it: char| it.is_ascii_hexdigit())
        )
    })
}

fn check(case: Case, expected: &Expect) {
    expected.assert_eq(&shown(&decide(&case.view())));
}

#[test]
fn nothing_happens_before_the_infrastructure_is_there() {
    let mut waiting = case();
    waiting.cluster["status"] = json!({});
    check(
        waiting,
        &expect![[r"
        wait: Waiting for Cluster status.infrastructureReady to be true
    "]],
    );
}

#[test]
fn the_first_control_plane_machine_takes_the_lock_and_others_wait() {
    check(
        case(),
        &expect![[r"
        wait: Waiting for Cluster control plane to be initialized
    "]],
    );
    check(
        case().of_control_plane(),
        &expect![[r"
        take the lock for m1
        store ns/m1: kubeadm init
    "]],
    );
    check(
        case().of_control_plane().held_by("m1", true),
        &expect![[r"
        store ns/m1: kubeadm init
    "]],
    );
    check(
        case().of_control_plane().held_by("m0", true),
        &expect![[r"
        wait: Waiting for Machine m0 to initialize
    "]],
    );
    check(
        case().of_control_plane().held_by("m0", false),
        &expect![[r#"
        release the lock Some("u-lock")
        take the lock for m1
        store ns/m1: kubeadm init
    "#]],
    );
}

#[test]
fn certificates_are_made_here_only_if_no_control_plane_object_makes_them() {
    let mut missing = case().of_control_plane();
    missing.certificates = Certificates::None;
    check(
        missing,
        &expect![[r"
        wait: Secret ns/c1-ca does not exist
        look again after 15s
    "]],
    );
    let mut standalone = case().of_control_plane();
    standalone.certificates = Certificates::None;
    standalone.cluster["spec"]["controlPlaneRef"] = Value::Null;
    check(
        standalone,
        &expect![[r"
        take the lock for m1
        make ca
        make etcd
        make proxy
        make sa
    "]],
    );
}

#[test]
fn a_joining_host_is_first_told_how_to_find_its_cluster() {
    check(
        case().initialized(),
        &expect![[r#"
            complete {"discovery":{"bootstrapToken":{"apiServerEndpoint":"10.0.0.1:6443","caCertHashes":["sha256:"]}}} token Some("cq8xkd")
        "#]],
    );
    check(
        case().of_control_plane().initialized().held_by("m0", true),
        &expect![[r#"
            release the lock Some("u-lock")
            complete {"controlPlane":{},"discovery":{"bootstrapToken":{"apiServerEndpoint":"10.0.0.1:6443","caCertHashes":["sha256:"]}}} token Some("cq8xkd")
        "#]],
    );
    check(
        case().initialized().complete(),
        &expect![[r"
        store ns/m1: kubeadm join
        look again after 300s
    "]],
    );
    let mut cut_off = case().initialized();
    cut_off.workload = Remote::NotTried(NotTried::Connecting);
    check(
        cut_off,
        &expect![[r"
        wait: Waiting for a connection to the workload cluster
    "]],
    );
    let mut no_endpoint = case().initialized();
    no_endpoint.cluster["spec"]["controlPlaneEndpoint"] = json!({});
    check(
        no_endpoint,
        &expect![[r"
        wait: Waiting for Cluster spec.controlPlaneEndpoint to be set
        look again after 10s
    "]],
    );
}

#[test]
fn a_config_that_asks_for_the_impossible_is_told_so() {
    let mut worker = case().initialized().complete();
    worker.config["spec"]["joinConfiguration"]["controlPlane"] = json!({});
    check(
        worker,
        &expect![[r"
        wait: Machine is a Worker, but JoinConfiguration.ControlPlane is set in the KubeadmConfig object
        look again after 15s
    "]],
    );
    let mut old = case().initialized().complete();
    old.machine["spec"]["version"] = json!("v1.20.0");
    check(
        old,
        &expect![[r"
        wait: Kubernetes v1.20.0 is not supported: its kubeadm is older than v1.22.0
        look again after 15s
    "]],
    );
}

#[test]
fn a_token_is_kept_alive_until_the_node_has_joined() {
    let token = |minutes: u64| {
        let mut case = case().initialized().complete().created();
        let expires = Some(now() + Duration::from_mins(minutes));
        case.token = Some(Remote::Found(TokenSecret {
            expires,
            resource_version: None,
        }));
        case
    };
    check(
        token(13),
        &expect![[r"
        look again after 300s
    "]],
    );
    check(
        token(12),
        &expect![[r"
        refresh abcdef until 2026-01-02T03:19:05Z
        look again after 300s
    "]],
    );
    let mut joined = token(1);
    joined.machine["status"] = json!({ "nodeRef": { "name": "n1" } });
    check(joined, &expect![[""]]);
    let mut gone = token(1);
    gone.token = Some(Remote::Absent);
    check(
        gone,
        &expect![[r"
        wait: The bootstrap token is gone from the workload cluster; the host can join no longer
        look again after 300s
    "]],
    );
}

#[test]
fn the_lock_goes_when_the_cluster_is_there_and_a_lost_owner_comes_back() {
    let mut first = case()
        .of_control_plane()
        .initialized()
        .created()
        .held_by("m1", true);
    first.data_secret = Some(DataSecret {
        owners: Vec::new(),
        resource_version: None,
        created: None,
    });
    check(
        first,
        &expect![[r#"
        release the lock Some("u-lock")
        adopt: 1 owners
    "#]],
    );
}

/// The status as a user reads it, after a pass whose steps all succeeded.
fn told(case: Case) -> String {
    let view = case.view();
    let plan = decide(&view);
    let trail: Trail<ActError> = Trail {
        outcomes: plan.steps.iter().map(|_| Outcome::Done).collect(),
    };
    let status = report(&view, &plan, &trail);
    let mut text = format!(
        "{:?} {:?}\n",
        status.data_secret_name, status.initialization.data_secret_created
    );
    for it in &status.conditions {
        writeln!(text, "{} {} {} {:?}", it.type_, it.status, it.reason, it.message).expect("text");
    }
    for it in &status.deprecated.v1beta1.conditions {
        writeln!(
            text,
            "old {} {} {:?} {:?}",
            it.type_, it.status, it.severity, it.reason
        )
        .expect("text");
    }
    text
}

#[test]
fn the_status_tells_what_is_waited_for_and_what_is_there() {
    expect![[r#"
        None None
        Ready False NotReady "* DataSecretAvailable: Waiting for Cluster control plane to be initialized\n* CertificatesAvailable: Condition not yet reported"
        DataSecretAvailable False NotAvailable "Waiting for Cluster control plane to be initialized"
        old Ready False "Info" "WaitingForControlPlaneAvailable"
        old DataSecretAvailable False "Info" "WaitingForControlPlaneAvailable"
    "#]]
    .assert_eq(&told(case()));
    expect![[r#"
        Some("m1") Some(true)
        Ready True Ready ""
        CertificatesAvailable True Available ""
        DataSecretAvailable True Available ""
        old Ready True "" ""
        old CertificatesAvailable True "" ""
        old DataSecretAvailable True "" ""
    "#]]
    .assert_eq(&told(case().of_control_plane()));
    let mut missing = case().initialized();
    missing.certificates = Certificates::None;
    expect![[r#"
        None None
        Ready Unknown ReadyUnknown "* DataSecretAvailable: Condition not yet reported\n* CertificatesAvailable: Please check controller logs for errors"
        CertificatesAvailable Unknown InternalError "Please check controller logs for errors"
        old Ready False "Error" "CertificatesCorrupted"
        old CertificatesAvailable False "Error" "CertificatesCorrupted"
    "#]]
    .assert_eq(&told(missing));
    let mut moved = case().initialized().complete();
    moved.machine["spec"]["bootstrap"] = json!({ "dataSecretName": "other" });
    expect![[r#"
        Some("other") Some(true)
        Ready True Ready ""
        CertificatesAvailable True Available ""
        DataSecretAvailable True Available ""
        old Ready True "" ""
        old DataSecretAvailable True "" ""
    "#]]
    .assert_eq(&told(moved));
}

#[test]
fn no_secret_shows_in_a_view_or_plan() {
    let view = case().initialized().complete().view();
    let shown = format!("{view:?} {:?}", decide(&view));
    assert!(!shown.contains("0123456789abcdef"), "{shown}");
}
