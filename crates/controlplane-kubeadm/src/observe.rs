//! Reads the snapshot of one KubeadmControlPlane.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use capstan_api::{
    bootstrap::{self, KubeadmConfig},
    controlplane::KubeadmControlPlane,
    core::{self, Cluster, ContractReference, Machine},
    owner, well_known,
};
use capstan_base::Clock;
use capstan_contract::{Providers, secrets, secrets::ClusterSecrets};
use capstan_engine::{Cache, Context, Lookup, ObjectKey};
use capstan_pki::{Algorithm, Authority, CertificateSet, KeySource, Purpose, Request};
use capstan_workload::{Connection, Remote, Workloads, etcd};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, ResourceExt};
use parking_lot::Mutex;

use crate::{
    adoption::Orphan,
    upkeep::{self, Half, Upkeep},
    view::{Component, Etcd, Kubeconfig, Member, View},
};

/// The user that etcd sees.
// Parity: upstream controlplane/kubeadm/pkg/cluster.go, common name of the etcd client certificate
const ETCD_USER: &str = "cluster-api.x-k8s.io";

/// A kubeconfig of ours is renewed when less than this is left: half a year.
const RENEWAL: Duration = Duration::from_secs(365 * 24 * 3600 / 2);

/// How long an etcd client certificate is used before a new one is issued.
const CREDENTIALS_LIFE: Duration = Duration::from_secs(24 * 3600);

/// How long what was seen in order inside a workload cluster is taken to be.
const SETTLED: Duration = Duration::from_secs(600);

/// What was seen in order inside a workload cluster: which half, for which generation, and until when that is believed.
type Settled = (Half, Option<i64>, capstan_base::Timestamp);

/// Etcd client credentials of one cluster, until when they are used, and the authority they were issued by.
struct Issued {
    credentials: etcd::Credentials,
    until: capstan_base::Timestamp,
    authority: String,
}

/// What the KubeadmControlPlane controller reads from.
pub(crate) struct Sources {
    pub clusters: Cache<Cluster>,
    pub machines: Cache<Machine>,
    pub configs: Cache<KubeadmConfig>,
    pub providers: Providers,
    pub secrets: ClusterSecrets,
    pub workloads: Workloads,
    pub keys: Arc<dyn KeySource>,
    pub clock: Arc<dyn Clock>,
    issued: Mutex<BTreeMap<ObjectKey, Issued>>,
    settled: Mutex<BTreeMap<ObjectKey, Settled>>,
}

impl std::fmt::Debug for Sources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sources").finish_non_exhaustive()
    }
}

