//! Everything that decisions about one KubeadmControlPlane may need.

use std::{collections::BTreeMap, sync::Arc};

use capstan_api::{
    bootstrap::KubeadmConfig,
    controlplane::KubeadmControlPlane,
    core::{Cluster, Machine},
    well_known,
};
use capstan_base::Timestamp;
use capstan_contract::External;
use capstan_engine::Lookup;
use capstan_pki::Purpose;
use capstan_workload::{
    Remote,
    etcd::{Alarm, Member as EtcdMember, MemberId},
};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::ResourceExt;

use crate::{adoption::Orphan, pod_health, quorum, selection::Candidate, up_to_date, upkeep::Upkeep};

/// The snapshot of one pass.
#[derive(Debug, Clone)]
pub struct View {
    /// The time of the pass.
    pub now: Timestamp,
    /// How many passes failed in a row before this one.
    pub failures: u32,
    /// The control plane.
    pub control_plane: Arc<KubeadmControlPlane>,
    /// Its Cluster, found by the owner reference; none until the Cluster controller has set it.
    pub cluster: Option<Arc<Cluster>>,
    /// Its machines, by name.
    pub members: Vec<Member>,
    /// Machines of the cluster's control plane that nobody controls, by name.
    pub orphans: Vec<Orphan>,
    /// How many worker Machines the cluster has.
    pub workers: usize,
    /// The names of hosts and KubeadmConfigs of the control plane for which no Machine was made yet, sorted.
    pub unclaimed: Vec<String>,
    /// The template of the hosts.
    pub infrastructure_template: Lookup<External>,
    /// The certificate authorities that have to be there: whether each is.
    pub certificates: BTreeMap<Purpose, Lookup<()>>,
    /// The kubeconfig: whether it is there, and whether it is ours and about to end.
    pub kubeconfig: Lookup<Kubeconfig>,
    /// Whether the workload cluster has kubeadm's configuration: its API server has been set up.
    pub kubeadm_config: Remote<()>,
    /// The etcd cluster; not asked before the control plane is initialised.
    pub etcd: Remote<Etcd>,
    /// What has to be kept in order inside the workload cluster.
    pub upkeep: Upkeep,
}

/// What is known of the kubeconfig.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kubeconfig {
    /// Its client certificate is ours to renew and ends within half its life.
    pub needs_renewal: bool,
}

/// One machine of the control plane and what belongs to it.
#[derive(Debug, Clone)]
pub struct Member {
    /// The Machine.
    pub machine: Arc<Machine>,
    /// Its host.
    pub infrastructure: Lookup<External>,
    /// Its KubeadmConfig.
    pub config: Lookup<Arc<KubeadmConfig>>,
    /// Its Node.
    pub node: Remote<Arc<Node>>,
    /// Its static pods.
    pub pods: BTreeMap<Component, Remote<Arc<Pod>>>,
}

/// A component that runs as a static pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Component {
    /// The API server.
    ApiServer,
    /// The controller manager.
    ControllerManager,
    /// The scheduler.
    Scheduler,
    /// etcd.
    Etcd,
}

impl Component {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::ApiServer,
        Self::ControllerManager,
        Self::Scheduler,
        Self::Etcd,
    ];

    /// The pod's name without the node's.
    pub fn pod(self) -> &'static str {
        match self {
            Self::ApiServer => "kube-apiserver",
            Self::ControllerManager => "kube-controller-manager",
            Self::Scheduler => "kube-scheduler",
            Self::Etcd => "etcd",
        }
    }

    /// The Machine's condition.
    pub fn condition(self) -> &'static str {
        match self {
            Self::ApiServer => "APIServerPodHealthy",
            Self::ControllerManager => "ControllerManagerPodHealthy",
            Self::Scheduler => "SchedulerPodHealthy",
            Self::Etcd => "EtcdPodHealthy",
        }
    }
}

/// The etcd cluster as its members tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Etcd {
    /// The members.
    pub members: Vec<EtcdMember>,
    /// The alarms.
    pub alarms: Vec<Alarm>,
    /// The leader.
    pub leader: Option<MemberId>,
}

impl Member {
    /// The machine's name.
    pub fn name(&self) -> String {
        self.machine.name_any()
    }

    /// Is the machine being deleted?
    pub fn is_deleting(&self) -> bool {
        self.machine.metadata.deletion_timestamp.is_some()
    }

    /// The name of the machine's node, once it is known.
    pub fn node_name(&self) -> Option<&str> {
        self.machine
            .status
            .as_ref()?
            .node_ref
            .as_ref()
            .map(|it| it.name.as_str())
    }

    /// What a component's pod says; none without a node to look at.
    pub fn health(&self, component: Component) -> Option<pod_health::Health> {
        match self.pods.get(&component)? {
            Remote::Found(pod) => Some(pod_health::of(pod)),
            _ => None,
        }
    }

