//! What the KubeadmControlPlane controller does to the world, one effect per action.

use capstan_api::{bootstrap::KubeadmConfigSpec, controlplane::KubeadmControlPlane, core::Machine, owner};
use capstan_contract::{CreationError, create_group, create_or_adopt, secrets};
use capstan_engine::{
    Classified, Context, EventKind, ObjectKey, ObjectRef, Preconditions, Retry, WriteError,
};
use capstan_pki::{Algorithm, Authority, AuthorityOptions, Kubeconfig, Purpose};
use capstan_workload::{
    Connection,
    etcd::{self, MemberId},
};
use k8s_openapi::api::core::v1::Secret;
use kube::{
    ResourceExt,
    core::{ApiResource, DynamicObject},
};
use serde_json::{Value, json};

use crate::{
    observe::{Sources, certificate_set},
    upkeep,
    view::View,
};

/// One effect.
#[derive(Debug, Clone)]
pub enum Action {
    /// Makes certificate authorities and stores them; those that are there already stay.
    CreateCertificates {
        /// Which ones.
        purposes: Vec<Purpose>,
    },
    /// Issues the administrator's kubeconfig and stores it.
    WriteKubeconfig {
        /// There is one of ours to replace.
        renew: bool,
    },
    /// Creates a Machine and, before it, its host and its KubeadmConfig.
    CloneMachine {
        /// The name of all of them.
        name: String,
        /// Host, KubeadmConfig and Machine.
        objects: Vec<(ApiResource, DynamicObject)>,
    },
    /// Takes a Machine over, with the secrets that were made for it.
    Adopt {
        /// The Machine.
        machine: ObjectKey,
        /// The patch of its owners, guarded by the revision.
        patch: Value,
        /// The secrets and the patches of their owners, guarded by the revision.
        secrets: Vec<(ObjectKey, Value)>,
    },
    /// Sets or removes annotations of the control plane itself.
    Annotate {
        /// A JSON merge patch.
        patch: Value,
    },
    /// Changes something inside the workload cluster.
    Upkeep(upkeep::Change),
    /// Deletes a Machine.
    DeleteMachine {
        /// The Machine.
        key: ObjectKey,
        /// What must still be true of it.
        preconditions: Preconditions,
    },
    /// Patches a Machine.
    PatchMachine {
        /// The Machine.
        key: ObjectKey,
        /// A JSON merge patch.
        patch: Value,
    },
    /// Patches a Machine's conditions.
    PatchMachineStatus {
        /// The Machine.
        key: ObjectKey,
        /// A JSON merge patch, guarded by the revision.
        patch: Value,
    },
    /// Patches the metadata of the hosts' template.
    PatchExternal {
        /// Its kind.
        kind: ApiResource,
        /// The template.
        key: ObjectKey,
        /// A JSON merge patch, guarded by the revision.
        patch: Value,
    },
    /// Takes an etcd member out, after handing leadership over if it leads.
    RemoveEtcdMember {
        /// The member that goes.
        member: MemberId,
        /// The node whose member is asked to do it.
        ask: String,
        /// The node of the member that goes, which is asked to hand over.
        leader_node: String,
        /// The new leader, if the member that goes leads.
        new_leader: Option<MemberId>,
    },
}

