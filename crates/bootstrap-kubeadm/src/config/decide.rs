//! Chooses what happens to one KubeadmConfig.
//!
//! | stage | plan |
//! |---|---|
//! | idle, waiting | nothing; the wait is told |
//! | recovered | nothing; the status is taken over |
//! | created | the token is refreshed while the node has not joined |
//! | init | lock → certificates that are missing and ours to make → data |
//! | join | lock released → discovery completed (with a new token) → data |
//!
//! In every stage the data's secret gets its owner back if it lost it.

use std::time::Duration;

use capstan_api::{
    bootstrap::{BootstrapTokenDiscovery, KubeadmConfigSpec},
    core::{Cluster, Machine},
    owner, well_known,
};
use capstan_engine::{ObjectKey, Plan, Preconditions, Wake, Why};
use capstan_kubeadm::{ClusterFacts, cluster_configuration, init_configuration, join_configuration};
use capstan_pki::{AuthorityOptions, Purpose, Secret as Text};
use capstan_workload::Remote;
use k8s_openapi::api::core::v1::Taint;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::ResourceExt;
use serde_json::{Value, json};

use super::{
    act::{Action, Token},
    prepare::{Prepared, prepare},
    stage::Stage,
    view::View,
};
use crate::data::{self, HostData, KubeadmRun};

/// How soon something that nobody watches is looked at again.
const RETRY: Duration = Duration::from_secs(15);
/// How soon a missing endpoint is looked for again.
const ENDPOINT_RETRY: Duration = Duration::from_secs(10);

/// Chooses.
pub(super) fn decide(view: &View) -> Plan<Action> {
    let mut plan = match &view.stage {
        Stage::Idle => return Plan::converged(),
        Stage::WaitingForInfrastructure => Plan::wait(Why::new(
            "WaitingForClusterInfrastructure",
            "Waiting for Cluster status.infrastructureReady to be true",
        )),
        Stage::Recovered(_) => Plan::converged(),
        Stage::Created { keeps_token } => created(view, *keeps_token),
        Stage::WaitingForControlPlane => Plan::wait(Why::new(
            "WaitingForControlPlaneAvailable",
            "Waiting for Cluster control plane to be initialized",
        )),
        Stage::WaitingForInit { holder } => Plan::wait(Why::new(
            "WaitingForControlPlaneAvailable",
            format!("Waiting for Machine {holder} to initialize"),
        )),
        Stage::Init => init(view),
        Stage::JoinControlPlane | Stage::JoinWorker => join(view),
    };
    if let Some(action) = lost_owner(view) {
        plan.step_and_continue(
            action,
            Why::new("OwnerMissing", "The data secret does not name its KubeadmConfig"),
        );
    }
    plan
}

/// The data is there: the token is kept alive as long as the node has not joined.
fn created(view: &View, keeps_token: bool) -> Plan<Action> {
    let mut plan = Plan::converged();
    if releases_lock(view) {
        release_lock(view, &mut plan);
    }
    if !keeps_token {
        return plan;
    }
    let basics = &view.basics;
    let check = Wake::After(basics.token_ttl / 3);
    plan.wakes(check, basics.now);
    match &view.materials.token {
        None => {}
        Some(Remote::Found(token)) => {
            let fresh = basics.now + basics.token_ttl * 5 / 6;
            if token.expires.is_none_or(|it| it <= fresh) {
                let action = Action::RefreshToken {
                    cluster: cluster_key(view),
                    id: token_id(view).unwrap_or_default(),
                    expires: basics.now + basics.token_ttl,
                    resource_version: token.resource_version.clone(),
                };
                plan.step(
                    action,
                    Why::new(
                        "TokenExpires",
                        "The bootstrap token ends before its host may have joined",
                    ),
                );
            }
        }
        Some(Remote::Absent) => plan.waits(Why::new(
            "TokenNotFound",
            "The bootstrap token is gone from the workload cluster; the host can join no longer",
        )),
        Some(Remote::Disconnected { .. } | Remote::NotTried(_)) => plan.waits(not_connected()),
    }
    plan
}

