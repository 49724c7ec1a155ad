//! What the KubeadmConfig controller does to the world, one effect per action.

use std::collections::BTreeMap;

use capstan_api::{
    bootstrap::{Format, KubeadmConfig},
    well_known,
};
use capstan_base::{Entropy, Timestamp, naming};
use capstan_contract::{CreationError, create_or_adopt, secrets::key_pair_secret};
use capstan_engine::{Classified, Context, ObjectKey, Preconditions, Retry, WriteError, Writer};
use capstan_pki::{AuthorityOptions, ClusterCertificate, Secret as Text};
use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, Secret},
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
};
use kube::{
    Api, Client, ResourceExt,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use super::observe::{Sources, lock_holder};

/// Where tokens live in a workload cluster.
const TOKEN_NAMESPACE: &str = "kube-system";
/// The key in a token's secret that says until when it is valid.
pub(super) const TOKEN_EXPIRATION: &str = "expiration";
/// The key in a token's secret that holds its private half.
const TOKEN_SECRET: &str = "token-secret";
/// The key in the data's secret that holds the data.
const DATA_VALUE: &str = "value";
/// The key in the data's secret that holds the format.
const DATA_FORMAT: &str = "format";
/// The key in the lock that says who holds it.
pub(super) const LOCK_INFORMATION: &str = "lock-information";

/// One effect.
#[derive(Debug, Clone)]
pub enum Action {
    /// Takes the lock around the making of a cluster.
    AcquireLock {
        /// The cluster.
        cluster: ObjectKey,
        /// The Cluster as the lock's owner.
        owner: OwnerReference,
        /// The Machine that takes it.
        machine: String,
    },
    /// Gives the lock back.
    ReleaseLock {
        /// The cluster.
        cluster: ObjectKey,
        /// What must still be true of the lock.
        preconditions: Preconditions,
    },
    /// Makes a certificate and keeps it in its secret.
    CreateCertificate {
        /// The cluster.
        cluster: ObjectKey,
        /// Which.
        certificate: ClusterCertificate,
        /// How.
        options: AuthorityOptions,
        /// The secret's owner.
        owner: OwnerReference,
    },
    /// Writes into the config how its host finds and trusts the cluster, with a new token if one is given.
    CompleteDiscovery {
        /// The config.
        config: ObjectKey,
        /// The workload cluster, where the token is made.
        cluster: ObjectKey,
        /// A JSON merge patch of `spec.joinConfiguration`.
        patch: Value,
        /// The token to make.
        token: Option<Token>,
    },
    /// Makes a token valid for longer.
    RefreshToken {
        /// The workload cluster.
        cluster: ObjectKey,
        /// The token's public half.
        id: String,
        /// Until when.
        expires: Timestamp,
        /// The revision of its secret.
        resource_version: Option<String>,
    },
    /// Keeps the data in its secret.
    StoreData {
        /// The secret.
        secret: ObjectKey,
        /// The cluster's name.
        cluster: String,
        /// The config as the secret's controller.
        owner: OwnerReference,
        /// The data.
        data: Text,
    },
    /// Gives the data's secret its owner back.
    AdoptData {
        /// The secret.
        secret: ObjectKey,
        /// All its owners.
        owners: Vec<OwnerReference>,
        /// Its revision.
        resource_version: Option<String>,
    },
}

/// A token to be made. Its public half follows from the config, so that a second attempt finds the first one's secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The public half.
    pub id: String,
    /// Until when it is valid.
    pub expires: Timestamp,
}

impl Token {
    /// The token of a config.
    pub(super) fn of(config: &KubeadmConfig, expires: Timestamp) -> Self {
        let uid = config.uid().unwrap_or_default();
        Self {
            id: naming::stable_suffix(&[&uid, "bootstrap-token"], 6),
            expires,
        }
    }
}

/// The public half of the token that a config holds; none if it holds no well-formed one.
pub(super) fn token_id_of(config: &KubeadmConfig) -> Option<String> {
    let token = config
        .spec
        .join_configuration
        .discovery
        .bootstrap_token
        .token
        .as_deref()?;
    let (id, secret) = token.split_once('.')?;
    let fits = |text: &str, length| {
        text.len() == length
            && text
                .bytes()
                .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
    };
    (fits(id, 6) && fits(secret, 16)).then(|| id.to_owned())
}