/// What can fail.
#[derive(Debug, thiserror::Error)]
pub enum ActError {
    /// A write.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A creation.
    #[error(transparent)]
    Creation(#[from] CreationError),
    /// A certificate could not be made.
    #[error("failed to make the {purpose} certificate of cluster {cluster}")]
    Certificate {
        /// What it is for.
        purpose: &'static str,
        /// The cluster.
        cluster: ObjectKey,
        /// Why.
        #[source]
        source: capstan_pki::Error,
    },
    /// The cluster's authority is not there or not usable.
    #[error("the certificate authority of cluster {cluster} is not there")]
    NoAuthority {
        /// The cluster.
        cluster: ObjectKey,
    },
    /// etcd could not be asked or did not do it.
    #[error("failed to take the etcd member of node {node} out")]
    Etcd {
        /// The node.
        node: String,
        /// Why.
        #[source]
        source: etcd::Error,
    },
    /// Something inside the workload cluster was not changed.
    #[error(transparent)]
    Upkeep(#[from] upkeep::ChangeError),
    /// The control plane is not what it was when the decision was made.
    #[error("KubeadmControlPlane {control_plane} is going or is another one: it adopts nothing")]
    Gone {
        /// The control plane.
        control_plane: ObjectKey,
    },
    /// The workload cluster is not connected.
    #[error("cluster {cluster} is not connected: {why}")]
    NotConnected {
        /// The cluster.
        cluster: ObjectKey,
        /// Why.
        why: String,
    },
}

impl Classified for ActError {
    fn retry(&self) -> Retry {
        match self {
            Self::Write(error) => error.retry(),
            Self::Creation(error) => error.retry(),
            Self::Certificate { .. } | Self::Etcd { .. } | Self::NoAuthority { .. } | Self::Upkeep(_) => {
                Retry::Backoff
            }
            Self::NotConnected { .. } | Self::Gone { .. } => Retry::OnChange,
        }
    }
}

/// Performs one action.
pub(crate) async fn act(
    sources: &Sources,
    view: &View,
    action: &Action,
    context: &Context,
) -> Result<(), ActError> {
    let writer = &context.writer;
    let control_plane = &*view.control_plane;
    let tell = |kind, reason: &str, message| {
        context
            .events
            .publish(&ObjectRef::of(control_plane), kind, reason, message)
    };
    match action {
        Action::CreateCertificates { purposes } => {
            create_certificates(sources, view, purposes, context).await
        }
        Action::WriteKubeconfig { renew } => write_kubeconfig(sources, view, *renew, context).await,
        Action::CloneMachine { name, objects } => {
            let uid = control_plane.uid().unwrap_or_default();
            if let Err(error) = create_group(writer, objects, &uid, Machine::KIND).await {
                let reason = if view.members.is_empty() {
                    "FailedInitialization"
                } else {
                    "FailedScaleUp"
                };
                tell(
                    EventKind::Warning,
                    reason,
                    format!("Failed to create control plane Machine {name}: {error}"),
                );
                return Err(error.into());
            }
            Ok(())
        }
        Action::Adopt {
            machine,
            patch,
            secrets,
        } => adopt(view, machine, patch, secrets, context).await,
        Action::Annotate { patch } => {
            let key = ObjectKey::of(control_plane);
            writer
                .merge_patch::<KubeadmControlPlane>(&(), &key, patch)
                .await?;
            Ok(())
        }
        Action::Upkeep(change) => {
            let connection = connected(sources, &cluster_key(view))?;
            Ok(upkeep::perform(connection.client(), change).await?)
        }
        Action::DeleteMachine { key, preconditions } => {
            if let Err(error) = writer.delete::<Machine>(&(), key, preconditions.clone()).await {
                tell(
                    EventKind::Warning,
                    "FailedScaleDown",
                    format!("Failed to delete control plane Machine {key}: {error}"),
                );
                return Err(error.into());
            }
            Ok(())
        }
        Action::PatchMachine { key, patch } => {
            writer.merge_patch::<Machine>(&(), key, patch).await?;
            Ok(())
        }
        Action::PatchMachineStatus { key, patch } => {
            writer.merge_patch_status::<Machine>(&(), key, patch).await?;
            Ok(())
        }
        Action::PatchExternal { kind, key, patch } => {
            writer.merge_patch::<DynamicObject>(kind, key, patch).await?;
            Ok(())
        }
        Action::RemoveEtcdMember {
            member,
            ask,
            leader_node,
            new_leader,
        } => remove_member(sources, view, *member, ask, leader_node, *new_leader).await,
    }
}

fn connected(sources: &Sources, cluster: &ObjectKey) -> Result<Connection, ActError> {
    let connection = sources.workloads.connection(cluster);
    connection.found().cloned().ok_or_else(|| ActError::NotConnected {
        cluster: cluster.clone(),
        why: "no connection".to_owned(),
    })
}

/// Takes a Machine over. The control plane is read anew first: one that was deleted a moment ago must not take back what
/// garbage collection has just set free.
async fn adopt(
    view: &View,
    machine: &ObjectKey,
    patch: &Value,
    secrets: &[(ObjectKey, Value)],
    context: &Context,
) -> Result<(), ActError> {
    let writer = &context.writer;
    let key = ObjectKey::of(&*view.control_plane);
    let newest = writer.read::<KubeadmControlPlane>(&(), &key).await?;
    let is_same = |it: &KubeadmControlPlane| {
        it.uid() == view.control_plane.uid() && it.metadata.deletion_timestamp.is_none()
    };
    if !newest.as_ref().is_some_and(is_same) {
        return Err(ActError::Gone { control_plane: key });
    }
    // The Machine last: as long as it has no controller, the next pass begins again.
    for (secret, patch) in secrets {
        writer.merge_patch::<Secret>(&(), secret, patch).await?;
    }
    writer.merge_patch::<Machine>(&(), machine, patch).await?;
    Ok(())
}

fn cluster_key(view: &View) -> ObjectKey {
    let name = view.cluster.as_ref().map(|it| it.name_any()).unwrap_or_default();
    ObjectKey::new(view.control_plane.namespace().unwrap_or_default(), name)
}

fn algorithm(spec: &KubeadmConfigSpec) -> Algorithm {
    let named = spec.cluster_configuration.encryption_algorithm;
    named.and_then(|it| it.as_str().parse().ok()).unwrap_or_default()
}

async fn create_certificates(
    sources: &Sources,
    view: &View,
    purposes: &[Purpose],
    context: &Context,
) -> Result<(), ActError> {
    let cluster = cluster_key(view);
    let control_plane = &*view.control_plane;
    let spec = &control_plane.spec.kubeadm_config_spec;
    let days = spec.cluster_configuration.ca_certificate_validity_period_days;
    let options = AuthorityOptions {
        validity_days: days.and_then(|it| u16::try_from(it).ok()),
        algorithm: algorithm(spec),
    };
    for certificate in certificate_set(control_plane)
        .0
        .iter()
        .filter(|it| purposes.contains(&it.purpose))
    {
        let purpose = certificate.purpose;
        let fail = |source| ActError::Certificate {
            purpose: purpose.suffix(),
            cluster: cluster.clone(),
            source,
        };
        // What only users can supply is waited for.
        let Some(pair) = certificate
            .generate(options, context.now, &*sources.keys)
            .map_err(fail)?
        else {
            continue;
        };
        let secret = secrets::key_pair_secret(&cluster, purpose, &pair, owner::controller(control_plane));
        // Any secret of that name is the user's or from an earlier attempt: it is taken as it is.
        create_or_adopt::<Secret>(&context.writer, &(), &secret, |_| true).await?;
    }
    Ok(())
}

async fn write_kubeconfig(
    sources: &Sources,
    view: &View,
    renew: bool,
    context: &Context,
) -> Result<(), ActError> {
    let cluster = cluster_key(view);
    let secret = sources.secrets.get(&cluster, Purpose::ClusterAuthority).await;
    let pair = secret.found().and_then(secrets::key_pair);
    let pair = pair.ok_or_else(|| ActError::NoAuthority {
        cluster: cluster.clone(),
    })?;
    let fail = |source| ActError::Certificate {
        purpose: "kubeconfig",
        cluster: cluster.clone(),
        source,
    };
    let authority =
        Authority::from_pem(pair.certificate.as_bytes(), pair.key.expose().as_bytes()).map_err(fail)?;
    let endpoint = view
        .cluster
        .as_ref()
        .map(|it| it.spec.control_plane_endpoint.clone())
        .unwrap_or_default();
    let server = format!("https://{}:{}", endpoint.host, endpoint.port);
    let algorithm = algorithm(&view.control_plane.spec.kubeadm_config_spec);
    let made = Kubeconfig::for_administrator(
        &cluster.name,
        &server,
        &authority,
        algorithm,
        context.now,
        &*sources.keys,
    );
    let text = made.and_then(|it| it.to_yaml()).map_err(fail)?;
    let secret = secrets::kubeconfig_secret(&cluster, &text, owner::controller(&*view.control_plane));
    if renew {
        let key = ObjectKey::of(&secret);
        context
            .writer
            .merge_patch::<Secret>(&(), &key, &json!({ "data": secret.data }))
            .await?;
    } else {
        create_or_adopt::<Secret>(&context.writer, &(), &secret, |_| true).await?;
    }
    Ok(())
}

async fn remove_member(
    sources: &Sources,
    view: &View,
    member: MemberId,
    ask: &str,
    leader_node: &str,
    new_leader: Option<MemberId>,
) -> Result<(), ActError> {
    let cluster = cluster_key(view);
    let not_connected = |why: String| ActError::NotConnected {
        cluster: cluster.clone(),
        why,
    };
    let connection = connected(sources, &cluster)?;
    let credentials = sources.credentials(&cluster, view).await.map_err(not_connected)?;
    let fail = |source| ActError::Etcd {
        node: leader_node.to_owned(),
        source,
    };
    if let Some(target) = new_leader {
        // Only the leader can hand leadership over.
        let leader = etcd::Client::connect(
            connection.client(),
            leader_node,
            &credentials,
            etcd::Limits::default(),
        );
        leader
            .await
            .map_err(fail)?
            .move_leader(target)
            .await
            .map_err(fail)?;
    }
    let client = etcd::Client::connect(connection.client(), ask, &credentials, etcd::Limits::default());
    match client.await.map_err(fail)?.remove_member(member).await {
        Ok(_) => Ok(()),
        Err(error) if error.is_member_not_found() => Ok(()),
        Err(error) => Err(fail(error)),
    }
}