/// This Machine makes the cluster.
fn init(view: &View) -> Plan<Action> {
    let prepared = match prepare(view) {
        Ok(prepared) => prepared,
        Err(blocked) => {
            let mut plan = blocked_by(view, &blocked.message());
            // Another Machine may be able to make the cluster.
            if view.basics.holds_lock() {
                release_lock(view, &mut plan);
            }
            return plan;
        }
    };
    let (Some(cluster), Some(machine)) = (&view.basics.cluster, &view.basics.machine) else {
        return Plan::converged();
    };
    let mut plan = Plan::converged();
    if !view.basics.holds_lock() {
        if view.basics.lock.is_some() {
            release_lock(view, &mut plan);
        }
        let action = Action::AcquireLock {
            cluster: cluster_key(view),
            owner: owner::plain(&**cluster),
            machine: machine.name_any(),
        };
        plan.step(
            action,
            Why::new("InitLock", "The Machine is the first of the control plane"),
        );
    }
    if prepared.missing.is_empty() {
        let run = init_run(&view.basics.config.spec, &prepared, cluster, machine);
        store(view, &prepared, run, &mut plan);
        return plan;
    }
    for found in &prepared.missing {
        let action = Action::CreateCertificate {
            cluster: cluster_key(view),
            certificate: found.certificate.clone(),
            options: authority_options(&view.basics.config.spec),
            owner: owner::controller(&*view.basics.config),
        };
        plan.step(
            action,
            Why::new(
                "CertificateMissing",
                "The Cluster has no control plane object that makes it",
            ),
        );
    }
    plan
}

fn authority_options(spec: &KubeadmConfigSpec) -> AuthorityOptions {
    let days = spec.cluster_configuration.ca_certificate_validity_period_days;
    let algorithm = spec
        .cluster_configuration
        .encryption_algorithm
        .map_or("", |it| it.as_str());
    AuthorityOptions {
        validity_days: days.and_then(|it| u16::try_from(it).ok()).filter(|it| *it > 0),
        algorithm: algorithm.parse().unwrap_or_default(),
    }
}

fn init_run(
    spec: &KubeadmConfigSpec,
    prepared: &Prepared,
    cluster: &Cluster,
    machine: &Machine,
) -> KubeadmRun {
    let network = &cluster.spec.cluster_network;
    let joined = |ranges: &[String]| (!ranges.is_empty()).then(|| ranges.join(","));
    let endpoint = &cluster.spec.control_plane_endpoint;
    let facts = ClusterFacts {
        cluster_name: Some(cluster.name_any()),
        kubernetes_version: machine.spec.version.clone(),
        control_plane_endpoint: endpoint.is_valid().then(|| endpoint.to_string()),
        dns_domain: network.service_domain.clone(),
        service_subnet: joined(&network.services.cidr_blocks),
        pod_subnet: joined(&network.pods.cidr_blocks),
        control_plane_health_check_seconds: spec
            .init_configuration
            .timeouts
            .control_plane_component_health_check_seconds,
    };
    KubeadmRun::Init {
        cluster_configuration: cluster_configuration(prepared.api, &spec.cluster_configuration, &facts),
        init_configuration: init_configuration(prepared.api, &spec.init_configuration),
    }
}

/// This Machine joins a cluster that is there.
fn join(view: &View) -> Plan<Action> {
    let prepared = match prepare(view) {
        Ok(prepared) => prepared,
        Err(blocked) => return blocked_by(view, &blocked.message()),
    };
    let mut plan = Plan::converged();
    if releases_lock(view) {
        release_lock(view, &mut plan);
    }
    let completion = match completion(view) {
        Ok(completion) => completion,
        Err(why) => {
            plan.waits(why);
            plan.wakes(Wake::After(ENDPOINT_RETRY), view.basics.now);
            return plan;
        }
    };
    if completion.is_needed() {
        if completion.token.is_some()
            && view
                .materials
                .workload
                .as_ref()
                .is_none_or(|it| it.found().is_none())
        {
            plan.waits(not_connected());
            return plan;
        }
        let action = Action::CompleteDiscovery {
            config: view.basics.data_secret_key(),
            cluster: cluster_key(view),
            patch: completion.patch,
            token: completion.token,
        };
        plan.step(
            action,
            Why::new(
                "DiscoveryIncomplete",
                "The host needs a way to find and trust its cluster",
            ),
        );
        return plan;
    }
    store(view, &prepared, join_run(view, &prepared), &mut plan);
    plan.wakes(Wake::After(view.basics.token_ttl / 3), view.basics.now);
    plan
}

