//! The secrets of a cluster: its certificate authorities and its kubeconfig, as objects.

use std::collections::BTreeMap;

use capstan_api::well_known;
use capstan_engine::{Cache, Engine, Lookup, ObjectKey, ReadFailure, Source};
use capstan_pki::{KeyPairPem, Purpose, Secret as Text};
use k8s_openapi::{
    ByteString,
    api::core::v1::Secret,
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
};
use kube::{Api, Client};

/// The key of a certificate in a secret.
const CERTIFICATE: &str = "tls.crt";
/// The key of a private key in a secret.
const PRIVATE_KEY: &str = "tls.key";
/// The key of a kubeconfig in a secret.
const VALUE: &str = "value";

/// The way to clusters' secrets: a cache of those that carry the cluster's label, and the server for those that users
/// made without it.
#[derive(Clone)]
pub struct ClusterSecrets {
    cache: Cache<Secret>,
    client: Client,
}

impl std::fmt::Debug for ClusterSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClusterSecrets").finish_non_exhaustive()
    }
}

impl ClusterSecrets {
    /// The secrets as `engine` sees them.
    pub fn new(engine: &Engine) -> Self {
        Self {
            cache: engine.cache_of(Self::source()),
            client: engine.client().clone(),
        }
    }

    /// Which secrets are cached: those with the cluster's label.
    pub fn source() -> Source {
        Source {
            label_selector: Some(well_known::label::CLUSTER_NAME.to_owned()),
            namespace: None,
        }
    }

    /// The cache, for subscriptions.
    pub fn cache(&self) -> &Cache<Secret> {
        &self.cache
    }

    /// One secret of a cluster.
    pub async fn get(&self, cluster: &ObjectKey, purpose: Purpose) -> Lookup<Secret> {
        self.cache.synced().await;
        let key = ObjectKey::new(&cluster.namespace, purpose.secret_name(&cluster.name));
        if let Some(secret) = self.cache.get(&key) {
            return Lookup::Found((*secret).clone());
        }
        match Api::<Secret>::namespaced(self.client.clone(), &key.namespace)
            .get_opt(&key.name)
            .await
        {
            Ok(found) => found.into(),
            Err(error) => Lookup::Unreadable(ReadFailure(format!("failed to read Secret {key}: {error}"))),
        }
    }
}

/// The pair in a secret; none if it has no certificate.
pub fn key_pair(secret: &Secret) -> Option<KeyPairPem> {
    let text = |key: &str| -> Option<String> {
        String::from_utf8(secret.data.as_ref()?.get(key)?.0.clone())
            .ok()
            .filter(|it| !it.is_empty())
    };
    Some(KeyPairPem {
        certificate: text(CERTIFICATE)?,
        key: Text::new(text(PRIVATE_KEY).unwrap_or_default()),
    })
}

/// The kubeconfig in a secret.
pub fn kubeconfig(secret: &Secret) -> Option<&[u8]> {
    Some(secret.data.as_ref()?.get(VALUE)?.0.as_slice()).filter(|it| !it.is_empty())
}

/// The secret that holds a pair.
pub fn key_pair_secret(
    cluster: &ObjectKey,
    purpose: Purpose,
    pair: &KeyPairPem,
    owner: OwnerReference,
) -> Secret {
    let data = BTreeMap::from([
        (
            CERTIFICATE.to_owned(),
            ByteString(pair.certificate.clone().into_bytes()),
        ),
        (
            PRIVATE_KEY.to_owned(),
            ByteString(pair.key.expose().as_bytes().to_vec()),
        ),
    ]);
    secret(cluster, purpose, data, owner)
}

/// The secret that holds a kubeconfig.
pub fn kubeconfig_secret(cluster: &ObjectKey, kubeconfig: &Text, owner: OwnerReference) -> Secret {
    let data = BTreeMap::from([(
        VALUE.to_owned(),
        ByteString(kubeconfig.expose().as_bytes().to_vec()),
    )]);
    secret(cluster, Purpose::Kubeconfig, data, owner)
}

fn secret(
    cluster: &ObjectKey,
    purpose: Purpose,
    data: BTreeMap<String, ByteString>,
    owner: OwnerReference,
) -> Secret {
    Secret {
        metadata: ObjectMeta {
            name: Some(purpose.secret_name(&cluster.name)),
            namespace: Some(cluster.namespace.clone()),
            labels: Some(BTreeMap::from([(
                well_known::label::CLUSTER_NAME.to_owned(),
                cluster.name.clone(),
            )])),
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        },
        type_: Some(well_known::secret_type::CLUSTER.to_owned()),
        data: Some(data),
        ..Secret::default()
    }
}
