//! Clients over in-process pipes: the same HTTP, without sockets and TLS.

use std::{
    fmt, future, io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures::future::BoxFuture;
use hyper_util::{
    client::legacy::{
        Client as HttpClient,
        connect::{Connected, Connection as TransportConnection},
    },
    rt::{TokioExecutor, TokioIo},
};
use kube::{Client, Config, client::ConfigExt};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tower::Layer;

use crate::connect::{Call, ConnectError, Connector};

/// Opens pipes to servers of this process.
pub trait Dial: Send + Sync + 'static {
    /// A pipe whose other end speaks HTTP/1.1 on behalf of the called server, with the caller already authenticated by
    /// the certificate in `call`. Fails as a socket would when nobody listens.
    fn dial(&self, call: &Call) -> io::Result<DuplexStream>;
}

/// Clients whose connections are in-process pipes.
#[derive(Clone)]
pub struct PipeConnector(Arc<dyn Dial>);

impl fmt::Debug for PipeConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PipeConnector").finish_non_exhaustive()
    }
}

impl PipeConnector {
    /// A connector that opens its pipes through `dial`.
    pub fn new(dial: Arc<dyn Dial>) -> Self {
        Self(dial)
    }
}

impl Connector for PipeConnector {
    fn connect<'a>(&'a self, kubeconfig: &'a [u8]) -> BoxFuture<'a, Result<Client, ConnectError>> {
        Box::pin(async move {
            let call = Call::parse(kubeconfig)?;
            let server = call
                .server
                .parse()
                .map_err(|_| ConnectError::Incomplete("the server is not a URL"))?;
            let config = Config::new(server);
            let dial = Arc::clone(&self.0);
            let pipes = tower::service_fn(move |_: http::Uri| {
                future::ready(dial.dial(&call).map(|it| TokioIo::new(Pipe(it))))
            });
            let transport = HttpClient::builder(TokioExecutor::new()).build(pipes);
            let service = config.base_uri_layer().layer(transport);
            Ok(Client::new(service, config.default_namespace))
        })
    }
}

/// One end of a pipe, as the HTTP client wants its transports.
struct Pipe(DuplexStream);

impl TransportConnection for Pipe {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl AsyncRead for Pipe {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