fn join_run(view: &View, prepared: &Prepared) -> KubeadmRun {
    let mut configuration = view.basics.config.spec.join_configuration.clone();
    if view.stage == Stage::JoinControlPlane {
        return KubeadmRun::JoinControlPlane {
            join_configuration: join_configuration(prepared.api, &configuration),
        };
    }
    // Taken off again once the Machine controller has labelled the Node, so it is not kept in the config.
    let taints = configuration.node_registration.taints.get_or_insert_default();
    let is_it = |it: &Taint| it.key == well_known::taint::NODE_UNINITIALIZED && it.effect == "NoSchedule";
    if !taints.iter().any(is_it) {
        taints.push(Taint {
            key: well_known::taint::NODE_UNINITIALIZED.to_owned(),
            effect: "NoSchedule".to_owned(),
            ..Taint::default()
        });
    }
    KubeadmRun::JoinWorker {
        join_configuration: join_configuration(prepared.api, &configuration),
    }
}

/// What the config's discovery lacks.
struct Completion {
    patch: Value,
    token: Option<Token>,
}

impl Completion {
    fn is_needed(&self) -> bool {
        self.token.is_some() || self.patch.as_object().is_some_and(|it| !it.is_empty())
    }
}

/// What is missing in `spec.joinConfiguration`, as a patch of it; what users gave is respected.
fn completion(view: &View) -> Result<Completion, Why> {
    let configuration = &view.basics.config.spec.join_configuration;
    let endpoint = view
        .basics
        .cluster
        .as_ref()
        .map(|it| &it.spec.control_plane_endpoint)
        .filter(|it| it.is_valid());
    let endpoint = || {
        endpoint.map(ToString::to_string).ok_or_else(|| {
            Why::new(
                "WaitingForControlPlaneEndpoint",
                "Waiting for Cluster spec.controlPlaneEndpoint to be set",
            )
        })
    };
    let authority = view
        .materials
        .pair(Purpose::ClusterAuthority)
        .map(|it| it.certificate.as_str());
    let mut patch = serde_json::Map::new();
    if view.stage == Stage::JoinControlPlane && configuration.control_plane.is_none() {
        patch.insert("controlPlane".to_owned(), json!({}));
    }
    if let Some(file) = &configuration.discovery.file {
        let mut cluster = serde_json::Map::new();
        if let Some(described) = &file.kube_config {
            if described.cluster.server.as_ref().is_none_or(String::is_empty) {
                cluster.insert("server".to_owned(), json!(format!("https://{}", endpoint()?)));
            }
            if described.cluster.certificate_authority_data.0.is_empty() {
                let data = k8s_openapi::ByteString(authority.unwrap_or_default().as_bytes().to_vec());
                cluster.insert("certificateAuthorityData".to_owned(), json!(data));
            }
        }
        if !cluster.is_empty() {
            patch.insert(
                "discovery".to_owned(),
                json!({ "file": { "kubeConfig": { "cluster": cluster } } }),
            );
        }
        return Ok(Completion {
            patch: patch.into(),
            token: None,
        });
    }
    let BootstrapTokenDiscovery {
        token,
        api_server_endpoint,
        ca_cert_hashes,
        unsafe_skip_ca_verification: _,
    } = &configuration.discovery.bootstrap_token;
    let is_missing = |it: &Option<String>| it.as_ref().is_none_or(String::is_empty);
    let mut by_token = serde_json::Map::new();
    if ca_cert_hashes.is_empty() {
        let hashes = capstan_pki::Certificate::all_from_pem(authority.unwrap_or_default().as_bytes());
        let hashes = hashes.map_err(|it| Why::new("CertificatesCorrupted", it.to_string()))?;
        let hashes: Vec<&str> = hashes
            .iter()
            .map(capstan_pki::Certificate::public_key_hash)
            .collect();
        by_token.insert("caCertHashes".to_owned(), json!(hashes));
    }
    if is_missing(api_server_endpoint) {
        by_token.insert("apiServerEndpoint".to_owned(), json!(endpoint()?));
    }
    if !by_token.is_empty() {
        patch.insert("discovery".to_owned(), json!({ "bootstrapToken": by_token }));
    }
    let token =
        is_missing(token).then(|| Token::of(&view.basics.config, view.basics.now + view.basics.token_ttl));
    Ok(Completion {
        patch: patch.into(),
        token,
    })
}

