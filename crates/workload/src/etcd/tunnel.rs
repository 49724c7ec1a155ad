//! The way to a member: port-forward through the API server, TLS inside, HTTP/2 inside of that.

use std::{fmt, io, sync::Arc};

use capstan_base::Clock;
use hyper_util::rt::TokioIo;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use parking_lot::Mutex;
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tonic::transport::{Channel, Endpoint};

use super::{client::Limits, error::Error};
use crate::tls::ClockTime;

/// The port that etcd serves clients on.
pub const PORT: u16 = 2379;

/// The name that members' certificates are checked against. kubeadm puts it into every etcd server certificate,
/// and the tunnel ends on the member itself, so it is the right one.
const SERVER_NAME: &str = "localhost";

/// Who calls, and whom to trust. Made once per cluster and shared.
#[derive(Clone)]
pub struct Credentials(Arc<ClientConfig>);

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(..)")
    }
}

impl Credentials {
    /// Credentials from PEM: the etcd CA's certificate, and a client certificate signed by it with its key.
    pub fn new(
        certificate_authority: &[u8],
        client_certificate: &[u8],
        client_key: &[u8],
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates("CA certificate", certificate_authority)? {
            roots
                .add(certificate)
                .map_err(|it| invalid("CA certificate", it))?;
        }
        let chain = certificates("client certificate", client_certificate)?;
        let key = PrivateKeyDer::from_pem_slice(client_key).map_err(|it| invalid("client key", it))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_details(provider, Arc::new(ClockTime(clock)))
            .with_safe_default_protocol_versions()
            .map_err(|it| invalid("client certificate", it))?
            .with_root_certificates(roots)
            .with_client_auth_cert(chain, key)
            .map_err(|it| invalid("client certificate", it))?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Self(Arc::new(config)))
    }
}

fn certificates(what: &'static str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|it| invalid(what, it))
}

fn invalid(what: &'static str, source: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Credentials {
        what,
        source: Box::new(source),
    }
}

/// A channel to the member on `node`, through `cluster`'s API server.
pub(super) async fn through(
    cluster: &kube::Client,
    node: &str,
    credentials: &Credentials,
    limits: Limits,
) -> Result<Channel, Error> {
    let pod = format!("etcd-{node}");
    let dial = async {
        let pods: Api<Pod> = Api::namespaced(cluster.clone(), "kube-system");
        let mut forward = pods
            .portforward(&pod, &[PORT])
            .await
            .map_err(|it| Error::Forward {
                pod: pod.clone(),
                source: Box::new(it),
            })?;
        let stream = forward
            .take_stream(PORT)
            .ok_or_else(|| handshake(&pod, io::ErrorKind::NotConnected.into()))?;
        over(stream, &pod, credentials, limits).await
    };
    Box::pin(within(&pod, limits, dial)).await
}

/// A channel to a member at the other end of `stream`.
pub(super) async fn over(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    target: &str,
    credentials: &Credentials,
    limits: Limits,
) -> Result<Channel, Error> {
    let open = async {
        let name = ServerName::try_from(SERVER_NAME).map_err(|it| handshake(target, io::Error::other(it)))?;
        let tls = TlsConnector::from(Arc::clone(&credentials.0));
        let stream = tls
            .connect(name, stream)
            .await
            .map_err(|it| handshake(target, it))?;
        // One stream makes one connection: when it ends, the channel is over.
        let once = Mutex::new(Some(TokioIo::new(stream)));
        let connector = tower::service_fn(move |_: http::Uri| {
            let stream = once.lock().take();
            async move { stream.ok_or_else(|| io::Error::from(io::ErrorKind::ConnectionAborted)) }
        });
        Endpoint::from_static("http://localhost:2379")
            .connect_with_connector(connector)
            .await
            .map_err(|source| Error::Transport {
                target: target.to_owned(),
                source,
            })
    };
    within(target, limits, open).await
}

async fn within<T>(
    target: &str,
    limits: Limits,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let slow = || Error::Slow {
        target: target.to_owned(),
        limit: limits.dial,
    };
    tokio::time::timeout(limits.dial, work)
        .await
        .unwrap_or_else(|_| Err(slow()))
}

fn handshake(target: &str, source: io::Error) -> Error {
    Error::Handshake {
        target: target.to_owned(),
        source,
    }
}
