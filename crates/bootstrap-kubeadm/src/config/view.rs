//! Everything that decisions about one KubeadmConfig may need.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use capstan_api::{
    bootstrap::{KubeadmConfig, SecretKeyReference},
    core::{Cluster, ContractReference, Machine},
    well_known,
};
use capstan_base::Timestamp;
use capstan_engine::{Lookup, ObjectKey, ReadFailure};
use capstan_pki::{ClusterCertificate, KeyPairPem, Purpose, Secret as Text};
use capstan_workload::Remote;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::ResourceExt;

use super::stage::Stage;

/// The snapshot of one pass. `Debug` names objects only, since nearly everything in here is secret.
#[derive(Clone)]
pub struct View {
    /// What is known before anything that depends on the stage is read.
    pub basics: Basics,
    /// Where the config stands.
    pub stage: Stage,
    /// What the stage needs; empty where it needs nothing.
    pub materials: Materials,
}

/// What is known before anything that depends on the stage is read.
#[derive(Clone)]
pub struct Basics {
    /// The time of the pass.
    pub now: Timestamp,
    /// How long a new token is valid.
    pub token_ttl: Duration,
    /// The config.
    pub config: Arc<KubeadmConfig>,
    /// The Machine that owns it.
    pub machine: Option<Arc<Machine>>,
    /// The Machine's Cluster.
    pub cluster: Option<Arc<Cluster>>,
    /// The secret with the config's name.
    pub data_secret: Option<DataSecret>,
    /// The lock around the making of the cluster.
    pub lock: Option<InitLock>,
}

/// What the stage needs.
#[derive(Clone, Default)]
pub struct Materials {
    /// The certificates that the host gets, or that its cluster is trusted by.
    pub certificates: Vec<FoundCertificate>,
    /// What the keys of secrets hold that the config refers to.
    pub references: BTreeMap<(String, String), Result<Text, String>>,
    /// The control plane's version, where files are templates.
    pub control_plane_version: Option<Result<String, ReadFailure>>,
    /// The token in the workload cluster, where it may need a refresh.
    pub token: Option<Remote<TokenSecret>>,
    /// Whether the workload cluster can be written to, where a token has to be made.
    pub workload: Option<Remote<()>>,
}

/// One certificate and what its secret holds.
#[derive(Clone)]
pub struct FoundCertificate {
    /// Which certificate.
    pub certificate: ClusterCertificate,
    /// The pair.
    pub pair: Lookup<KeyPairPem>,
}

/// What matters of the secret with the config's name.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSecret {
    /// Its owners.
    pub owners: Vec<OwnerReference>,
    /// Its revision.
    pub resource_version: Option<String>,
    /// When it was made.
    pub created: Option<Timestamp>,
}

/// What matters of the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitLock {
    /// Its UID.
    pub uid: Option<String>,
    /// The Machine that holds it; none if it is malformed.
    pub holder: Option<String>,
    /// Whether that Machine is there.
    pub holder_exists: bool,
}

/// What matters of a token's secret in the workload cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenSecret {
    /// When the token ends; none if that is missing or malformed.
    pub expires: Option<Timestamp>,
    /// Its revision.
    pub resource_version: Option<String>,
}

impl Basics {
    /// Where the data's secret is.
    pub fn data_secret_key(&self) -> ObjectKey {
        ObjectKey::of(&*self.config)
    }

    /// Whether the Machine is of the control plane.
    pub fn is_control_plane(&self) -> bool {
        self.machine
            .as_ref()
            .is_some_and(|it| well_known::is_control_plane(it.metadata.labels.as_ref()))
    }

    /// Whether an object provides the control plane, and with it the certificates.
    pub fn has_control_plane_object(&self) -> bool {
        let reference = self
            .cluster
            .as_ref()
            .and_then(|it| it.spec.control_plane_ref.as_ref());
        reference.is_some_and(ContractReference::is_defined)
    }

    /// Whether the lock is held by the config's Machine.
    pub fn holds_lock(&self) -> bool {
        let machine = self.machine.as_ref().map(|it| it.name_any());
        self.lock
            .as_ref()
            .is_some_and(|it| it.holder.is_some() && it.holder == machine)
    }

    /// The secrets that files and users refer to.
    pub fn references(&self) -> Vec<&SecretKeyReference> {
        let spec = &self.config.spec;
        let files = spec
            .files
            .iter()
            .filter_map(|it| it.content_from.as_ref())
            .map(|it| &it.secret);
        let users = spec
            .users
            .iter()
            .filter_map(|it| it.passwd_from.as_ref())
            .map(|it| &it.secret);
        files.chain(users).collect()
    }
}

impl Materials {
    /// The pair for a purpose, if its secret was found.
    pub fn pair(&self, purpose: Purpose) -> Option<&KeyPairPem> {
        self.certificates
            .iter()
            .find(|it| it.certificate.purpose == purpose)?
            .pair
            .found()
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("config", &self.basics.data_secret_key())
            .field("machine", &self.basics.machine.as_ref().map(|it| it.name_any()))
            .field("cluster", &self.basics.cluster.as_ref().map(|it| it.name_any()))
            .field("data_secret", &self.basics.data_secret)
            .field("lock", &self.basics.lock)
            .field("stage", &self.stage)
            .field("token", &self.materials.token)
            .finish_non_exhaustive()
    }
}
