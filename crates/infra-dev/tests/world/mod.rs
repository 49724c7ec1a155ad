//! A management plane in memory with the dev provider's controllers, under virtual time, and helpers that stand in
//! for the core controllers.

use std::{future::Future, net::Ipv4Addr, path::PathBuf, sync::Arc, time::Duration};

use capstan_api::{
    condition,
    core::{Cluster, Conditioned as _, Machine},
    crd,
    infrastructure::{DevCluster, DevMachine},
};
use capstan_apiserver::{Identity, Server};
use capstan_base::{Clock, SeededEntropy, SystemClock, Timestamp};
use capstan_engine::{Engine, EngineSettings, ObjectKey, RuntimeClock};
use capstan_infra_dev::{
    backend::{Backend, Exposure, Settings},
    dev_cluster, dev_machine,
};
use capstan_pki::{Algorithm, Authority, Kubeconfig, UniformKeys};
use capstan_store::{Options, Store};
use capstan_workload::{Connector, PipeConnector};
use k8s_openapi::{
    api::core::v1::Secret, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{Patch, PatchParams, PostParams},
    core::NamespaceResourceScope,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

pub(crate) const NAMESPACE: &str = "default";
pub(crate) const TOKEN: &str = "abcdef.0123456789abcdef";

/// How long each part of a machine takes.
#[derive(Clone, Copy)]
struct Timings {
    vm: &'static str,
    node: &'static str,
    etcd: &'static str,
    api_server: &'static str,
}

pub(crate) struct World {
    pub(crate) client: Client,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) backend: Backend,
    pub(crate) engine: Engine,
    keys: Arc<UniformKeys>,
    entropy: Arc<SeededEntropy>,
    settings: Settings,
    timings: Timings,
    authority: Authority,
    pub(crate) etcd_authority: Authority,
}

/// The kinds that are written here.
pub(crate) trait Kind:
    Resource<DynamicType = (), Scope = NamespaceResourceScope>
    + Serialize
    + DeserializeOwned
    + Clone
    + std::fmt::Debug
    + Send
    + Sync
    + 'static
{
}
impl<K> Kind for K where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Serialize
        + DeserializeOwned
        + Clone
        + std::fmt::Debug
        + Send
        + Sync
        + 'static
{
}

impl World {
    /// A management plane with the definitions of all kinds and the controllers running, on the runtime's clock.
    pub(crate) async fn new() -> Self {
        let start: Timestamp = "2030-01-01T00:00:00Z".parse().expect("a time");
        let timings = Timings {
            vm: "10s",
            node: "2s",
            etcd: "3s",
            api_server: "4s",
        };
        Self::with(
            Arc::new(RuntimeClock::starting_at(start)),
            Exposure::InProcess,
            None,
            timings,
        )
        .await
    }

    /// The same with clusters that listen on sockets, keep their objects in `data`, and boot at once, on the machine's
    /// own clock.
    pub(crate) async fn live(data: PathBuf) -> Self {
        let exposure = Exposure::Sockets(Ipv4Addr::LOCALHOST.into());
        let timings = Timings {
            vm: "0s",
            node: "0s",
            etcd: "0s",
            api_server: "0s",
        };
        Self::with(Arc::new(SystemClock), exposure, Some(data), timings).await
    }

    async fn with(
        clock: Arc<dyn Clock>,
        exposure: Exposure,
        data: Option<PathBuf>,
        timings: Timings,
    ) -> Self {
        let start = clock.now();
        let entropy = Arc::new(SeededEntropy::new(1));
        let keys = Arc::new(UniformKeys::new(entropy.clone()));
        let store = Store::memory(Options::new(clock.clone()));
        let server = Server::builder(store, clock.clone(), entropy.clone())
            .build()
            .await
            .expect("a server");
        let client = Client::new(server.service(Identity::internal("test")), NAMESPACE);
        let needed = ["Cluster", "Machine", DevCluster::KIND, DevMachine::KIND];
        let definitions = crd::kinds()
            .iter()
            .filter(|it| needed.contains(&it.kind.as_str()));
        for definition in definitions.map(crd::Definition::to_value) {
            let definition: CustomResourceDefinition =
                serde_json::from_value(definition).expect("a definition");
            let created = Api::all(client.clone())
                .create(&PostParams::default(), &definition)
                .await;
            created.expect("the definition is accepted");
        }
        let authority = |name| {
            let validity = jiff::SignedDuration::from_hours(87_600);
            Authority::generate(name, Algorithm::EcdsaP256, validity, start, &*keys).expect("an authority")
        };
        let settings = Settings {
            clock: clock.clone(),
            entropy: entropy.clone(),
            keys: keys.clone(),
            exposure,
            advertise: "127.0.0.1".to_owned(),
            ports: Settings::PORTS,
            data,
        };
        let mut world = Self {
            backend: Backend::new(settings.clone()),
            settings,
            timings,
            engine: Engine::new(EngineSettings::live(
                client.clone(),
                clock.clone(),
                entropy.clone(),
            )),
            authority: authority("kubernetes"),
            etcd_authority: authority("etcd"),
            client,
            clock,
            keys,
            entropy,
        };
        world.run();
        world
    }

