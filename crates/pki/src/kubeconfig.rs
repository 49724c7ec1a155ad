//! Kubeconfigs: how clients find and enter a cluster.
//! Source of the form: client-go `tools/clientcmd/api/v1`; of the names in it: upstream `util/kubeconfig`.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Algorithm, Authority, Certificate, Error, Identity, KeySource, Request, Secret};

/// The user name in an administrator's client certificate.
const ADMINISTRATOR: &str = "kubernetes-admin";
/// The group that may do everything, before any authorisation rule is read.
const ADMINISTRATORS: &str = "system:masters";

/// A kubeconfig with what certificate-based access needs. Token and plug-in users are kept out: they are not ours.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kubeconfig {
    /// The clusters it knows.
    pub clusters: Vec<Cluster>,
    /// The users it knows.
    pub users: Vec<User>,
    /// Which user enters which cluster.
    pub contexts: Vec<Context>,
    /// The context taken when a client names none.
    pub current_context: String,
}

/// Where a cluster is and whom to believe that it is it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cluster {
    /// The name inside the kubeconfig.
    pub name: String,
    /// The URL of the API server.
    pub server: String,
    /// The authority's certificates as PEM; empty means the system's own trust.
    pub certificate_authority: String,
    /// The name expected in the server's certificate, where it is not the one in the URL.
    pub tls_server_name: Option<String>,
}

/// Who enters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct User {
    /// The name inside the kubeconfig.
    pub name: String,
    /// The client certificate as PEM; empty if there is none.
    pub client_certificate: String,
    /// The client certificate's key as PEM.
    pub client_key: Secret,
}

/// A pair of a cluster and a user.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Context {
    /// The name inside the kubeconfig.
    pub name: String,
    /// The cluster's name.
    pub cluster: String,
    /// The user's name.
    pub user: String,
    /// The namespace taken when a client names none.
    pub namespace: Option<String>,
}

impl Kubeconfig {
    /// A kubeconfig of one cluster and one user, named as upstream names them: the user `<cluster>-admin`, the context
    /// `<cluster>-admin@<cluster>`.
    pub fn for_identity(
        cluster: &str,
        server: &str,
        authority: &Certificate,
        identity: &Identity,
    ) -> Result<Self, Error> {
        let user = format!("{cluster}-admin");
        let context = format!("{user}@{cluster}");
        Ok(Self {
            clusters: vec![Cluster {
                name: cluster.to_owned(),
                server: server.to_owned(),
                certificate_authority: authority.to_pem(),
                tls_server_name: None,
            }],
            users: vec![User {
                name: user.clone(),
                client_certificate: identity.certificate.to_pem(),
                client_key: identity.key.to_pem()?,
            }],
            contexts: vec![Context {
                name: context.clone(),
                cluster: cluster.to_owned(),
                user,
                namespace: None,
            }],
            current_context: context,
        })
    }

    /// An administrator's kubeconfig for a workload cluster, with a new client certificate of one year.
    pub fn for_administrator(
        cluster: &str,
        server: &str,
        authority: &Authority,
        algorithm: Algorithm,
        now: Timestamp,
        keys: &dyn KeySource,
    ) -> Result<Self, Error> {
        let request = Request::client(ADMINISTRATOR, Some(ADMINISTRATORS));
        let identity = authority.issue(&request, algorithm, now, keys)?;
        Self::for_identity(cluster, server, authority.certificate(), &identity)
    }

