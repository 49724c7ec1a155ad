//! Faults that a simulation or a drill inflicts: VMs that lose power and come back.

use capstan_engine::ObjectKey;

use super::{Backend, BackendError, objects};

impl Backend {
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
            objects::report_node(&client, name, false, self.0.settings.clock.now()).await?;
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
            objects::report_node(&client, name, true, self.0.settings.clock.now()).await?;
        }
        workload.refresh().await
    }
}