    fn run(&mut self) {
        dev_cluster::wire(&self.engine, &self.backend);
        dev_machine::wire(&self.engine, &self.backend);
    }

    /// Forgets everything that the process held in memory and starts it again over the same management plane.
    pub(crate) async fn restart(&mut self) {
        self.engine.close().await;
        self.backend = Backend::new(self.settings.clone());
        let settings = EngineSettings::live(self.client.clone(), self.clock.clone(), self.entropy.clone());
        self.engine = Engine::new(settings);
        self.run();
    }

    pub(crate) fn api<K: Kind>(&self) -> Api<K> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    pub(crate) async fn get<K: Kind>(&self, name: &str) -> Option<K> {
        self.api().get_opt(name).await.expect("readable")
    }

    async fn create<K: Kind>(&self, object: Value) -> K {
        let object: K = serde_json::from_value(object).expect("an object");
        self.api()
            .create(&PostParams::default(), &object)
            .await
            .expect("created")
    }

    pub(crate) async fn patch_status<K: Kind>(&self, name: &str, status: Value) {
        let patch = Patch::Merge(json!({ "status": status }));
        self.api::<K>()
            .patch_status(name, &PatchParams::default(), &patch)
            .await
            .expect("patched");
    }

    /// Waits until `check` holds, for two virtual minutes at most; says how many seconds it took.
    pub(crate) async fn eventually<F: Future<Output = bool>>(
        &self,
        what: &str,
        check: impl Fn() -> F,
    ) -> u64 {
        let start = self.clock.now();
        let seconds = || self.clock.now().duration_since(start).as_secs().unsigned_abs();
        while !check().await {
            assert!(seconds() < 120, "never: {what}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        seconds()
    }

    /// A Cluster with its DevCluster and its authorities, provisioned as the Cluster controller would say.
    pub(crate) async fn cluster(&self) {
        let reference =
            json!({ "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DevCluster", "name": "c1" });
        let cluster: Cluster = self
            .create(json!({
                "apiVersion": "cluster.x-k8s.io/v1beta2",
                "kind": "Cluster",
                "metadata": { "name": "c1" },
                "spec": { "infrastructureRef": reference },
            }))
            .await;
        for (name, authority) in [("c1-ca", &self.authority), ("c1-etcd", &self.etcd_authority)] {
            let data = json!({
                "tls.crt": authority.certificate().to_pem(),
                "tls.key": authority.key().to_pem().expect("a key").expose(),
            });
            self.secret(name, data).await;
        }
        self.create::<DevCluster>(json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
            "kind": "DevCluster",
            "metadata": { "name": "c1", "labels": { "cluster.x-k8s.io/cluster-name": "c1" },
                          "ownerReferences": [owner("Cluster", "c1", &cluster.uid().expect("a uid"))] },
            "spec": { "backend": { "inMemory": {} } },
        }))
        .await;
        self.eventually("the DevCluster is provisioned", async || {
            self.get::<DevCluster>("c1")
                .await
                .is_some_and(|it| it.is_provisioned())
        })
        .await;
        let status = json!({ "initialization": { "infrastructureProvisioned": true } });
        self.patch_status::<Cluster>("c1", status).await;
    }

