//! etcd's gRPC API on one stream, on behalf of one member.

use std::{convert::Infallible, future::Future};

use capstan_workload::etcd::wire::{self, method};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tonic::{Request, Response, Status, body::Body};
use tonic_prost::ProstCodec;

use super::{
    double::{ChangeError, Etcd},
    membership::{Membership, Peer, Refusal},
};

/// The version that the double claims to be.
const VERSION: &str = "3.6.6";
/// The size that the double claims to have, in bytes.
const DATABASE_SIZE: i64 = 20_480;

/// Answers on `stream` for the member `member` until the stream ends.
pub(crate) async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    etcd: Etcd,
    member: u64,
) -> Result<(), hyper::Error> {
    let service = hyper::service::service_fn(move |request| {
        answer(
            Server {
                etcd: etcd.clone(),
                member,
            },
            request,
        )
    });
    hyper::server::conn::http2::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(stream), service)
        .await
}

#[derive(Clone)]
struct Server {
    etcd: Etcd,
    member: u64,
}

async fn answer(
    server: Server,
    request: http::Request<hyper::body::Incoming>,
) -> Result<http::Response<Body>, Infallible> {
    Ok(match request.uri().path() {
        method::MEMBER_LIST => unary(request, async move |it| server.list(it)).await,
        method::MEMBER_ADD => unary(request, async move |it| server.add(it).await).await,
        method::MEMBER_REMOVE => unary(request, async move |it| server.remove(it).await).await,
        method::MEMBER_PROMOTE => unary(request, async move |it| server.promote(it).await).await,
        method::ALARM => unary(request, async move |it| server.alarm(it).await).await,
        method::STATUS => unary(request, async move |wire::StatusRequest {}| server.status()).await,
        method::MOVE_LEADER => unary(request, async move |it| server.move_leader(it).await).await,
        other => Status::unimplemented(format!("unknown method {other}")).into_http(),
    })
}

/// Decodes the one question, asks `handler`, encodes the one answer.
async fn unary<Question, Answer, Handler, Work>(
    request: http::Request<hyper::body::Incoming>,
    handler: Handler,
) -> http::Response<Body>
where
    Question: prost::Message + Default + Send + 'static,
    Answer: prost::Message + Send + 'static,
    Handler: FnOnce(Question) -> Work + Clone + Send + 'static,
    Work: Future<Output = Result<Answer, Status>> + Send + 'static,
{
    let service = tower::service_fn(move |request: Request<Question>| {
        let work = handler.clone()(request.into_inner());
        async move { work.await.map(Response::new) }
    });
    tonic::server::Grpc::new(ProstCodec::<Answer, Question>::default())
        .unary(service, request)
        .await
}

impl Server {
    fn header(&self, membership: &Membership) -> wire::ResponseHeader {
        wire::ResponseHeader {
            cluster_id: membership.cluster_id,
            member_id: self.member,
            revision: 1,
            raft_term: membership.term,
        }
    }

    fn list(&self, request: wire::MemberListRequest) -> Result<wire::MembersResponse, Status> {
        self.etcd.read(|membership| {
            if request.linearizable {
                membership.list().map_err(status)?;
            }
            Ok(self.members(membership))
        })
    }

    fn members(&self, membership: &Membership) -> wire::MembersResponse {
        wire::MembersResponse {
            header: Some(self.header(membership)),
            members: membership.members.iter().map(member).collect(),
        }
    }

    async fn add(&self, request: wire::MemberAddRequest) -> Result<wire::MemberAddResponse, Status> {
        let urls = request.peer_urls.join(",");
        self.change(|membership| {
            let id = super::stable_id(&[
                &membership.cluster_id.to_string(),
                &urls,
                &membership.term.to_string(),
            ]);
            membership.add(id, request.peer_urls, request.is_learner)?;
            let answer = self.members(membership);
            let added = answer.members.iter().find(|it| it.id == id).cloned();
            Ok(wire::MemberAddResponse {
                header: answer.header,
                member: added,
                members: answer.members,
            })
        })
        .await
    }