/// Adds the step that keeps the data, or the wait if it can't be rendered.
fn store(view: &View, prepared: &Prepared, run: KubeadmRun, plan: &mut Plan<Action>) {
    let config = &view.basics.config;
    let mut files = prepared.files.clone();
    if let Some(discovery) = &config.spec.join_configuration.discovery.file
        && !matches!(run, KubeadmRun::Init { .. })
    {
        files.extend(data::kubeconfig_file(discovery));
    }
    let host = HostData {
        spec: &config.spec,
        certificates: &prepared.certificates,
        files: &files,
        users: &prepared.users,
        run,
    };
    let action = Action::StoreData {
        secret: view.basics.data_secret_key(),
        cluster: cluster_key(view).name,
        owner: data_owner(view),
        data: Text::new(data::render(&host)),
    };
    plan.step(
        action,
        Why::new("DataMissing", "The Machine waits for its bootstrap data"),
    );
}

fn blocked_by(view: &View, message: &str) -> Plan<Action> {
    let mut plan = Plan::wait(Why::new("DataSecretGenerationFailed", message));
    plan.wakes(Wake::After(RETRY), view.basics.now);
    plan
}

/// Whether the lock has done its work: the cluster is there.
fn releases_lock(view: &View) -> bool {
    match view.stage {
        Stage::JoinControlPlane | Stage::JoinWorker => view.basics.lock.is_some(),
        Stage::Created { .. } => {
            let is_initialized = view
                .basics
                .cluster
                .as_ref()
                .is_some_and(|it| it.control_plane_initialized());
            is_initialized && view.basics.holds_lock()
        }
        _ => false,
    }
}

fn release_lock(view: &View, plan: &mut Plan<Action>) {
    let action = Action::ReleaseLock {
        cluster: cluster_key(view),
        preconditions: Preconditions {
            uid: view.basics.lock.as_ref().and_then(|it| it.uid.clone()),
            resource_version: None,
        },
    };
    plan.step_and_continue(
        action,
        Why::new(
            "InitLock",
            "The lock around the making of the cluster is not needed",
        ),
    );
}

fn not_connected() -> Why {
    Why::new(
        "WaitingForConnection",
        "Waiting for a connection to the workload cluster",
    )
}

/// The secret has to name the config as its controller, which a restored one may not do.
fn lost_owner(view: &View) -> Option<Action> {
    let secret = view.basics.data_secret.as_ref()?;
    let wanted = data_owner(view);
    let foreign = |it: &OwnerReference| it.controller == Some(true) && it.kind != wanted.kind;
    if secret.owners.iter().any(foreign) {
        return None;
    }
    Some(Action::AdoptData {
        secret: view.basics.data_secret_key(),
        owners: capstan_contract::with_owner(&secret.owners, &wanted)?,
        resource_version: secret.resource_version.clone(),
    })
}

fn data_owner(view: &View) -> OwnerReference {
    OwnerReference {
        block_owner_deletion: None,
        ..owner::controller(&*view.basics.config)
    }
}

fn cluster_key(view: &View) -> ObjectKey {
    view.basics
        .cluster
        .as_ref()
        .map(|it| ObjectKey::of(&**it))
        .unwrap_or_default()
}

/// The public half of the token that the config holds.
pub(super) fn token_id(view: &View) -> Option<String> {
    super::act::token_id_of(&view.basics.config)
}
