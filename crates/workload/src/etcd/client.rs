//! The calls, typed.

use std::{fmt, time::Duration};

use http::uri::PathAndQuery;
use tokio::io::{AsyncRead, AsyncWrite};
use tonic::transport::Channel;
use tonic_prost::ProstCodec;

use super::{
    error::Error,
    tunnel::{self, Credentials},
    wire::{self, method},
};

/// A member's ID. Printed as etcd's own tools do, in hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberId(pub u64);

impl fmt::Display for MemberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

/// One member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its ID.
    pub id: MemberId,
    /// Its name, which is its node's; empty until it has started.
    pub name: String,
    /// Where members reach it.
    pub peer_urls: Vec<String>,
    /// Where clients reach it; empty until it has started.
    pub client_urls: Vec<String>,
    /// It does not vote yet.
    pub is_learner: bool,
}

/// The members of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Members {
    /// The cluster's ID.
    pub cluster_id: u64,
    /// The members, by ID.
    pub members: Vec<Member>,
}

impl Members {
    /// The member of that name.
    pub fn named(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|it| it.name == name)
    }
}

/// What one member says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The member that answered.
    pub member: MemberId,
    /// The leader as it sees it; none if it sees none.
    pub leader: Option<MemberId>,
    /// etcd's version.
    pub version: String,
    /// The database's size in bytes.
    pub database_size: i64,
    /// The raft term.
    pub raft_term: u64,
    /// The member does not vote yet.
    pub is_learner: bool,
}

/// The kinds of alarms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlarmKind {
    /// The member ran out of space.
    NoSpace,
    /// The member's data are corrupt.
    Corrupt,
}

impl fmt::Display for AlarmKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSpace => "NOSPACE",
            Self::Corrupt => "CORRUPT",
        })
    }
}

/// One alarm of one member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alarm {
    /// The member.
    pub member: MemberId,
    /// The alarm.
    pub kind: AlarmKind,
}

/// How long things may take.
/// Parity: upstream controlplane/kubeadm/pkg/etcd, dial and call time-outs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Opening a connection.
    pub dial: Duration,
    /// One call.
    pub call: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            dial: Duration::from_secs(10),
            call: Duration::from_secs(15),
        }
    }
}

/// A connection to one member. Clones share it.
#[derive(Debug, Clone)]
pub struct Client {
    channel: Channel,
    limits: Limits,
}

impl Client {
    /// Connects to the member on `node` through the API server that `cluster` talks to.
    pub async fn connect(
        cluster: &kube::Client,
        node: &str,
        credentials: &Credentials,
        limits: Limits,
    ) -> Result<Self, Error> {
        let channel = Box::pin(tunnel::through(cluster, node, credentials, limits)).await?;
        Ok(Self { channel, limits })
    }

    /// Connects to the member at the other end of `stream`; `target` names it in errors.
    pub async fn over(
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        target: &str,
        credentials: &Credentials,
        limits: Limits,
    ) -> Result<Self, Error> {
        let channel = tunnel::over(stream, target, credentials, limits).await?;
        Ok(Self { channel, limits })
    }

    /// The members, as a quorum knows them.
    pub async fn members(&self) -> Result<Members, Error> {
        let request = wire::MemberListRequest { linearizable: true };
        let answer = self
            .call("list etcd members", method::MEMBER_LIST, request)
            .await?;
        Ok(members(answer))
    }

    /// Adds a member, and returns it as the cluster knows it.
    pub async fn add_member(
        &self,
        peer_urls: Vec<String>,
        is_learner: bool,
    ) -> Result<Option<Member>, Error> {
        let request = wire::MemberAddRequest {
            peer_urls,
            is_learner,
        };
        let answer: wire::MemberAddResponse = self
            .call("add an etcd member", method::MEMBER_ADD, request)
            .await?;
        Ok(answer.member.map(member))
    }

