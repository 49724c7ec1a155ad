//! Reads the snapshot of one KubeadmConfig, in two rounds: what decides the stage, then what the stage needs.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use capstan_api::{
    bootstrap::{ContentFormat, ExternalEtcd, KubeadmConfig},
    core::{Cluster, Machine},
    owner, well_known,
};
use capstan_base::{Entropy, Timestamp};
use capstan_contract::{
    Providers,
    secrets::{ClusterSecrets, key_pair},
};
use capstan_engine::{Cache, Context, Lookup, ObjectKey, ReadFailure};
use capstan_pki::{CertificateSet, ExternalEtcdFiles, KeySource, Secret as Text};
use capstan_workload::{Remote, Workloads};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, Client, ResourceExt};

use super::{
    act::{LOCK_INFORMATION, TOKEN_EXPIRATION, token_id_of, token_secret_name, token_secrets},
    stage::{Stage, stage},
    view::{Basics, DataSecret, FoundCertificate, InitLock, Materials, TokenSecret, View},
};

/// What the KubeadmConfig controller reads from and makes keys with.
pub(super) struct Sources {
    pub clusters: Cache<Cluster>,
    pub machines: Cache<Machine>,
    pub locks: Cache<ConfigMap>,
    pub secrets: ClusterSecrets,
    pub providers: Providers,
    pub workloads: Workloads,
    pub client: Client,
    pub keys: Arc<dyn KeySource>,
    pub entropy: Arc<dyn Entropy>,
    pub token_ttl: Duration,
}

impl std::fmt::Debug for Sources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sources").finish_non_exhaustive()
    }
}

impl Sources {
    /// The Machine that owns a config, and its Cluster.
    pub(super) fn owners(&self, config: &KubeadmConfig) -> (Option<Arc<Machine>>, Option<Arc<Cluster>>) {
        let namespace = config.namespace().unwrap_or_default();
        let machine = owner::of_kind(&config.metadata, capstan_api::core::GROUP, Machine::KIND)
            .and_then(|it| self.machines.get(&ObjectKey::new(&namespace, &it.name)));
        let cluster = machine.as_ref().and_then(|it| {
            self.clusters
                .get(&ObjectKey::new(&namespace, &it.spec.cluster_name))
        });
        (machine, cluster)
    }

    pub(super) async fn view(&self, config: Arc<KubeadmConfig>, context: &Context) -> View {
        self.clusters.synced().await;
        self.machines.synced().await;
        self.locks.synced().await;
        self.secrets.cache().synced().await;
        let (machine, cluster) = self.owners(&config);
        let basics = Basics {
            now: context.now,
            token_ttl: self.token_ttl,
            lock: cluster.as_ref().and_then(|it| self.lock(&ObjectKey::of(&**it))),
            data_secret: self
                .secrets
                .cache()
                .get(&ObjectKey::of(&*config))
                .map(|it| data_secret(&it)),
            machine,
            cluster,
            config,
        };
        let stage = stage(&basics);
        let materials = self.materials(&basics, &stage).await;
        View {
            basics,
            stage,
            materials,
        }
    }

    fn lock(&self, cluster: &ObjectKey) -> Option<InitLock> {
        let lock = self.locks.get(&ObjectKey::new(
            &cluster.namespace,
            well_known::init_lock_name(&cluster.name),
        ))?;
        let holder = lock_holder(&lock);
        let machine = holder
            .as_ref()
            .and_then(|it| self.machines.get(&ObjectKey::new(&cluster.namespace, it)));
        Some(InitLock {
            uid: lock.uid(),
            holder,
            holder_exists: machine.is_some(),
        })
    }

    async fn materials(&self, basics: &Basics, stage: &Stage) -> Materials {
        match stage {
            Stage::Init | Stage::JoinControlPlane | Stage::JoinWorker => {
                self.for_rendering(basics, stage).await
            }
            Stage::Created { keeps_token: true } => Materials {
                token: self.token(basics).await,
                ..Materials::default()
            },
            _ => Materials::default(),
        }
    }