    async fn remove(&self, request: wire::MemberRequest) -> Result<wire::MembersResponse, Status> {
        self.change(|membership| {
            membership.remove(request.id)?;
            Ok(self.members(membership))
        })
        .await
    }

    async fn promote(&self, request: wire::MemberRequest) -> Result<wire::MembersResponse, Status> {
        self.change(|membership| {
            membership.promote(request.id)?;
            Ok(self.members(membership))
        })
        .await
    }

    async fn alarm(&self, request: wire::AlarmRequest) -> Result<wire::AlarmResponse, Status> {
        self.change(|membership| {
            change_alarms(membership, request);
            let alarms = membership.alarms.iter();
            Ok(wire::AlarmResponse {
                header: Some(self.header(membership)),
                alarms: alarms
                    .map(|(member_id, alarm)| wire::AlarmMember {
                        member_id: *member_id,
                        alarm: *alarm,
                    })
                    .collect(),
            })
        })
        .await
    }

    fn status(&self) -> Result<wire::StatusResponse, Status> {
        self.etcd.read(|membership| {
            let own = membership
                .members
                .get(&self.member)
                .ok_or_else(|| status(Refusal::Removed))?;
            Ok(wire::StatusResponse {
                header: Some(self.header(membership)),
                version: VERSION.to_owned(),
                db_size: DATABASE_SIZE,
                leader: membership.leader.unwrap_or_default(),
                raft_index: membership.term,
                raft_term: membership.term,
                raft_applied_index: membership.term,
                errors: Vec::new(),
                db_size_in_use: DATABASE_SIZE,
                is_learner: own.is_learner,
            })
        })
    }

    async fn move_leader(
        &self,
        request: wire::MoveLeaderRequest,
    ) -> Result<wire::MoveLeaderResponse, Status> {
        self.change(|membership| {
            membership.move_leader(self.member, request.target_id)?;
            Ok(wire::MoveLeaderResponse {
                header: Some(self.header(membership)),
            })
        })
        .await
    }

    async fn change<R>(
        &self,
        change: impl FnOnce(&mut Membership) -> Result<R, Refusal>,
    ) -> Result<R, Status> {
        self.etcd.change(change).await.map_err(|error| match error {
            ChangeError::Refused(refusal) => status(refusal),
            ChangeError::Keep(_) => Status::unavailable("etcdserver: request timed out"),
        })
    }
}

/// Raises or disarms what the request names; a request to read changes nothing.
fn change_alarms(membership: &mut Membership, request: wire::AlarmRequest) {
    let any_member = request.member_id == 0;
    let any_alarm = request.alarm() == wire::AlarmType::None;
    match request.action() {
        wire::AlarmAction::Get => {}
        wire::AlarmAction::Activate => {
            if !any_member && !any_alarm {
                membership.alarms.insert((request.member_id, request.alarm));
            }
        }
        wire::AlarmAction::Deactivate => membership.alarms.retain(|(member, alarm)| {
            !((any_member || *member == request.member_id) && (any_alarm || *alarm == request.alarm))
        }),
    }
}

fn member((id, peer): (&u64, &Peer)) -> wire::Member {
    wire::Member {
        id: *id,
        name: peer.name.clone(),
        peer_urls: peer.peer_urls.clone(),
        client_urls: peer.client_urls.clone(),
        is_learner: peer.is_learner,
    }
}

/// Parity: etcd `api/v3rpc/rpctypes/error.go`.
fn status(refusal: Refusal) -> Status {
    let message = refusal.to_string();
    match refusal {
        Refusal::MemberNotFound => Status::not_found(message),
        Refusal::NoLeader | Refusal::Removed => Status::unavailable(message),
        Refusal::PeerUrlExists
        | Refusal::NotLeader
        | Refusal::BadTransferee
        | Refusal::NotEnoughStarted
        | Refusal::TooManyLearners
        | Refusal::NotLearner
        | Refusal::LearnerNotReady => Status::failed_precondition(message),
    }
}
