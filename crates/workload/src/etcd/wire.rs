//! The messages of etcd's gRPC API that are spoken here. Field numbers as in etcd's `api/etcdserverpb/rpc.proto`.

/// Paths of the methods.
pub mod method {
    /// Lists the members.
    pub const MEMBER_LIST: &str = "/etcdserverpb.Cluster/MemberList";
    /// Adds a member.
    pub const MEMBER_ADD: &str = "/etcdserverpb.Cluster/MemberAdd";
    /// Removes a member.
    pub const MEMBER_REMOVE: &str = "/etcdserverpb.Cluster/MemberRemove";
    /// Makes a learner a voting member.
    pub const MEMBER_PROMOTE: &str = "/etcdserverpb.Cluster/MemberPromote";
    /// Reads and changes alarms.
    pub const ALARM: &str = "/etcdserverpb.Maintenance/Alarm";
    /// Reads one member's status.
    pub const STATUS: &str = "/etcdserverpb.Maintenance/Status";
    /// Hands leadership to another member.
    pub const MOVE_LEADER: &str = "/etcdserverpb.Maintenance/MoveLeader";
}

/// What every answer begins with.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct ResponseHeader {
    /// The cluster that answered.
    #[prost(uint64, tag = "1")]
    pub cluster_id: u64,
    /// The member that answered.
    #[prost(uint64, tag = "2")]
    pub member_id: u64,
    /// The key-value store's revision.
    #[prost(int64, tag = "3")]
    pub revision: i64,
    /// The raft term.
    #[prost(uint64, tag = "4")]
    pub raft_term: u64,
}

/// One member.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Member {
    /// Its ID.
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// Its name; empty until it has started.
    #[prost(string, tag = "2")]
    pub name: String,
    /// Where members reach it.
    #[prost(string, repeated, tag = "3")]
    pub peer_urls: Vec<String>,
    /// Where clients reach it; empty until it has started.
    #[prost(string, repeated, tag = "4")]
    pub client_urls: Vec<String>,
    /// It does not vote yet.
    #[prost(bool, tag = "5")]
    pub is_learner: bool,
}

/// Asks for the members.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct MemberListRequest {
    /// Only an answer that a quorum agrees on.
    #[prost(bool, tag = "1")]
    pub linearizable: bool,
}

/// The members: the answer to list, remove and promote.
#[derive(Clone, PartialEq, prost::Message)]
pub struct MembersResponse {
    /// Who answers.
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    /// All members, after the change if there was one.
    #[prost(message, repeated, tag = "2")]
    pub members: Vec<Member>,
}

/// Asks to add a member.
#[derive(Clone, PartialEq, prost::Message)]
pub struct MemberAddRequest {
    /// Where members will reach it.
    #[prost(string, repeated, tag = "1")]
    pub peer_urls: Vec<String>,
    /// It shall not vote yet.
    #[prost(bool, tag = "2")]
    pub is_learner: bool,
}

/// The member that was added.
#[derive(Clone, PartialEq, prost::Message)]
pub struct MemberAddResponse {
    /// Who answers.
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    /// The new member.
    #[prost(message, optional, tag = "2")]
    pub member: Option<Member>,
    /// All members, the new one included.
    #[prost(message, repeated, tag = "3")]
    pub members: Vec<Member>,
}

/// Names a member: the request to remove and to promote.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct MemberRequest {
    /// The member's ID.
    #[prost(uint64, tag = "1")]
    pub id: u64,
}

/// What is asked of the alarms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
#[repr(i32)]
pub enum AlarmAction {
    /// Read them.
    Get = 0,
    /// Raise one.
    Activate = 1,
    /// Disarm one.
    Deactivate = 2,
}

/// The kinds of alarms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
#[repr(i32)]
pub enum AlarmType {
    /// None; in requests: any.
    None = 0,
    /// The member ran out of space.
    NoSpace = 1,
    /// The member's data are corrupt.
    Corrupt = 2,
}

/// Reads or changes alarms.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct AlarmRequest {
    /// What to do.
    #[prost(enumeration = "AlarmAction", tag = "1")]
    pub action: i32,
    /// Whose alarms; 0 for all members'.
    #[prost(uint64, tag = "2")]
    pub member_id: u64,
    /// Which alarms.
    #[prost(enumeration = "AlarmType", tag = "3")]
    pub alarm: i32,
}

/// One alarm of one member.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct AlarmMember {
    /// The member.
    #[prost(uint64, tag = "1")]
    pub member_id: u64,
    /// The alarm.
    #[prost(enumeration = "AlarmType", tag = "2")]
    pub alarm: i32,
}

/// The alarms that stand.
#[derive(Clone, PartialEq, prost::Message)]
pub struct AlarmResponse {
    /// Who answers.
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    /// The alarms.
    #[prost(message, repeated, tag = "2")]
    pub alarms: Vec<AlarmMember>,
}

/// Asks a member for its status.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct StatusRequest {}

/// A member's status.
#[derive(Clone, PartialEq, prost::Message)]
pub struct StatusResponse {
    /// Who answers.
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
    /// etcd's version.
    #[prost(string, tag = "2")]
    pub version: String,
    /// The database's size in bytes.
    #[prost(int64, tag = "3")]
    pub db_size: i64,
    /// The leader as the member sees it; 0 if it sees none.
    #[prost(uint64, tag = "4")]
    pub leader: u64,
    /// The raft index.
    #[prost(uint64, tag = "5")]
    pub raft_index: u64,
    /// The raft term.
    #[prost(uint64, tag = "6")]
    pub raft_term: u64,
    /// The raft index that was applied.
    #[prost(uint64, tag = "7")]
    pub raft_applied_index: u64,
    /// Sentences for people.
    #[prost(string, repeated, tag = "8")]
    pub errors: Vec<String>,
    /// The part of the database that is in use, in bytes.
    #[prost(int64, tag = "9")]
    pub db_size_in_use: i64,
    /// The member does not vote yet.
    #[prost(bool, tag = "10")]
    pub is_learner: bool,
}

/// Asks the leader to hand over.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct MoveLeaderRequest {
    /// The member that shall lead.
    #[prost(uint64, tag = "1")]
    pub target_id: u64,
}

/// The leader handed over.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct MoveLeaderResponse {
    /// Who answers.
    #[prost(message, optional, tag = "1")]
    pub header: Option<ResponseHeader>,
}
