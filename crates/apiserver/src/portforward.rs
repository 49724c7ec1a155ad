//! `pods/NAME/portforward` over WebSocket: one byte stream per port in frames that begin with a channel number, data on
//! even channels and errors on odd ones; each channel begins with its port.
//! Source: kubelet `pkg/cri/streaming/portforward/websocket.go`.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use futures::{SinkExt, StreamExt};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, WriteHalf},
    sync::mpsc,
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{Message, handshake::derive_accept_key, protocol::Role},
};

use crate::{
    auth::{Attributes, Decision, Identity},
    http::{ResponseBody, empty_body, error_response},
    registry::Target,
    seams::Duplex,
    server::Shared,
    wire::{
        query::Query,
        request::{RequestInfo, ResourcePath},
        status::{ApiError, Result},
    },
};

/// The subprotocols that are spoken, best first.
const PROTOCOLS: [&str; 2] = ["v4.channel.k8s.io", "portforward.k8s.io"];
/// Bytes read from a stream at once.
const CHUNK: usize = 32 * 1024;
/// Frames that may wait for the socket.
const BACKLOG: usize = 16;

/// Answers a request for port forwarding, or nothing if it is none.
pub(crate) fn upgrade(
    server: &Arc<Shared>,
    request: &mut Request<Incoming>,
    identity: &Identity,
) -> Option<Response<ResponseBody>> {
    let query = Query::parse(request.uri().query().unwrap_or_default());
    let info = RequestInfo::parse(request.method(), request.uri().path(), &query);
    let path = info.resource.as_ref()?;
    if (path.resource.as_str(), path.subresource.as_str()) != ("pods", "portforward")
        || !path.group.is_empty()
    {
        return None;
    }
    let attributes = Attributes::of(&info);
    let outcome = match server
        .authorizer
        .authorize(&server.registry, identity, &attributes)
    {
        Decision::Allow => begin(server, request, path, &query),
        Decision::NoOpinion => Err(attributes.forbidden(identity)),
    };
    Some(outcome.unwrap_or_else(|error| error_response(&error)))
}

fn begin(
    server: &Arc<Shared>,
    request: &mut Request<Incoming>,
    path: &ResourcePath,
    query: &Query,
) -> Result<Response<ResponseBody>> {
    let pods = server.registry.resources();
    let pods = pods.get("", "pods").ok_or_else(ApiError::unknown_path)?;
    let target = Target::stored(pods, &path.namespace, &path.name).ok_or_else(ApiError::unknown_path)?;
    server.registry.get(&target)?;
    let forward = server.registry.seams().port_forward.clone().ok_or_else(|| {
        ApiError::new(
            StatusCode::NOT_IMPLEMENTED,
            "",
            "pods of this server cannot be reached by port forwarding",
        )
    })?;
    let ports = ports(query)?;
    let headers = request.headers();
    let key = text(headers, &header::SEC_WEBSOCKET_KEY).filter(|_| {
        request.method() == Method::GET
            && text(headers, &header::UPGRADE).is_some_and(|it| it.eq_ignore_ascii_case("websocket"))
    });
    let key = key.ok_or_else(|| ApiError::bad_request("port forwarding needs an upgrade to websocket"))?;
    let accept = derive_accept_key(key.as_bytes());
    let protocol = protocol(headers).ok_or_else(|| {
        ApiError::bad_request(format!(
            "none of the offered subprotocols is spoken: {}",
            PROTOCOLS.join(", ")
        ))
    })?;
    let streams: Vec<_> = ports
        .iter()
        .map(|port| forward.open(&path.namespace, &path.name, *port))
        .collect();
    let upgrade = hyper::upgrade::on(&mut *request);
    let shutdown = server.shutdown();
    tokio::spawn(async move {
        let upgraded = match upgrade.await {
            Ok(upgraded) => upgraded,
            Err(error) => {
                tracing::debug!(%error, "upgrade to websocket failed");
                return;
            }
        };
        let socket = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, None).await;
        tokio::select! {
            biased;
            () = relay(socket, &ports, streams) => {}
            () = shutdown => {}
        }
    });
    let mut response = Response::new(empty_body());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(protocol));
    if let Ok(accept) = HeaderValue::from_str(&accept) {
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    }
    Ok(response)
}

