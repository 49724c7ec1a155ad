//! The machines of a workload cluster: VMs, and what runs on them.

use std::sync::Arc;

use capstan_base::{Timestamp, naming};
use capstan_engine::ObjectKey;

use super::{
    Backend, BackendError, VirtualMachine, Workload,
    forward::EtcdTls,
    identity::{Authorities, server_config},
    objects, token,
};
use crate::{
    bootstrap::{Bootstrap, Registration},
    etcd::{self, ChangeError},
    timeline::Parts,
};

/// A VM to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VmIntent {
    /// The DevMachine's name, which the node will have too.
    pub name: String,
    /// The DevMachine's UID: one VM each.
    pub uid: String,
    /// Whether it is a control-plane machine.
    pub is_control_plane: bool,
    /// When it starts; in the past for a VM that this process forgot.
    pub start: Timestamp,
}

/// A node to register.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeIntent {
    /// The DevMachine's name.
    pub name: String,
    /// The node's identity with the provider.
    pub provider_id: String,
    /// The Kubernetes version.
    pub version: String,
    /// Whether it is a control-plane machine.
    pub is_control_plane: bool,
    /// The node's address.
    pub address: String,
    /// Taints and labels.
    pub registration: Registration,
}

/// What runs of one machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MachineFacts {
    /// When its VM was started; none if there is no VM.
    pub started: Option<Timestamp>,
    /// What runs.
    pub running: Parts,
    /// Can the workload cluster be reached, through this machine or another one?
    pub cluster_serves: bool,
}

pub(crate) struct Vm {
    pub(super) uid: String,
    pub(super) started: Timestamp,
    pub(super) is_control_plane: bool,
    pub(super) is_powered: bool,
    pub(super) parts: Parts,
    pub(super) etcd_id: u64,
    pub(super) etcd_tls: Option<EtcdTls>,
}

/// The address of a machine: follows from its UID, in the network that VMs share.
pub(crate) fn address(uid: &str) -> String {
    let hash = naming::fnv32a(uid.as_bytes());
    let [_, second, third, fourth] = hash.to_be_bytes();
    format!("10.{second}.{third}.{}", fourth % 254 + 1)
}

impl Backend {
    /// What runs of a machine.
    pub fn machine(&self, cluster: &ObjectKey, name: &str, uid: &str) -> MachineFacts {
        let Some(workload) = self.cluster(cluster) else {
            return MachineFacts::default();
        };
        let cluster_serves = workload.is_serving();
        let vms = workload.vms.lock();
        let vm = vms.get(name).filter(|it| it.uid == uid);
        MachineFacts {
            started: vm.map(|it| it.started),
            running: vm.map(|it| it.parts).unwrap_or_default(),
            cluster_serves,
        }
    }

    /// Starts a VM. Does nothing if the DevMachine of that UID has one.
    pub fn start_vm(&self, cluster: &ObjectKey, intent: &VmIntent) -> Result<(), BackendError> {
        let workload = self.open(cluster)?;
        let mut vms = workload.vms.lock();
        if vms.get(&intent.name).is_some_and(|it| it.uid == intent.uid) {
            return Ok(());
        }
        let vm = Vm {
            uid: intent.uid.clone(),
            started: intent.start,
            is_control_plane: intent.is_control_plane,
            is_powered: true,
            parts: Parts {
                vm: true,
                ..Parts::default()
            },
            etcd_id: etcd::stable_id(&["member", workload.uid(), &intent.uid]),
            etcd_tls: None,
        };
        vms.insert(intent.name.clone(), vm);
        let machine = VirtualMachine {
            cluster: cluster.clone(),
            machine: intent.name.clone(),
            started: intent.start,
            is_control_plane: intent.is_control_plane,
        };
        self.world.ledger.enter(&intent.uid, machine);
        Ok(())
    }

    /// Stops a VM and removes what it left in the cluster: its node, its static pods, its etcd process. The etcd member
    /// stays in etcd's list until somebody removes it. Does nothing if the VM is gone.
    pub async fn stop_vm(&self, cluster: &ObjectKey, name: &str, uid: &str) -> Result<(), BackendError> {
        let Some(workload) = self.cluster(cluster) else {
            self.world.ledger.leave(uid);
            return Ok(());
        };
        let Some(vm) = workload.take(name, uid) else {
            self.world.ledger.leave(uid);
            return Ok(());
        };
        if let Some(server) = workload.running_server() {
            let client = kube::Client::new(server.service(objects::kubelet()), "default");
            objects::remove_machine(&client, name, vm.is_control_plane).await?;
        }
        workload.stop_etcd(vm.etcd_id).await?;
        workload.refresh().await?;
        self.world.ledger.leave(uid);
        Ok(())
    }

    /// Lets kubeadm and the kubelet on a machine register its node: as the first of the cluster, or by joining with the
    /// token in its bootstrap data.
    ///
    /// # Errors
    /// [`BackendError::Join`] if the cluster cannot be joined, yet.
    pub async fn register_node(
        &self,
        cluster: &ObjectKey,
        intent: &NodeIntent,
        bootstrap: Option<&Bootstrap>,
        authorities: &Authorities,
    ) -> Result<(), BackendError> {
        let workload = self.open(cluster)?;
        let client = workload.client(&intent.version).await?;
        if let Some(Bootstrap::Join {
            token,
            authority_hashes,
            ..
        }) = bootstrap
        {
            if !workload.is_serving() {
                return Err(BackendError::Join(
                    "the cluster's API server does not answer".to_owned(),
                ));
            }
            token::check_authority(authority_hashes, authorities.cluster.certificate())?;
            if let Some(token) = token {
                token::check(&client, token, self.world.settings.clock.now()).await?;
            }
        }
        objects::register_node(&client, intent, self.world.settings.clock.now()).await?;
        workload.with(&intent.name, |vm| vm.parts.node = true)
    }