    /// Removes a member.
    pub async fn remove_member(&self, MemberId(id): MemberId) -> Result<Members, Error> {
        let request = wire::MemberRequest { id };
        let answer = self
            .call("remove an etcd member", method::MEMBER_REMOVE, request)
            .await?;
        Ok(members(answer))
    }

    /// Makes a learner a voting member.
    pub async fn promote_member(&self, MemberId(id): MemberId) -> Result<Members, Error> {
        let request = wire::MemberRequest { id };
        let answer = self
            .call("promote an etcd member", method::MEMBER_PROMOTE, request)
            .await?;
        Ok(members(answer))
    }

    /// The status of the member at the other end.
    pub async fn status(&self) -> Result<Status, Error> {
        let answer: wire::StatusResponse = self
            .call("get etcd status", method::STATUS, wire::StatusRequest {})
            .await?;
        Ok(Status {
            member: MemberId(answer.header.map(|it| it.member_id).unwrap_or_default()),
            leader: Some(answer.leader).filter(|it| *it != 0).map(MemberId),
            version: answer.version,
            database_size: answer.db_size,
            raft_term: answer.raft_term,
            is_learner: answer.is_learner,
        })
    }

    /// The alarms of all members.
    pub async fn alarms(&self) -> Result<Vec<Alarm>, Error> {
        let request = wire::AlarmRequest {
            action: wire::AlarmAction::Get.into(),
            member_id: 0,
            alarm: wire::AlarmType::None.into(),
        };
        let answer: wire::AlarmResponse = self.call("get etcd alarms", method::ALARM, request).await?;
        let alarm = |it: &wire::AlarmMember| {
            let kind = match it.alarm() {
                wire::AlarmType::None => return None,
                wire::AlarmType::NoSpace => AlarmKind::NoSpace,
                wire::AlarmType::Corrupt => AlarmKind::Corrupt,
            };
            Some(Alarm {
                member: MemberId(it.member_id),
                kind,
            })
        };
        Ok(answer.alarms.iter().filter_map(alarm).collect())
    }

    /// Hands leadership to another member. Only the leader can: ask through its own connection.
    pub async fn move_leader(&self, MemberId(target_id): MemberId) -> Result<(), Error> {
        let request = wire::MoveLeaderRequest { target_id };
        let _: wire::MoveLeaderResponse = self
            .call("move etcd leadership", method::MOVE_LEADER, request)
            .await?;
        Ok(())
    }

    async fn call<Question, Answer>(
        &self,
        operation: &'static str,
        path: &'static str,
        question: Question,
    ) -> Result<Answer, Error>
    where
        Question: prost::Message + Send + Sync + 'static,
        Answer: prost::Message + Default + Send + Sync + 'static,
    {
        let fail = |it: tonic::Status| Error::Call {
            operation,
            source: Box::new(it),
        };
        let exchange = async {
            let mut grpc = tonic::client::Grpc::new(self.channel.clone());
            grpc.ready()
                .await
                .map_err(|it| tonic::Status::unavailable(it.to_string()))?;
            let codec = ProstCodec::<Question, Answer>::default();
            grpc.unary(
                tonic::Request::new(question),
                PathAndQuery::from_static(path),
                codec,
            )
            .await
        };
        let late =
            || tonic::Status::deadline_exceeded(format!("no answer within {} s", self.limits.call.as_secs()));
        let answer = tokio::time::timeout(self.limits.call, exchange)
            .await
            .unwrap_or_else(|_| Err(late()));
        answer.map(tonic::Response::into_inner).map_err(fail)
    }
}

fn members(answer: wire::MembersResponse) -> Members {
    let mut members: Vec<Member> = answer.members.into_iter().map(member).collect();
    members.sort_by_key(|it| it.id);
    Members {
        cluster_id: answer.header.map(|it| it.cluster_id).unwrap_or_default(),
        members,
    }
}

fn member(it: wire::Member) -> Member {
    Member {
        id: MemberId(it.id),
        name: it.name,
        peer_urls: it.peer_urls,
        client_urls: it.client_urls,
        is_learner: it.is_learner,
    }
}