fn text<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The first spoken subprotocol among those that the client offers.
fn protocol(headers: &HeaderMap) -> Option<&'static str> {
    let offered = text(headers, &header::SEC_WEBSOCKET_PROTOCOL)?;
    PROTOCOLS
        .into_iter()
        .find(|spoken| offered.split(',').any(|it| it.trim() == *spoken))
}

fn ports(query: &Query) -> Result<Vec<u16>> {
    let mut ports = Vec::new();
    for text in query.all("ports").flat_map(|list| list.split(',')) {
        let port = text.parse().ok().filter(|port| *port > 0);
        ports.push(port.ok_or_else(|| ApiError::bad_request(format!("invalid port {text:?}")))?);
    }
    // A channel number is one byte, and a port takes two channels.
    if ports.is_empty() || ports.len() > 127 {
        return Err(ApiError::bad_request("between 1 and 127 ports must be given"));
    }
    Ok(ports)
}

fn frame(channel: usize, bytes: &[u8]) -> Message {
    let mut frame = BytesMut::with_capacity(bytes.len() + 1);
    frame.put_u8(u8::try_from(channel).unwrap_or(u8::MAX));
    frame.put_slice(bytes);
    Message::Binary(frame.freeze())
}

/// Relays between the socket and the streams until one side ends.
async fn relay<S>(socket: WebSocketStream<S>, ports: &[u16], streams: Vec<Result<Box<dyn Duplex>, String>>)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (mut sink, mut source) = socket.split();
    let (frames, mut pending) = mpsc::channel::<Message>(BACKLOG);
    let mut writers: Vec<Option<WriteHalf<Box<dyn Duplex>>>> = Vec::new();
    let mut readers = tokio::task::JoinSet::new();
    for (index, (port, stream)) in ports.iter().zip(streams).enumerate() {
        let opening = port.to_le_bytes();
        for channel in [2 * index, 2 * index + 1] {
            if sink.send(frame(channel, &opening)).await.is_err() {
                return;
            }
        }
        match stream {
            Ok(stream) => {
                let (mut reader, writer) = tokio::io::split(stream);
                writers.push(Some(writer));
                let frames = frames.clone();
                readers.spawn(async move {
                    let mut buffer = vec![0; CHUNK];
                    while let Ok(count @ 1..) = reader.read(&mut buffer).await {
                        if frames.send(frame(2 * index, &buffer[..count])).await.is_err() {
                            return;
                        }
                    }
                });
            }
            Err(why) => {
                writers.push(None);
                if sink.send(frame(2 * index + 1, why.as_bytes())).await.is_err() {
                    return;
                }
            }
        }
    }
    drop(frames);
    loop {
        tokio::select! {
            biased;
            message = pending.recv() => match message {
                Some(message) => if sink.send(message).await.is_err() { return },
                // Every stream has ended on the pod's side.
                None => break,
            },
            message = source.next() => match message {
                Some(Ok(Message::Binary(bytes))) => deliver(&mut writers, bytes).await,
                Some(Ok(Message::Ping(bytes))) => if sink.send(Message::Pong(bytes)).await.is_err() { return },
                Some(Ok(Message::Close(_)) | Err(_)) | None => break,
                Some(Ok(_)) => {}
            },
        }
    }
    for writer in writers.iter_mut().flatten() {
        // The stream may have ended already.
        let _ = writer.shutdown().await;
    }
    let _ = sink.send(Message::Close(None)).await;
}

/// Writes what a client sent to the stream of its channel.
async fn deliver(writers: &mut [Option<WriteHalf<Box<dyn Duplex>>>], mut bytes: Bytes) {
    if bytes.len() < 2 {
        return;
    }
    let channel = usize::from(bytes.split_to(1)[0]);
    let Some(slot) = writers.get_mut(channel / 2).filter(|_| channel.is_multiple_of(2)) else {
        return;
    };
    if let Some(writer) = slot
        && writer.write_all(&bytes).await.is_err()
    {
        *slot = None;
    }
}