impl Sources {
    #[expect(clippy::too_many_arguments, reason = "one argument per source")]
    pub(crate) fn new(
        clusters: Cache<Cluster>,
        machines: Cache<Machine>,
        configs: Cache<KubeadmConfig>,
        providers: Providers,
        secrets: ClusterSecrets,
        workloads: Workloads,
        keys: Arc<dyn KeySource>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            clusters,
            machines,
            configs,
            providers,
            secrets,
            workloads,
            keys,
            clock,
            issued: Mutex::default(),
            settled: Mutex::default(),
        }
    }

    /// The Cluster that owns a control plane.
    pub(crate) fn cluster_of(&self, control_plane: &KubeadmControlPlane) -> Option<Arc<Cluster>> {
        let reference = owner::of_kind(&control_plane.metadata, core::GROUP, Cluster::KIND)?;
        self.clusters.get(&ObjectKey::new(
            control_plane.namespace().unwrap_or_default(),
            &reference.name,
        ))
    }

    pub(crate) async fn view(&self, control_plane: Arc<KubeadmControlPlane>, context: &Context) -> View {
        self.clusters.synced().await;
        self.machines.synced().await;
        self.configs.synced().await;
        let namespace = control_plane.namespace().unwrap_or_default();
        let cluster = self.cluster_of(&control_plane);
        let name = cluster.as_ref().map(|it| it.name_any()).unwrap_or_default();
        let key = ObjectKey::new(&namespace, &name);
        let template = &control_plane.spec.machine_template.spec.infrastructure_ref;
        let connection = self.workloads.connection(&key);
        let workers = self
            .machines
            .in_namespace(&namespace)
            .iter()
            .filter(|it| {
                it.spec.cluster_name == name && !it.labels().contains_key(well_known::label::CONTROL_PLANE)
            })
            .count();
        let mut view = View {
            now: context.now,
            failures: context.failures,
            workers,
            infrastructure_template: self.providers.get(template, &namespace).await,
            certificates: self.certificates(&key, &control_plane).await,
            kubeconfig: self.kubeconfig(&key, &control_plane, context).await,
            kubeadm_config: kubeadm_config(&control_plane, &connection).await,
            etcd: Remote::Absent,
            upkeep: Upkeep::Settled,
            orphans: self.orphans(&control_plane, &key),
            unclaimed: self.unclaimed(&control_plane, &namespace).await,
            members: self.members(&control_plane, &namespace, &connection).await,
            control_plane,
            cluster,
        };
        view.etcd = self.etcd(&view, &key, &connection).await;
        self.upkeep(&mut view, key, &connection).await;
        view
    }

    /// Reads what is due inside the workload cluster, unless it was seen in order a short while ago.
    async fn upkeep(&self, view: &mut View, key: ObjectKey, connection: &Remote<Connection>) {
        let Some(half) = upkeep::due(view) else {
            return;
        };
        let generation = view.control_plane.metadata.generation;
        let is_known = |it: &Settled| it.0 == half && it.1 == generation && it.2 > view.now;
        if self.settled.lock().get(&key).is_some_and(is_known) {
            return;
        }
        view.upkeep = upkeep::read(half, &view.control_plane.spec.version, connection, view.now).await;
        let mut settled = self.settled.lock();
        if upkeep::is_settled(view) {
            settled.insert(key, (half, generation, view.now + SETTLED));
        } else {
            settled.remove(&key);
        }
    }

    /// The control plane machines of the cluster that have no controller. Those that are going are left alone.
    fn orphans(&self, control_plane: &KubeadmControlPlane, cluster: &ObjectKey) -> Vec<Orphan> {
        if control_plane.metadata.deletion_timestamp.is_some() {
            return Vec::new();
        }
        let mut machines = self.machines.in_namespace(&cluster.namespace);
        machines.retain(|it| {
            it.spec.cluster_name == cluster.name
                && it.labels().contains_key(well_known::label::CONTROL_PLANE)
                && owner::controller_of(&it.metadata).is_none()
                && it.metadata.deletion_timestamp.is_none()
        });
        machines
            .into_iter()
            .map(|machine| {
                let reference = machine.spec.bootstrap.config_ref.as_ref();
                let reference = reference.filter(|it| it.kind == KubeadmConfig::KIND);
                let config =
                    reference.and_then(|it| self.configs.get(&ObjectKey::new(&*cluster.namespace, &it.name)));
                Orphan {
                    secrets: config
                        .as_ref()
                        .map(|it| self.secrets_of(it, cluster))
                        .unwrap_or_default(),
                    config,
                    machine,
                }
            })
            .collect()
    }

    /// What earlier attempts to make a Machine have left behind.
    async fn unclaimed(&self, control_plane: &KubeadmControlPlane, namespace: &str) -> Vec<String> {
        let hosts = &control_plane.spec.machine_template.spec.infrastructure_ref;
        let configs = ContractReference::new(bootstrap::GROUP, KubeadmConfig::KIND, "");
        let uid = control_plane.uid().unwrap_or_default();
        self.providers
            .unclaimed(&[hosts, &configs], namespace, &uid, &self.machines)
            .await
    }

    /// The secrets of a cluster that belong to a KubeadmConfig, its bootstrap data left out.
    fn secrets_of(&self, config: &KubeadmConfig, cluster: &ObjectKey) -> Vec<Arc<Secret>> {
        let data = config.status.as_ref().and_then(|it| it.data_secret_name.clone());
        let mut secrets = self.secrets.cache().in_namespace(&cluster.namespace);
        secrets.retain(|it| {
            owner::is_owned_by(&it.metadata, config)
                && it.labels().get(well_known::label::CLUSTER_NAME) == Some(&cluster.name)
                && Some(it.name_any()) != data
        });
        secrets
    }

    async fn members(
        &self,
        control_plane: &KubeadmControlPlane,
        namespace: &str,
        connection: &Remote<Connection>,
    ) -> Vec<Member> {
        let mut members = Vec::new();
        for machine in self.machines.owned_by(&control_plane.uid().unwrap_or_default()) {
            let config = machine.spec.bootstrap.config_ref.as_ref();
            let config = config.and_then(|it| self.configs.get(&ObjectKey::new(namespace, &it.name)));
            let node = machine
                .status
                .as_ref()
                .and_then(|it| it.node_ref.as_ref())
                .map(|it| it.name.clone());
            let pods = node.iter().flat_map(|node| {
                let pod = move |it: Component| {
                    (
                        it,
                        connection
                            .clone()
                            .and_then(|connection| connection.static_pod(it.pod(), node)),
                    )
                };
                Component::ALL.into_iter().map(pod)
            });
            members.push(Member {
                infrastructure: self
                    .providers
                    .get(&machine.spec.infrastructure_ref, namespace)
                    .await,
                config: config.into(),
                pods: pods.collect(),
                node: match &node {
                    Some(node) => connection.clone().and_then(|it| it.node(node)),
                    None => Remote::Absent,
                },
                machine,
            });
        }
        members
    }

    async fn certificates(
        &self,
        cluster: &ObjectKey,
        control_plane: &KubeadmControlPlane,
    ) -> BTreeMap<Purpose, Lookup<()>> {
        let mut found = BTreeMap::new();
        for certificate in certificate_set(control_plane).0 {
            let secret = self.secrets.get(cluster, certificate.purpose).await;
            let usable = match secret {
                Lookup::Found(secret) => match secrets::key_pair(&secret) {
                    Some(pair) if certificate.missing_part(&pair).is_none() => Lookup::Found(()),
                    _ => Lookup::Absent,
                },
                Lookup::Absent => Lookup::Absent,
                Lookup::Unreadable(why) => Lookup::Unreadable(why),
            };
            found.insert(certificate.purpose, usable);
        }
        found
    }

    async fn kubeconfig(
        &self,
        cluster: &ObjectKey,
        control_plane: &KubeadmControlPlane,
        context: &Context,
    ) -> Lookup<Kubeconfig> {
        self.secrets
            .get(cluster, Purpose::Kubeconfig)
            .await
            .map(|secret| {
                let ours = owner::is_controlled_by(&secret.metadata, control_plane);
                let text = secrets::kubeconfig(&secret).and_then(|it| std::str::from_utf8(it).ok());
                let expiry = text.and_then(|it| {
                    capstan_pki::Kubeconfig::parse(it)
                        .ok()?
                        .first_expiry()
                        .ok()
                        .flatten()
                });
                Kubeconfig {
                    needs_renewal: ours && expiry.is_some_and(|it| it < context.now + RENEWAL),
                }
            })
    }

    /// Asks etcd, through a machine whose etcd pod runs.
    async fn etcd(&self, view: &View, cluster: &ObjectKey, connection: &Remote<Connection>) -> Remote<Etcd> {
        if !view.has_stacked_etcd() || !view.is_initialized() {
            return Remote::Absent;
        }
        let connection = match connection {
            Remote::Found(connection) => connection,
            other => return other.as_ref().and_then(|_| Remote::Absent),
        };
        let down = |why: String| Remote::Disconnected { since: view.now, why };
        let credentials = match self.credentials(cluster, view).await {
            Ok(credentials) => credentials,
            Err(why) => return down(why),
        };
        let mut last = "no machine with a running etcd pod to ask".to_owned();
        let healthy = |it: &&Member| it.health(Component::Etcd).is_some_and(|it| it.status == "True");
        for member in view.members.iter().filter(healthy) {
            let Some(node) = member.node_name() else { continue };
            match ask(connection, node, &credentials).await {
                Ok(etcd) => return Remote::Found(etcd),
                Err(error) => last = error.to_string(),
            }
        }
        down(last)
    }

    /// Credentials for a cluster's etcd, issued by its authority and kept for a day.
    pub(crate) async fn credentials(
        &self,
        cluster: &ObjectKey,
        view: &View,
    ) -> Result<etcd::Credentials, String> {
        let secret = self.secrets.get(cluster, Purpose::EtcdAuthority).await;
        let pair = secret
            .found()
            .and_then(secrets::key_pair)
            .ok_or("the etcd authority is not there")?;
        if let Some(issued) = self.issued.lock().get(cluster)
            && issued.until > view.now
            && issued.authority == pair.certificate
        {
            return Ok(issued.credentials.clone());
        }
        let fail = |it: capstan_pki::Error| it.to_string();
        let authority =
            Authority::from_pem(pair.certificate.as_bytes(), pair.key.expose().as_bytes()).map_err(fail)?;
        let request = Request::client(ETCD_USER, None);
        let identity = authority
            .issue(&request, Algorithm::EcdsaP256, view.now, &*self.keys)
            .map_err(fail)?;
        let key = identity.key.to_pem().map_err(fail)?;
        let credentials = etcd::Credentials::new(
            pair.certificate.as_bytes(),
            identity.certificate.to_pem().as_bytes(),
            key.expose().as_bytes(),
            Arc::clone(&self.clock),
        )
        .map_err(|it| it.to_string())?;
        let issued = Issued {
            credentials: credentials.clone(),
            until: view.now + CREDENTIALS_LIFE,
            authority: pair.certificate,
        };
        self.issued.lock().insert(cluster.clone(), issued);
        Ok(credentials)
    }
}