    /// Do all pods of the control plane run?
    pub fn are_pods_healthy(&self, with_etcd: bool) -> bool {
        Component::ALL
            .into_iter()
            .filter(|it| with_etcd || *it != Component::Etcd)
            .all(|it| self.health(it).is_some_and(|it| it.status == "True"))
    }

    /// Why the machine stays although it is being deleted: the hook with which its etcd member is taken out first.
    pub fn waits_for_cleanup(&self) -> bool {
        let held = self
            .machine
            .annotations()
            .contains_key(well_known::annotation::KCP_PRE_TERMINATE_HOOK);
        let conditions = self
            .machine
            .status
            .as_ref()
            .map(|it| it.conditions.as_slice())
            .unwrap_or_default();
        let arrived = conditions.iter().any(|it| {
            it.type_ == "Deleting" && it.status == "True" && it.reason == "WaitingForPreTerminateHook"
        });
        held && self.is_deleting() && arrived
    }
}

impl View {
    /// Is the control plane being deleted?
    pub fn is_deleting(&self) -> bool {
        self.control_plane.metadata.deletion_timestamp.is_some()
    }

    /// The wanted number of machines.
    pub fn replicas(&self) -> usize {
        usize::try_from(self.control_plane.spec.replicas.unwrap_or(1)).unwrap_or(0)
    }

    /// Has kubeadm set up the cluster? Once true it stays true.
    pub fn is_initialized(&self) -> bool {
        let recorded = self
            .control_plane
            .status
            .as_ref()
            .and_then(|it| it.initialization.control_plane_initialized);
        recorded == Some(true) || self.kubeadm_config.found().is_some()
    }

    /// Does etcd run on the control plane's own machines?
    pub fn has_stacked_etcd(&self) -> bool {
        self.control_plane
            .spec
            .kubeadm_config_spec
            .cluster_configuration
            .etcd
            .external
            .is_none()
    }

    /// Are all certificate authorities there?
    pub fn has_certificates(&self) -> bool {
        self.certificates.values().all(|it| it.found().is_some())
    }

    /// What differs between a machine and what is wanted, in the words of the conditions; empty if it is up to date.
    pub fn differences(&self, member: &Member) -> Vec<String> {
        up_to_date::differences(&self.control_plane, member, self.now)
    }

    /// The names of the failure domains for control planes.
    pub fn failure_domains(&self) -> Vec<String> {
        let domains = self
            .cluster
            .as_ref()
            .and_then(|it| it.status.clone())
            .unwrap_or_default()
            .failure_domains;
        domains
            .into_iter()
            .filter(|it| it.control_plane == Some(true))
            .map(|it| it.name)
            .collect()
    }

    /// The machines as the choice among them needs to know them.
    pub fn candidates(&self) -> Vec<Candidate> {
        let candidate = |it: &Member| Candidate {
            name: it.name(),
            failure_domain: it.machine.spec.failure_domain.clone(),
            created: it
                .machine
                .metadata
                .creation_timestamp
                .as_ref()
                .map_or(0, |it| it.0.as_second()),
            is_up_to_date: self.differences(it).is_empty(),
            is_healthy: it.are_pods_healthy(self.has_stacked_etcd()) && self.is_etcd_member_healthy(it),
            is_requested: it
                .machine
                .annotations()
                .contains_key(well_known::annotation::DELETE_MACHINE),
            is_deleting: it.is_deleting(),
        };
        self.members.iter().map(candidate).collect()
    }

    /// The etcd member on a machine's node.
    pub fn etcd_member(&self, member: &Member) -> Option<&EtcdMember> {
        let node = member.node_name()?;
        self.etcd.found()?.members.iter().find(|it| it.name == node)
    }

    /// Does the machine's etcd member vote, without alarm? True where etcd is not on the machines.
    pub fn is_etcd_member_healthy(&self, member: &Member) -> bool {
        if !self.has_stacked_etcd() {
            return true;
        }
        let Some(etcd) = self.etcd.found() else {
            return false;
        };
        self.etcd_member(member)
            .is_some_and(|it| !it.is_learner && etcd.alarms.iter().all(|alarm| alarm.member != it.id))
    }

    /// The etcd members with their health, for the quorum's arithmetic. A member without a machine counts as healthy
    /// unless it has an alarm.
    pub fn quorum_members(&self) -> Vec<quorum::Member> {
        let Some(etcd) = self.etcd.found() else {
            return Vec::new();
        };
        let health = |it: &EtcdMember| {
            let machine = self
                .members
                .iter()
                .find(|member| member.node_name() == Some(it.name.as_str()));
            let has_alarm = etcd.alarms.iter().any(|alarm| alarm.member == it.id);
            let pod =
                machine.is_none_or(|it| it.health(Component::Etcd).is_some_and(|it| it.status == "True"));
            !has_alarm && pod
        };
        let member = |it: &EtcdMember| quorum::Member {
            name: it.name.clone(),
            is_learner: it.is_learner,
            is_healthy: health(it),
        };
        etcd.members.iter().map(member).collect()
    }
}