    async fn for_rendering(&self, basics: &Basics, stage: &Stage) -> Materials {
        let spec = &basics.config.spec;
        let Some(cluster) = &basics.cluster else {
            return Materials::default();
        };
        let key = ObjectKey::of(&**cluster);
        let set = match stage {
            Stage::JoinWorker => CertificateSet::for_worker(spec.join_configuration.ca_cert_path.as_deref()),
            _ => {
                let external = spec
                    .cluster_configuration
                    .etcd
                    .external
                    .as_ref()
                    .map(external_files);
                let directory = spec.cluster_configuration.certificates_dir.as_deref();
                CertificateSet::for_control_plane(directory, external.as_ref())
            }
        };
        let mut certificates = Vec::new();
        for certificate in set.0 {
            let secret = self.secrets.get(&key, certificate.purpose).await;
            // A secret without a certificate is found, and found wanting.
            let pair = secret.map(|it| key_pair(&it).unwrap_or_default());
            certificates.push(FoundCertificate { certificate, pair });
        }
        let uses_templates = spec
            .files
            .iter()
            .any(|it| it.content_format == Some(ContentFormat::Template));
        let control_plane = cluster
            .spec
            .control_plane_ref
            .as_ref()
            .filter(|it| uses_templates && it.is_defined());
        let control_plane_version = match control_plane {
            None => None,
            Some(reference) => match self.providers.get(reference, &key.namespace).await {
                Lookup::Found(found) => match found.control_plane().version() {
                    Ok(version) => version.map(Ok),
                    Err(why) => Some(Err(ReadFailure(why.to_string()))),
                },
                Lookup::Absent => Some(Err(ReadFailure(format!(
                    "{} {} does not exist",
                    reference.kind, reference.name
                )))),
                Lookup::Unreadable(why) => Some(Err(why)),
            },
        };
        let workload = (*stage != Stage::Init).then(|| self.workloads.connection(&key).map(|_| ()));
        Materials {
            certificates,
            references: self.references(basics, &key.namespace).await,
            control_plane_version,
            token: None,
            workload,
        }
    }

    /// What the keys of secrets hold that files and users refer to.
    async fn references(
        &self,
        basics: &Basics,
        namespace: &str,
    ) -> BTreeMap<(String, String), Result<Text, String>> {
        let secrets = Api::<Secret>::namespaced(self.client.clone(), namespace);
        let mut found = BTreeMap::new();
        for reference in basics.references() {
            let id = (reference.name.clone(), reference.key.clone());
            if found.contains_key(&id) {
                continue;
            }
            let name = &reference.name;
            let content = match secrets.get_opt(name).await {
                Ok(Some(secret)) => key_of(&secret, &reference.key),
                Ok(None) => Err(format!("secret not found: {namespace}/{name}")),
                Err(error) => Err(format!(
                    "failed to retrieve Secret \"{namespace}/{name}\": {error}"
                )),
            };
            found.insert(id, content);
        }
        found
    }

    /// The token in the workload cluster. It is not read while it cannot be due yet, judged by the age of the data.
    async fn token(&self, basics: &Basics) -> Option<Remote<TokenSecret>> {
        let created = basics.data_secret.as_ref().and_then(|it| it.created);
        if created.is_some_and(|it| basics.now < it + self.token_ttl / 6) {
            return None;
        }
        let id = token_id_of(&basics.config)?;
        let cluster = basics.cluster.as_ref().map(|it| ObjectKey::of(&**it))?;
        Some(match self.workloads.connection(&cluster) {
            Remote::Found(connection) => {
                match token_secrets(connection.client())
                    .get_opt(&token_secret_name(&id))
                    .await
                {
                    Ok(secret) => secret.map(|it| token_secret(&it)).into(),
                    Err(error) => Remote::Disconnected {
                        since: basics.now,
                        why: error.to_string(),
                    },
                }
            }
            other => other.and_then(|_| Remote::Absent),
        })
    }
}

/// The Machine that holds a lock.
pub(super) fn lock_holder(lock: &ConfigMap) -> Option<String> {
    let information = lock.data.as_ref()?.get(LOCK_INFORMATION)?;
    let information: serde_json::Value = serde_json::from_str(information).ok()?;
    information.get("machineName")?.as_str().map(str::to_owned)
}

fn data_secret(secret: &Secret) -> DataSecret {
    DataSecret {
        owners: secret.owner_references().to_vec(),
        resource_version: secret.resource_version(),
        created: secret.creation_timestamp().map(|it| it.0),
    }
}

fn token_secret(secret: &Secret) -> TokenSecret {
    let expires = secret.data.as_ref().and_then(|it| it.get(TOKEN_EXPIRATION));
    let expires = expires.and_then(|it| std::str::from_utf8(&it.0).ok()?.parse::<Timestamp>().ok());
    TokenSecret {
        expires,
        resource_version: secret.resource_version(),
    }
}

fn key_of(secret: &Secret, key: &str) -> Result<Text, String> {
    let content = secret.data.as_ref().and_then(|it| it.get(key));
    let content = content.ok_or_else(|| format!("secret references non-existent secret key: {key:?}"))?;
    String::from_utf8(content.0.clone())
        .map(Text::new)
        .map_err(|_| format!("secret key {key:?} does not hold text"))
}

fn external_files(etcd: &ExternalEtcd) -> ExternalEtcdFiles {
    ExternalEtcdFiles {
        authority: etcd.ca_file.clone(),
        certificate: etcd.cert_file.clone(),
        key: etcd.key_file.clone(),
    }
}