/// The pairs that this control plane's hosts need.
pub(crate) fn certificate_set(control_plane: &KubeadmControlPlane) -> CertificateSet {
    let configuration = &control_plane.spec.kubeadm_config_spec.cluster_configuration;
    let external = configuration
        .etcd
        .external
        .as_ref()
        .map(|it| capstan_pki::ExternalEtcdFiles {
            authority: it.ca_file.clone(),
            certificate: it.cert_file.clone(),
            key: it.key_file.clone(),
        });
    CertificateSet::for_control_plane(configuration.certificates_dir.as_deref(), external.as_ref())
}

/// Whether kubeadm's configuration is in the workload cluster; asked only until it was seen once.
async fn kubeadm_config(control_plane: &KubeadmControlPlane, connection: &Remote<Connection>) -> Remote<()> {
    let recorded = control_plane
        .status
        .as_ref()
        .and_then(|it| it.initialization.control_plane_initialized);
    if recorded == Some(true) {
        return Remote::Found(());
    }
    let connection = match connection {
        Remote::Found(connection) => connection,
        other => return other.as_ref().map(|_| ()),
    };
    let maps: Api<ConfigMap> = Api::namespaced(connection.client().clone(), "kube-system");
    match maps.get_opt("kubeadm-config").await {
        Ok(Some(_)) => Remote::Found(()),
        Ok(None) | Err(_) => Remote::Absent,
    }
}

async fn ask(
    connection: &Connection,
    node: &str,
    credentials: &etcd::Credentials,
) -> Result<Etcd, etcd::Error> {
    let client =
        etcd::Client::connect(connection.client(), node, credentials, etcd::Limits::default()).await?;
    let members = client.members().await?;
    let status = client.status().await?;
    let alarms = client.alarms().await?;
    Ok(Etcd {
        members: members.members,
        alarms,
        leader: status.leader,
    })
}