    /// Starts the etcd member of a control-plane machine: it founds the etcd cluster or joins it.
    pub async fn start_etcd(
        &self,
        cluster: &ObjectKey,
        node: &NodeIntent,
        authorities: &Authorities,
    ) -> Result<(), BackendError> {
        let workload = self.open(cluster)?;
        let client = workload.client(&node.version).await?;
        let member = workload.with(&node.name, |vm| vm.etcd_id)?;
        let settings = &self.world.settings;
        let names = vec![
            node.name.clone(),
            "localhost".to_owned(),
            "127.0.0.1".to_owned(),
            node.address.clone(),
        ];
        let tls = server_config(
            &authorities.etcd,
            &node.name,
            names,
            true,
            &settings.clock,
            &*settings.keys,
        )
        .map_err(|source| BackendError::Certificates {
            machine: node.name.clone(),
            source,
        })?;
        let cluster_id = etcd::stable_id(&["cluster", workload.uid()]);
        workload
            .etcd
            .change(|it| it.start(member, &node.name, &node.address, cluster_id))
            .await
            .map_err(|source| workload.etcd_error(source))?;
        workload.with(&node.name, |vm| vm.etcd_tls = Some(Arc::new(tls)))?;
        objects::run_static_pod(&client, node, objects::ETCD, settings.clock.now()).await?;
        // A returning member may bring the quorum back.
        workload.trust(authorities);
        workload.refresh().await?;
        workload.with(&node.name, |vm| vm.parts.etcd = true)
    }

    /// Starts API server, controller manager and scheduler of a control-plane machine. On the first one kubeadm leaves
    /// behind what every cluster needs. The cluster can be reached from now on.
    pub async fn start_control_plane(
        &self,
        cluster: &ObjectKey,
        node: &NodeIntent,
        bootstrap: &Bootstrap,
        authorities: &Authorities,
    ) -> Result<(), BackendError> {
        let workload = self.open(cluster)?;
        let client = workload.client(&node.version).await?;
        let now = self.world.settings.clock.now();
        for component in objects::CONTROL_PLANE {
            objects::run_static_pod(&client, node, component, now).await?;
        }
        // Data that say nothing to kubeadm still make a cluster, as upstream's do.
        let founds = match bootstrap {
            Bootstrap::Init {
                cluster_configuration,
                tokens,
                ..
            } => Some((cluster_configuration.as_str(), &tokens[..])),
            Bootstrap::Opaque => Some(("", &[][..])),
            Bootstrap::Join { .. } => None,
        };
        if let Some((cluster_configuration, tokens)) = founds {
            let leftovers = objects::Leftovers {
                cluster: cluster.name.clone(),
                endpoint: format!("https://{}", workload.endpoint()),
                version: node.version.clone(),
                cluster_configuration: cluster_configuration.to_owned(),
                authority: authorities.cluster.certificate().to_pem(),
            };
            objects::leave_behind(&client, &leftovers).await?;
            for token in tokens {
                token::create(&client, token, now).await?;
            }
        }
        workload.trust(authorities);
        workload.with(&node.name, |vm| vm.parts.api_server = true)?;
        let opened = workload.refresh().await;
        if opened.is_err() {
            workload.with(&node.name, |vm| vm.parts.api_server = false)?;
        }
        opened
    }
}

impl Workload {
    fn with<R>(&self, name: &str, change: impl FnOnce(&mut Vm) -> R) -> Result<R, BackendError> {
        let mut vms = self.vms.lock();
        vms.get_mut(name).map(change).ok_or_else(|| BackendError::NoVm {
            machine: name.to_owned(),
        })
    }

    fn take(&self, name: &str, uid: &str) -> Option<Vm> {
        let mut vms = self.vms.lock();
        if vms.get(name).is_some_and(|it| it.uid == uid) {
            vms.remove(name)
        } else {
            None
        }
    }

    /// Switches a VM; says which etcd member it has, and whether its etcd was ever started.
    pub(super) fn set_power(&self, name: &str, is_powered: bool) -> Result<(u64, bool), BackendError> {
        self.with(name, |vm| {
            vm.is_powered = is_powered;
            (vm.etcd_id, vm.parts.etcd)
        })
    }

    /// Starts an etcd member that ran before.
    pub(super) async fn restart_etcd(&self, member: u64) -> Result<(), BackendError> {
        let restart = |it: &mut etcd::Membership| it.restart(member);
        self.etcd
            .change(restart)
            .await
            .map_err(|source| self.etcd_error(source))
    }

    /// Stops the process of an etcd member.
    pub(super) async fn stop_etcd(&self, member: u64) -> Result<(), BackendError> {
        let stop = |it: &mut etcd::Membership| {
            it.stop(member);
            Ok(())
        };
        self.etcd
            .change(stop)
            .await
            .map_err(|source| self.etcd_error(source))
    }

    fn etcd_error(&self, source: ChangeError) -> BackendError {
        BackendError::Etcd {
            cluster: self.cluster.clone(),
            source,
        }
    }
}
