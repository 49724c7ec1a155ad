//! Port-forward to the pods of a workload cluster: to etcd members.

use std::sync::{Arc, Weak};

use capstan_apiserver::{Duplex, PortForward};
use tokio_rustls::TlsAcceptor;

use super::Workload;
use crate::etcd;

/// The bytes that one end of a tunnel may be ahead of the other.
const PIPE: usize = 64 * 1024;

/// Opens tunnels into the machines of one workload cluster.
pub(crate) struct Forward(Weak<Workload>);

impl Forward {
    pub(crate) fn new(workload: Weak<Workload>) -> Self {
        Self(workload)
    }
}

impl PortForward for Forward {
    fn open(&self, namespace: &str, pod: &str, port: u16) -> Result<Box<dyn Duplex>, String> {
        let refused =
            || format!("failed to connect to port {port} of pod {namespace}/{pod}: connection refused");
        let node = pod
            .strip_prefix("etcd-")
            .filter(|_| namespace == "kube-system")
            .ok_or_else(refused)?;
        if port != capstan_workload::etcd::PORT {
            return Err(refused());
        }
        let workload = self.0.upgrade().ok_or_else(refused)?;
        let vms = workload.vms.lock();
        let vm = vms.get(node).filter(|it| it.is_powered).ok_or_else(refused)?;
        let tls = vm.etcd_tls.clone().ok_or_else(refused)?;
        let member = vm.etcd_id;
        let runs = workload
            .etcd
            .read(|it| it.members.get(&member).is_some_and(|it| it.is_running));
        if !runs {
            return Err(refused());
        }
        let (near, far) = tokio::io::duplex(PIPE);
        let etcd = workload.etcd.clone();
        tokio::spawn(async move {
            match TlsAcceptor::from(tls).accept(far).await {
                Ok(stream) => {
                    if let Err(error) = etcd::serve(stream, etcd, member).await {
                        tracing::debug!(error = %error, "etcd connection ended");
                    }
                }
                Err(error) => tracing::debug!(error = %error, "TLS handshake with etcd failed"),
            }
        });
        Ok(Box::new(near))
    }
}

/// The TLS that etcd members speak, shared by their tunnels.
pub(crate) type EtcdTls = Arc<rustls::ServerConfig>;