    /// Parses a kubeconfig from YAML or JSON. What [`Kubeconfig`] does not hold is passed over.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let wire: Wire = serde_saphyr::from_str(text).map_err(|it| Error::ParseKubeconfig(it.into()))?;
        Ok(Self {
            clusters: wire
                .clusters
                .into_iter()
                .map(NamedCluster::parse)
                .collect::<Result<_, _>>()?,
            users: wire
                .users
                .into_iter()
                .map(NamedUser::parse)
                .collect::<Result<_, _>>()?,
            contexts: wire.contexts.into_iter().map(NamedContext::parse).collect(),
            current_context: wire.current_context,
        })
    }

    /// The kubeconfig as YAML.
    pub fn to_yaml(&self) -> Result<Secret, Error> {
        let wire = Wire {
            api_version: "v1".to_owned(),
            clusters: self.clusters.iter().map(NamedCluster::of).collect(),
            contexts: self.contexts.iter().map(NamedContext::of).collect(),
            current_context: self.current_context.clone(),
            kind: "Config".to_owned(),
            users: self.users.iter().map(NamedUser::of).collect(),
        };
        // One line per value: scripts cut the base64 out by its field name.
        let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
        serde_saphyr::to_string_with_options(&wire, options)
            .map(Secret::new)
            .map_err(|it| Error::EncodeKubeconfig(it.into()))
    }

    /// The context that clients take when they name none.
    pub fn current(&self) -> Option<&Context> {
        self.contexts.iter().find(|it| it.name == self.current_context)
    }

    /// The cluster of the current context.
    pub fn current_cluster(&self) -> Option<&Cluster> {
        let name = &self.current()?.cluster;
        self.clusters.iter().find(|it| it.name == *name)
    }

    /// The user of the current context.
    pub fn current_user(&self) -> Option<&User> {
        let name = &self.current()?.user;
        self.users.iter().find(|it| it.name == *name)
    }

    /// When the first of the client certificates expires; `None` if there is none.
    pub fn first_expiry(&self) -> Result<Option<Timestamp>, Error> {
        let certificates = self.users.iter().filter(|it| !it.client_certificate.is_empty());
        let expiries = certificates
            .map(|it| Certificate::from_pem(it.client_certificate.as_bytes()).map(|it| it.not_after()))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(expiries.into_iter().min())
    }
}

/// The form on the wire. Private, so that a key is serialised by [`Kubeconfig::to_yaml`] only.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Wire {
    #[serde(rename = "apiVersion", default)]
    api_version: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    clusters: Vec<NamedCluster>,
    #[serde(default, deserialize_with = "null_is_empty")]
    contexts: Vec<NamedContext>,
    #[serde(default)]
    current_context: String,
    #[serde(default)]
    kind: String,
    #[serde(default, deserialize_with = "null_is_empty")]
    users: Vec<NamedUser>,
}

/// Empty lists are often written as `null`.
fn null_is_empty<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

#[derive(Serialize, Deserialize)]
struct NamedCluster {
    cluster: ClusterFields,
    name: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct ClusterFields {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    certificate_authority_data: String,
    #[serde(default)]
    server: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tls_server_name: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct NamedContext {
    context: ContextFields,
    name: String,
}

#[derive(Serialize, Deserialize)]
struct ContextFields {
    #[serde(default)]
    cluster: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    #[serde(default)]
    user: String,
}

#[derive(Serialize, Deserialize)]
struct NamedUser {
    name: String,
    #[serde(default)]
    user: UserFields,
}

#[derive(Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
struct UserFields {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    client_certificate_data: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    client_key_data: String,
}

impl NamedCluster {
    fn of(cluster: &Cluster) -> Self {
        Self {
            name: cluster.name.clone(),
            cluster: ClusterFields {
                certificate_authority_data: STANDARD.encode(&cluster.certificate_authority),
                server: cluster.server.clone(),
                tls_server_name: cluster.tls_server_name.clone(),
            },
        }
    }

    fn parse(self) -> Result<Cluster, Error> {
        Ok(Cluster {
            name: self.name,
            server: self.cluster.server,
            certificate_authority: decode(&self.cluster.certificate_authority_data)?,
            tls_server_name: self.cluster.tls_server_name,
        })
    }
}

impl NamedContext {
    fn of(context: &Context) -> Self {
        Self {
            name: context.name.clone(),
            context: ContextFields {
                cluster: context.cluster.clone(),
                namespace: context.namespace.clone(),
                user: context.user.clone(),
            },
        }
    }

    fn parse(self) -> Context {
        let ContextFields {
            cluster,
            namespace,
            user,
        } = self.context;
        Context {
            name: self.name,
            cluster,
            user,
            namespace,
        }
    }
}

impl NamedUser {
    fn of(user: &User) -> Self {
        Self {
            name: user.name.clone(),
            user: UserFields {
                client_certificate_data: STANDARD.encode(&user.client_certificate),
                client_key_data: STANDARD.encode(user.client_key.expose()),
            },
        }
    }

    fn parse(self) -> Result<User, Error> {
        Ok(User {
            name: self.name,
            client_certificate: decode(&self.user.client_certificate_data)?,
            client_key: Secret::new(decode(&self.user.client_key_data)?),
        })
    }
}

fn decode(text: &str) -> Result<String, Error> {
    let bytes = STANDARD
        .decode(text)
        .map_err(|it| Error::ParseKubeconfig(it.into()))?;
    String::from_utf8(bytes).map_err(|_| Error::ParseKubeconfig("certificate data is not text".into()))
}
