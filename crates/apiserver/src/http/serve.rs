//! Connections: hyper over any byte stream, and over TLS on a socket.

use std::{convert::Infallible, sync::Arc};

use http::Request;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto::Builder,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
};
use tokio_rustls::TlsAcceptor;

use super::{body::ResponseBody, service::handle, tls};
use crate::{
    auth::{Authentication, Identity},
    server::Shared,
};

/// Streams that a client may have open on one connection: client-go runs all its watches over one.
const MAX_STREAMS: u32 = 1000;

/// Serves one connection until it ends or the server shuts down. `peer` is who the transport says the client is.
pub(crate) async fn serve_io<I>(server: Arc<Shared>, io: I, peer: Option<Identity>)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut shutdown = server.shutdown();
    let peer = Arc::new(peer);
    let handler = service_fn(move |request: Request<Incoming>| {
        let (server, peer) = (Arc::clone(&server), Arc::clone(&peer));
        async move { Ok::<_, Infallible>(respond(&server, request, peer.as_ref().as_ref()).await) }
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(None);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS);
    let connection = builder.serve_connection_with_upgrades(TokioIo::new(io), handler);
    let mut connection = std::pin::pin!(connection);
    let outcome = tokio::select! {
        biased;
        outcome = connection.as_mut() => outcome,
        () = &mut shutdown => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(error = %error, "connection ended");
    }
}

/// Accepts TLS connections until the server shuts down.
pub(crate) async fn serve_tls(server: Arc<Shared>, listener: TcpListener, config: Arc<rustls::ServerConfig>) {
    let acceptor = TlsAcceptor::from(config);
    let mut shutdown = server.shutdown();
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut shutdown => return,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of file descriptors, most likely: going on at once would spin.
                tracing::warn!(error = %error, "failed to accept a connection");
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                continue;
            }
        };
        let (server, acceptor) = (Arc::clone(&server), acceptor.clone());
        tokio::spawn(async move {
            let _ = stream.set_nodelay(true);
            match acceptor.accept(stream).await {
                Ok(stream) => {
                    let peer = tls::peer_identity(stream.get_ref().1);
                    serve_io(server, stream, peer).await;
                }
                Err(error) => tracing::debug!(error = %error, "TLS handshake failed"),
            }
        });
    }
}

async fn respond(
    server: &Arc<Shared>,
    mut request: Request<Incoming>,
    peer: Option<&Identity>,
) -> http::Response<ResponseBody> {
    let identity = match server
        .authenticator
        .authenticate(&server.registry, request.headers(), peer)
    {
        Authentication::User(identity) => identity,
        Authentication::Anonymous => Identity::anonymous(),
        Authentication::Invalid => {
            return super::respond::error(&crate::wire::status::ApiError::unauthorized());
        }
    };
    if let Some(response) = crate::portforward::upgrade(server, &mut request, &identity) {
        return response;
    }
    handle(server, request, &identity).await
}