/// The name of a token's secret.
pub(super) fn token_secret_name(id: &str) -> String {
    format!("bootstrap-token-{id}")
}

/// The tokens' secrets of a workload cluster.
pub(super) fn token_secrets(client: &Client) -> Api<Secret> {
    Api::namespaced(client.clone(), TOKEN_NAMESPACE)
}

/// What can fail.
#[derive(Debug, thiserror::Error)]
pub enum ActError {
    /// A write to the management plane.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A creation in the management plane.
    #[error(transparent)]
    Creation(#[from] CreationError),
    /// Another Machine makes the cluster.
    #[error("the lock around the making of cluster {cluster} is held by another Machine")]
    LockTaken {
        /// The cluster.
        cluster: ObjectKey,
    },
    /// A certificate could not be made.
    #[error("failed to generate the {purpose} certificate of cluster {cluster}")]
    Certificate {
        /// The end of its secret's name.
        purpose: &'static str,
        /// The cluster.
        cluster: ObjectKey,
        /// Why.
        #[source]
        source: capstan_pki::Error,
    },
    /// A token in the workload cluster.
    #[error("failed to {verb} the bootstrap token of cluster {cluster}")]
    Token {
        /// What was tried.
        verb: &'static str,
        /// The workload cluster.
        cluster: ObjectKey,
        /// The answer.
        #[source]
        source: kube::Error,
    },
    /// A token's secret that is there and has no private half.
    #[error("the bootstrap token {id} of cluster {cluster} is malformed")]
    MalformedToken {
        /// The token's public half.
        id: String,
        /// The workload cluster.
        cluster: ObjectKey,
    },
    /// The workload cluster is not connected.
    #[error("cluster {cluster} is not connected")]
    NotConnected {
        /// The workload cluster.
        cluster: ObjectKey,
    },
    /// A secret of the data's name belongs to somebody else.
    #[error("Secret {0} exists already and is not the data of this KubeadmConfig")]
    DataNameTaken(ObjectKey),
}

impl Classified for ActError {
    fn retry(&self) -> Retry {
        match self {
            Self::Write(error) => error.retry(),
            Self::Creation(error) => error.retry(),
            // The lock's release and a connection that comes back wake the config.
            Self::LockTaken { .. } | Self::NotConnected { .. } => Retry::OnChange,
            Self::Token {
                source: kube::Error::Api(status),
                ..
            } if status.code == 409 => Retry::Soon,
            Self::Certificate { .. }
            | Self::Token { .. }
            | Self::MalformedToken { .. }
            | Self::DataNameTaken(_) => Retry::Backoff,
        }
    }
}

/// Performs one action.
pub(super) async fn act(sources: &Sources, action: &Action, context: &Context) -> Result<(), ActError> {
    let writer = &context.writer;
    match action {
        Action::AcquireLock {
            cluster,
            owner,
            machine,
        } => acquire_lock(writer, cluster, owner, machine).await,
        Action::ReleaseLock {
            cluster,
            preconditions,
        } => {
            writer
                .delete::<ConfigMap>(&(), &lock_key(cluster), preconditions.clone())
                .await?;
            Ok(())
        }
        Action::CreateCertificate {
            cluster,
            certificate,
            options,
            owner,
        } => {
            let purpose = certificate.purpose;
            let made = certificate.generate(*options, context.now, &*sources.keys);
            let made = made.map_err(|source| ActError::Certificate {
                purpose: purpose.suffix(),
                cluster: cluster.clone(),
                source,
            })?;
            if let Some(pair) = made {
                let secret = key_pair_secret(cluster, purpose, &pair, owner.clone());
                // Whoever made it first: there is one per cluster, and a second one would split it.
                create_or_adopt(writer, &(), &secret, |_| true).await?;
            }
            Ok(())
        }
        Action::CompleteDiscovery {
            config,
            cluster,
            patch,
            token,
        } => {
            let mut patch = patch.clone();
            if let Some(token) = token {
                let client = client(sources, cluster).ok_or_else(|| not_connected(cluster))?;
                let text = ensure_token(&client, cluster, token, &*sources.entropy).await?;
                patch["discovery"]["bootstrapToken"]["token"] = json!(text.expose());
            }
            let patch = json!({ "spec": { "joinConfiguration": patch } });
            writer.merge_patch::<KubeadmConfig>(&(), config, &patch).await?;
            Ok(())
        }
        Action::RefreshToken {
            cluster,
            id,
            expires,
            resource_version,
        } => {
            let client = client(sources, cluster).ok_or_else(|| not_connected(cluster))?;
            extend_token(&client, cluster, id, *expires, resource_version.as_deref()).await
        }
        Action::StoreData {
            secret,
            cluster,
            owner,
            data,
        } => store_data(writer, secret, cluster, owner, data).await,
        Action::AdoptData {
            secret,
            owners,
            resource_version,
        } => {
            let patch =
                json!({ "metadata": { "ownerReferences": owners, "resourceVersion": resource_version } });
            writer.merge_patch::<Secret>(&(), secret, &patch).await?;
            Ok(())
        }
    }
}

/// The client of a workload cluster, if it is connected.
fn client(sources: &Sources, cluster: &ObjectKey) -> Option<Client> {
    sources
        .workloads
        .connection(cluster)
        .found()
        .map(|it| it.client().clone())
}

fn not_connected(cluster: &ObjectKey) -> ActError {
    ActError::NotConnected {
        cluster: cluster.clone(),
    }
}

fn lock_key(cluster: &ObjectKey) -> ObjectKey {
    ObjectKey::new(&cluster.namespace, well_known::init_lock_name(&cluster.name))
}

fn labels(cluster: &str) -> BTreeMap<String, String> {
    BTreeMap::from([(well_known::label::CLUSTER_NAME.to_owned(), cluster.to_owned())])
}

// Parity: upstream bootstrap/kubeadm/pkg/locking/control_plane_init_mutex.go
async fn acquire_lock(
    writer: &Writer,
    cluster: &ObjectKey,
    owner: &OwnerReference,
    machine: &str,
) -> Result<(), ActError> {
    let key = lock_key(cluster);
    let information = json!({ "machineName": machine }).to_string();
    let lock = ConfigMap {
        metadata: ObjectMeta {
            name: Some(key.name),
            namespace: Some(key.namespace),
            labels: Some(labels(&cluster.name)),
            owner_references: Some(vec![owner.clone()]),
            ..ObjectMeta::default()
        },
        data: Some(BTreeMap::from([(LOCK_INFORMATION.to_owned(), information)])),
        ..ConfigMap::default()
    };
    match create_or_adopt(writer, &(), &lock, |it| {
        lock_holder(it).as_deref() == Some(machine)
    })
    .await
    {
        Ok(_) => Ok(()),
        Err(CreationError::NameTaken { .. }) => Err(ActError::LockTaken {
            cluster: cluster.clone(),
        }),
        Err(error) => Err(error.into()),
    }
}

/// Makes a token in the workload cluster, or finds the one that an earlier attempt made, and returns its whole text.
// Parity: upstream bootstrap/kubeadm/reconcilers/kubeadmconfig/token.go:createToken
async fn ensure_token(
    client: &Client,
    cluster: &ObjectKey,
    token: &Token,
    entropy: &dyn Entropy,
) -> Result<Text, ActError> {
    let failed = |verb| {
        move |source| ActError::Token {
            verb,
            cluster: cluster.clone(),
            source,
        }
    };
    let secrets = token_secrets(client);
    let private = entropy.suffix(16);
    let created = secrets
        .create(&PostParams::default(), &token_secret(token, &private))
        .await;
    match created {
        Ok(_) => Ok(Text::new(format!("{}.{private}", token.id))),
        Err(kube::Error::Api(status)) if status.reason == "AlreadyExists" => {
            let present = secrets
                .get(&token_secret_name(&token.id))
                .await
                .map_err(failed("read"))?;
            let private = present.data.as_ref().and_then(|it| it.get(TOKEN_SECRET));
            let private = private
                .and_then(|it| String::from_utf8(it.0.clone()).ok())
                .filter(|it| it.len() == 16);
            let private = private.ok_or_else(|| ActError::MalformedToken {
                id: token.id.clone(),
                cluster: cluster.clone(),
            })?;
            extend_token(
                client,
                cluster,
                &token.id,
                token.expires,
                present.resource_version().as_deref(),
            )
            .await?;
            Ok(Text::new(format!("{}.{private}", token.id)))
        }
        Err(source) => Err(failed("create")(source)),
    }
}

fn token_secret(token: &Token, private: &str) -> Secret {
    let expires = expiration(token.expires);
    let fields = [
        ("token-id", token.id.as_str()),
        (TOKEN_SECRET, private),
        (TOKEN_EXPIRATION, expires.as_str()),
        ("usage-bootstrap-signing", "true"),
        ("usage-bootstrap-authentication", "true"),
        (
            "auth-extra-groups",
            "system:bootstrappers:kubeadm:default-node-token",
        ),
        (
            "description",
            "token generated by cluster-api-bootstrap-provider-kubeadm",
        ),
    ];
    Secret {
        metadata: ObjectMeta {
            name: Some(token_secret_name(&token.id)),
            namespace: Some(TOKEN_NAMESPACE.to_owned()),
            ..ObjectMeta::default()
        },
        type_: Some("bootstrap.kubernetes.io/token".to_owned()),
        data: Some(
            fields
                .map(|(name, value)| (name.to_owned(), ByteString(value.as_bytes().to_vec())))
                .into(),
        ),
        ..Secret::default()
    }
}

async fn extend_token(
    client: &Client,
    cluster: &ObjectKey,
    id: &str,
    expires: Timestamp,
    resource_version: Option<&str>,
) -> Result<(), ActError> {
    let expires = ByteString(expiration(expires).into_bytes());
    let patch =
        json!({ "metadata": { "resourceVersion": resource_version }, "data": { TOKEN_EXPIRATION: expires } });
    token_secrets(client)
        .patch(
            &token_secret_name(id),
            &PatchParams::default(),
            &Patch::Merge(patch),
        )
        .await
        .map(|_| ())
        .map_err(|source| ActError::Token {
            verb: "refresh",
            cluster: cluster.clone(),
            source,
        })
}

/// A time as a token's secret carries it: RFC 3339, whole seconds, UTC.
fn expiration(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Creates the data's secret, or brings one up to date that an earlier attempt made or a backup restored.
// Parity: upstream bootstrap/kubeadm/reconcilers/kubeadmconfig:storeBootstrapData
async fn store_data(
    writer: &Writer,
    key: &ObjectKey,
    cluster: &str,
    owner: &OwnerReference,
    data: &Text,
) -> Result<(), ActError> {
    let content = BTreeMap::from([
        (
            DATA_VALUE.to_owned(),
            ByteString(data.expose().as_bytes().to_vec()),
        ),
        (
            DATA_FORMAT.to_owned(),
            ByteString(Format::CloudConfig.as_str().as_bytes().to_vec()),
        ),
    ]);
    let secret = Secret {
        metadata: ObjectMeta {
            name: Some(key.name.clone()),
            namespace: Some(key.namespace.clone()),
            labels: Some(labels(cluster)),
            owner_references: Some(vec![owner.clone()]),
            ..ObjectMeta::default()
        },
        type_: Some(well_known::secret_type::CLUSTER.to_owned()),
        data: Some(content.clone()),
        ..Secret::default()
    };
    let error = match writer.create::<Secret>(&(), &secret).await {
        Ok(_) => return Ok(()),
        Err(error) if error.is_already_exists() => error,
        Err(error) => return Err(error.into()),
    };
    let Some(present) = writer.read::<Secret>(&(), key).await? else {
        return Err(error.into());
    };
    let controller = present
        .owner_references()
        .iter()
        .find(|it| it.controller == Some(true));
    if controller.is_some_and(|it| it.kind != owner.kind || it.name != owner.name) {
        return Err(ActError::DataNameTaken(key.clone()));
    }
    if present.data.as_ref() == Some(&content) && present.owner_references().contains(owner) {
        return Ok(());
    }
    let owners = capstan_contract::with_owner(present.owner_references(), owner);
    let patch = json!({
        "metadata": {
            "labels": labels(cluster),
            "ownerReferences": owners.unwrap_or_else(|| present.owner_references().to_vec()),
            "resourceVersion": present.resource_version(),
        },
        "data": content,
    });
    writer.merge_patch::<Secret>(&(), key, &patch).await?;
    Ok(())
}