    async fn secret(&self, name: &str, data: Value) {
        self.create::<Secret>(json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": { "name": name, "labels": { "cluster.x-k8s.io/cluster-name": "c1" } },
            "stringData": data,
        }))
        .await;
    }

    /// A Machine with its DevMachine and bootstrap data.
    pub(crate) async fn machine(&self, name: &str, is_control_plane: bool, data: &str) {
        self.secret(&format!("{name}-data"), json!({ "value": data }))
            .await;
        let mut labels = json!({ "cluster.x-k8s.io/cluster-name": "c1" });
        if is_control_plane {
            labels["cluster.x-k8s.io/control-plane"] = json!("");
        }
        let machine: Machine = self
            .create(json!({
                "apiVersion": "cluster.x-k8s.io/v1beta2",
                "kind": "Machine",
                "metadata": { "name": name, "labels": labels },
                "spec": {
                    "clusterName": "c1",
                    "version": "v1.34.1",
                    "bootstrap": { "dataSecretName": format!("{name}-data") },
                    "infrastructureRef": {
                        "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DevMachine", "name": name,
                    },
                },
            }))
            .await;
        let taking = |seconds: &str| json!({ "provisioning": { "startupDuration": seconds } });
        self.create::<DevMachine>(json!({
            "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
            "kind": "DevMachine",
            "metadata": { "name": name, "labels": labels,
                          "ownerReferences": [owner("Machine", name, &machine.uid().expect("a uid"))] },
            "spec": { "backend": { "inMemory": {
                "vm": taking(self.timings.vm),
                "node": taking(self.timings.node),
                "etcd": taking(self.timings.etcd),
                "apiServer": taking(self.timings.api_server),
            } } },
        }))
        .await;
    }

    /// Waits until a DevMachine is ready; says how many seconds it took.
    pub(crate) async fn ready(&self, name: &str) -> u64 {
        self.eventually(&format!("{name} is ready"), async || {
            self.has(name, "Ready", "True", "Ready").await
        })
        .await
    }

    pub(crate) async fn has(&self, name: &str, type_: &str, status: &str, reason: &str) -> bool {
        let machine = self.get::<DevMachine>(name).await;
        machine.is_some_and(|it| {
            condition::find(it.conditions(), type_)
                .is_some_and(|it| it.status == status && it.reason == reason)
        })
    }

    /// A client of the workload cluster through a pipe, as an administrator's kubeconfig gives it.
    pub(crate) async fn workload(&self) -> Client {
        self.workload_through(PipeConnector::new(Arc::new(self.backend.clone())))
            .await
    }

    /// A client of the workload cluster, as an administrator's kubeconfig gives it.
    pub(crate) async fn workload_through(&self, connector: impl Connector) -> Client {
        let dev_cluster = self.get::<DevCluster>("c1").await.expect("a DevCluster");
        let server = format!("https://{}", dev_cluster.spec.control_plane_endpoint);
        let now = self.clock.now();
        let kubeconfig = Kubeconfig::for_administrator(
            "c1",
            &server,
            &self.authority,
            Algorithm::EcdsaP256,
            now,
            &*self.keys,
        )
        .expect("a kubeconfig");
        let yaml = kubeconfig.to_yaml().expect("yaml");
        connector
            .connect(yaml.expose().as_bytes())
            .await
            .expect("a client")
    }

    /// Credentials of an etcd client.
    pub(crate) fn etcd_credentials(&self) -> capstan_workload::etcd::Credentials {
        let request = capstan_pki::Request::client("cluster-api.x-k8s.io", None);
        let identity = self
            .etcd_authority
            .issue(&request, Algorithm::EcdsaP256, self.clock.now(), &*self.keys)
            .expect("a certificate");
        capstan_workload::etcd::Credentials::new(
            self.etcd_authority.certificate().to_pem().as_bytes(),
            identity.certificate.to_pem().as_bytes(),
            identity.key.to_pem().expect("a key").expose().as_bytes(),
            self.clock.clone(),
        )
        .expect("credentials")
    }
}

fn owner(kind: &str, name: &str, uid: &str) -> Value {
    json!({ "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": kind, "name": name, "uid": uid })
}

/// What the kubeadm bootstrap provider would write for the first machine.
pub(crate) fn init() -> String {
    format!(
        "#cloud-config\nwrite_files:\n- path: /run/kubeadm/kubeadm.yaml\n  content: |\n    kind: ClusterConfiguration\n    \
         clusterName: c1\n    ---\n    kind: InitConfiguration\n    bootstrapTokens:\n    - token: {TOKEN}\n"
    )
}

/// What it would write for a further machine.
pub(crate) fn join(token: &str) -> String {
    format!(
        "#cloud-config\nwrite_files:\n- path: /run/kubeadm/kubeadm-join-config.yaml\n  content: |\n    \
         kind: JoinConfiguration\n    discovery:\n      bootstrapToken:\n        token: {token}\n"
    )
}

/// The Cluster's key.
pub(crate) fn key() -> ObjectKey {
    ObjectKey::new(NAMESPACE, "c1")
}
