//! Faults that a simulation or a drill inflicts, VMs that lose power and come back, and what it audits afterwards.

use capstan_engine::ObjectKey;

use super::{Backend, BackendError, objects};

/// The etcd cluster of a workload cluster, as an auditor sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quorum {
    /// The Cluster.
    pub cluster: ObjectKey,
    /// How many members vote.
    pub voters: usize,
    /// Is a majority of them running?
    pub holds: bool,
}

impl Backend {
    /// The etcd clusters that have members.
    pub fn quorums(&self) -> Vec<Quorum> {
        let quorum = |workload: &super::Workload| {
            workload.etcd.read(|etcd| Quorum {
                cluster: workload.cluster.clone(),
                voters: etcd.voters().count(),
                holds: etcd.has_quorum(),
            })
        };
        let clusters = self.world.clusters.lock();
        clusters
            .values()
            .map(|it| quorum(it))
            .filter(|it| it.voters > 0)
            .collect()
    }

    /// Cuts the power of a VM: its kubelet falls silent, its static pods stop answering, its etcd member leaves the
    /// quorum. The VM still exists.
    pub async fn power_off(&self, cluster: &ObjectKey, name: &str) -> Result<(), BackendError> {
        let workload = self.open(cluster)?;
        let (member, has_etcd) = workload.set_power(name, false)?;
        if has_etcd {
            workload.stop_etcd(member).await?;
        }
        if let Some(server) = workload.running_server() {
            let client = kube::Client::new(server.service(objects::kubelet()), "default");
            objects::report_node(&client, name, false, self.world.settings.clock.now()).await?;
        }
        workload.refresh().await
    }

    /// Gives a VM its power back; everything on it runs again as before.
    pub async fn power_on(&self, cluster: &ObjectKey, name: &str) -> Result<(), BackendError> {
        let workload = self.open(cluster)?;
        let (member, has_etcd) = workload.set_power(name, true)?;
        if has_etcd {
            workload.restart_etcd(member).await?;
        }
        if let Some(server) = workload.running_server() {
            let client = kube::Client::new(server.service(objects::kubelet()), "default");
            objects::report_node(&client, name, true, self.world.settings.clock.now()).await?;
        }
        workload.refresh().await
    }
}
