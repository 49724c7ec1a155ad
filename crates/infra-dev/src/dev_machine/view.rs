//! Everything that a decision about a DevMachine needs.

use std::sync::Arc;

use capstan_api::{
    condition,
    core::{Cluster, Conditioned as _, Machine},
    infrastructure::{
        DevMachine,
        words::{condition as types, reason},
    },
    well_known,
};
use capstan_base::Timestamp;
use capstan_engine::{Lookup, ObjectKey};
use kube::ResourceExt;

use crate::{
    backend::{Authorities, MachineFacts, NodeIntent, address},
    bootstrap::Bootstrap,
    timeline::{Parts, Timeline, Timings},
};

/// A machine's bootstrap data, and when they were made.
#[derive(Debug, Clone, PartialEq)]
pub struct BootstrapData {
    /// What they tell kubeadm.
    pub bootstrap: Bootstrap,
    /// When their Secret was made.
    pub created: Option<Timestamp>,
}

/// A DevMachine and its surroundings.
#[derive(Debug, Clone)]
pub struct View {
    /// The time of this pass.
    pub now: Timestamp,
    /// The DevMachine.
    pub object: Arc<DevMachine>,
    /// The Machine that owns it.
    pub machine: Option<Arc<Machine>>,
    /// The key of the Cluster, from the labels; known even when the Cluster is not there.
    pub cluster_key: Option<ObjectKey>,
    /// The Cluster.
    pub cluster: Option<Arc<Cluster>>,
    /// The workload cluster is open in this process.
    pub is_cluster_open: bool,
    /// The bootstrap data; absent if their Secret is, or if nothing needs them any more.
    pub bootstrap: Lookup<BootstrapData>,
    /// The cluster's authorities; absent if their Secrets are, or if nothing needs them any more.
    pub authorities: Lookup<Authorities>,
    /// What runs of the machine in this process.
    pub facts: MachineFacts,
}

impl View {
    /// The DevMachine's name, which its node has too.
    pub fn name(&self) -> String {
        self.object.name_any()
    }

    /// The DevMachine's UID.
    pub fn uid(&self) -> String {
        self.object.uid().unwrap_or_default()
    }

    /// Is it being deleted?
    pub fn is_deleting(&self) -> bool {
        self.object.metadata.deletion_timestamp.is_some()
    }

    /// Is it part of the control plane?
    pub fn is_control_plane(&self) -> bool {
        well_known::is_control_plane(self.machine.as_ref().and_then(|it| it.metadata.labels.as_ref()))
    }

    /// What the stored conditions say to have come up; it stays so.
    pub fn recorded(&self) -> Parts {
        let is_true = |type_: &str| condition::is_true(self.object.conditions(), type_);
        Parts {
            vm: is_true(types::VM_PROVISIONED),
            node: is_true(types::NODE_PROVISIONED),
            etcd: is_true(types::ETCD_PROVISIONED),
            api_server: is_true(types::API_SERVER_PROVISIONED),
        }
    }

    /// The machine's timings.
    pub fn timings(&self) -> Timings {
        self.object
            .spec
            .backend
            .in_memory
            .as_ref()
            .map(|it| Timings::of(&self.uid(), it))
            .unwrap_or_default()
    }

    /// When the VM was started, or has to be taken to have been started: a VM of an earlier life of this process
    /// started when its conditions say, or as soon as it could.
    pub fn start(&self) -> Timestamp {
        if let Some(started) = self.facts.started {
            return started;
        }
        let vm = condition::find(self.object.conditions(), types::VM_PROVISIONED);
        match vm {
            Some(it) if it.status == "True" => it.last_transition_time.0 - jiff_duration(self.timings().vm),
            Some(it) if it.reason == reason::WAITING_FOR_STARTUP => {
                let created = self.object.metadata.creation_timestamp.as_ref().map(|it| it.0);
                let data = self.bootstrap.found().and_then(|it| it.created);
                created.max(data).unwrap_or(self.now).min(self.now)
            }
            _ => self.now,
        }
    }

    /// When the parts of the machine come up.
    pub fn timeline(&self) -> Timeline {
        Timeline::new(self.start(), self.timings())
    }

    /// What has come up by its timings, or is recorded to have.
    pub fn due(&self) -> Parts {
        let due = self.timeline().due(self.now, self.is_control_plane());
        let recorded = self.recorded();
        Parts {
            vm: due.vm || recorded.vm,
            node: due.node || recorded.node,
            etcd: due.etcd || recorded.etcd,
            api_server: due.api_server || recorded.api_server,
        }
    }

    /// The machine's identity with the provider.
    /// Parity: upstream test/infrastructure/docker/reconcilers/backends/inmemory, calculateProviderID.
    pub fn provider_id(&self) -> String {
        format!("in-memory://{}", self.name())
    }

    /// The node that the machine becomes.
    pub fn node(&self) -> NodeIntent {
        NodeIntent {
            name: self.name(),
            provider_id: self.provider_id(),
            version: self
                .machine
                .as_ref()
                .and_then(|it| it.spec.version.clone())
                .unwrap_or_default(),
            is_control_plane: self.is_control_plane(),
            address: address(&self.uid()),
            registration: self
                .bootstrap
                .found()
                .map(|it| it.bootstrap.registration())
                .unwrap_or_default(),
        }
    }
}

fn jiff_duration(duration: std::time::Duration) -> jiff::SignedDuration {
    jiff::SignedDuration::try_from(duration).unwrap_or_default()
}
