//! The members of one etcd cluster and who leads them: a pure state machine with etcd's rules and words.
//! Source of the rules: etcd `server/etcdserver` and `api/v3rpc/rpctypes/error.go`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// One member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// Its name, which is its node's; empty until it has started.
    pub name: String,
    /// Where members reach it.
    pub peer_urls: Vec<String>,
    /// Where clients reach it; empty until it has started.
    pub client_urls: Vec<String>,
    /// It does not vote yet.
    pub is_learner: bool,
    /// Its process runs. Not kept: after a restart of everything, members run again one by one.
    #[serde(skip)]
    pub is_running: bool,
}

/// Why etcd refuses, in etcd's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No such member.
    #[error("etcdserver: member not found")]
    MemberNotFound,
    /// There is a member at that URL.
    #[error("etcdserver: Peer URLs already exists")]
    PeerUrlExists,
    /// There is no quorum, hence no leader.
    #[error("etcdserver: no leader")]
    NoLeader,
    /// Only the leader can do this.
    #[error("etcdserver: not leader")]
    NotLeader,
    /// That member cannot lead.
    #[error("etcdserver: bad leader transferee")]
    BadTransferee,
    /// Too few members would remain running.
    #[error("etcdserver: re-configuration failed due to not enough started members")]
    NotEnoughStarted,
    /// There is a learner already.
    #[error("etcdserver: too many learner members in cluster")]
    TooManyLearners,
    /// The member votes already.
    #[error("etcdserver: can only promote a learner member")]
    NotLearner,
    /// The learner has not started.
    #[error("etcdserver: can only promote a learner member which is in sync with leader")]
    LearnerNotReady,
    /// The member was removed and cannot come back.
    #[error("the member has been permanently removed from the cluster")]
    Removed,
}

/// Membership, leadership and alarms of one etcd cluster.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Membership {
    /// The cluster's ID; 0 until the first member started.
    pub cluster_id: u64,
    /// The raft term: one more with every election.
    pub term: u64,
    /// The leader, as the majority sees it.
    #[serde(skip)]
    pub leader: Option<u64>,
    /// The members by ID.
    pub members: BTreeMap<u64, Peer>,
    /// The IDs that were removed; they never come back.
    pub removed: BTreeSet<u64>,
    /// Alarms: member and etcd's number of the alarm.
    pub alarms: BTreeSet<(u64, i32)>,
}

impl Membership {
    /// Starts the member `id`: it founds the cluster if there is none, joins it if it is new, and goes on if it was a
    /// member before.
    pub fn start(&mut self, id: u64, name: &str, address: &str, cluster_id: u64) -> Result<(), Refusal> {
        if self.removed.contains(&id) {
            return Err(Refusal::Removed);
        }
        if self.cluster_id == 0 {
            self.cluster_id = cluster_id;
        } else if !self.members.contains_key(&id) && self.leader.is_none() {
            return Err(Refusal::NoLeader);
        }
        let peer = self.members.entry(id).or_insert_with(|| Peer {
            name: String::new(),
            peer_urls: vec![format!("https://{address}:2380")],
            client_urls: Vec::new(),
            is_learner: false,
            is_running: false,
        });
        name.clone_into(&mut peer.name);
        peer.client_urls = vec![format!("https://{address}:2379")];
        peer.is_running = true;
        self.elect();
        Ok(())
    }

    /// Starts a member that ran before.
    pub fn restart(&mut self, id: u64) -> Result<(), Refusal> {
        if self.removed.contains(&id) {
            return Err(Refusal::Removed);
        }
        self.members
            .get_mut(&id)
            .ok_or(Refusal::MemberNotFound)?
            .is_running = true;
        self.elect();
        Ok(())
    }

    /// The member's process ends. It stays a member.
    pub fn stop(&mut self, id: u64) {
        if let Some(peer) = self.members.get_mut(&id) {
            peer.is_running = false;
        }
        self.elect();
    }

    /// All members, if a quorum can tell.
    pub fn list(&self) -> Result<&BTreeMap<u64, Peer>, Refusal> {
        self.leader.map(|_| &self.members).ok_or(Refusal::NoLeader)
    }

    /// Adds a member that has not started yet.
    pub fn add(&mut self, id: u64, peer_urls: Vec<String>, is_learner: bool) -> Result<(), Refusal> {
        self.leader.ok_or(Refusal::NoLeader)?;
        if self
            .members
            .values()
            .any(|it| it.peer_urls.iter().any(|url| peer_urls.contains(url)))
        {
            return Err(Refusal::PeerUrlExists);
        }
        if is_learner && self.members.values().any(|it| it.is_learner) {
            return Err(Refusal::TooManyLearners);
        }
        let voters = self.voters().count() + usize::from(!is_learner);
        if self.running_voters().count() < voters / 2 + 1 {
            return Err(Refusal::NotEnoughStarted);
        }
        let peer = Peer {
            name: String::new(),
            peer_urls,
            client_urls: Vec::new(),
            is_learner,
            is_running: false,
        };
        self.members.insert(id, peer);
        Ok(())
    }

    /// Removes a member, if enough of the others run.
    pub fn remove(&mut self, id: u64) -> Result<(), Refusal> {
        self.leader.ok_or(Refusal::NoLeader)?;
        let peer = self.members.get(&id).ok_or(Refusal::MemberNotFound)?;
        if !peer.is_learner {
            let others = self.voters().filter(|it| *it != id).count();
            let running = self.running_voters().filter(|it| *it != id).count();
            if others > 0 && peer.is_running && running < others / 2 + 1 {
                return Err(Refusal::NotEnoughStarted);
            }
        }
        self.members.remove(&id);
        self.removed.insert(id);
        self.alarms.retain(|(member, _)| *member != id);
        self.elect();
        Ok(())
    }

    /// Makes a learner a voter.
    pub fn promote(&mut self, id: u64) -> Result<(), Refusal> {
        self.leader.ok_or(Refusal::NoLeader)?;
        let peer = self.members.get_mut(&id).ok_or(Refusal::MemberNotFound)?;
        if !peer.is_learner {
            return Err(Refusal::NotLearner);
        }
        if !peer.is_running {
            return Err(Refusal::LearnerNotReady);
        }
        peer.is_learner = false;
        self.elect();
        Ok(())
    }

    /// The member `asked` hands leadership to `target`.
    pub fn move_leader(&mut self, asked: u64, target: u64) -> Result<(), Refusal> {
        let leader = self.leader.ok_or(Refusal::NoLeader)?;
        if asked != leader {
            return Err(Refusal::NotLeader);
        }
        let can_lead = self
            .members
            .get(&target)
            .is_some_and(|it| it.is_running && !it.is_learner);
        if !can_lead {
            return Err(Refusal::BadTransferee);
        }
        if target != leader {
            self.leader = Some(target);
            self.term += 1;
        }
        Ok(())
    }

    /// Is a majority of the voters running?
    pub fn has_quorum(&self) -> bool {
        self.leader.is_some()
    }

    /// Keeps the leader while it runs and a majority does; else elects the first of the running voters.
    fn elect(&mut self) {
        let majority = self.voters().count() / 2 + 1;
        let running: Vec<u64> = self.running_voters().collect();
        if running.len() < majority {
            self.leader = None;
        } else if self.leader.is_none_or(|it| !running.contains(&it)) {
            self.leader = running.first().copied();
            self.term += 1;
        }
    }

    /// The members that vote.
    pub fn voters(&self) -> impl Iterator<Item = u64> + '_ {
        self.members
            .iter()
            .filter(|(_, it)| !it.is_learner)
            .map(|(id, _)| *id)
    }

    fn running_voters(&self) -> impl Iterator<Item = u64> + '_ {
        self.members
            .iter()
            .filter(|(_, it)| !it.is_learner && it.is_running)
            .map(|(id, _)| *id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Membership {
        let mut membership = Membership::default();
        for id in 1..=3 {
            membership
                .start(id, &format!("n{id}"), &format!("10.0.0.{id}"), 7)
                .expect("starts");
        }
        membership
    }

    /// `1* 2 (3)`: the leader has a star, members that do not run are in parentheses.
    fn shown(membership: &Membership) -> String {
        let show = |(id, peer): (&u64, &Peer)| match (membership.leader == Some(*id), peer.is_running) {
            (true, _) => format!("{id}*"),
            (false, true) => id.to_string(),
            (false, false) => format!("({id})"),
        };
        membership.members.iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_first_member_leads_and_the_others_join() {
        assert_eq!(shown(&three()), "1* 2 3");
    }

    #[test]
    fn when_the_leader_stops_another_one_leads() {
        let mut etcd = three();
        etcd.stop(1);
        assert_eq!((shown(&etcd).as_str(), etcd.term), ("(1) 2* 3", 2));
    }

    #[test]
    fn without_a_majority_nothing_is_answered_that_needs_one() {
        let mut etcd = three();
        etcd.stop(1);
        etcd.stop(2);
        assert_eq!(shown(&etcd), "(1) (2) 3");
        assert_eq!(etcd.list(), Err(Refusal::NoLeader));
        assert_eq!(etcd.remove(1), Err(Refusal::NoLeader));
        assert_eq!(etcd.start(4, "n4", "10.0.0.4", 7), Err(Refusal::NoLeader));
        etcd.start(2, "n2", "10.0.0.2", 7).expect("comes back");
        assert_eq!(shown(&etcd), "(1) 2* 3");
    }

    #[test]
    fn a_removed_member_is_gone_for_good() {
        let mut etcd = three();
        etcd.remove(1).expect("removed");
        assert_eq!(shown(&etcd), "2* 3");
        assert_eq!(etcd.start(1, "n1", "10.0.0.1", 7), Err(Refusal::Removed));
        assert_eq!(etcd.remove(1), Err(Refusal::MemberNotFound));
    }

    #[test]
    fn a_running_member_is_not_removed_when_too_few_others_run() {
        let mut etcd = three();
        etcd.stop(3);
        assert_eq!(etcd.remove(2), Err(Refusal::NotEnoughStarted));
        etcd.remove(3).expect("the stopped one may go");
        assert_eq!(shown(&etcd), "1* 2");
    }

    #[test]
    fn only_the_leader_hands_over_and_only_to_a_running_voter() {
        let mut etcd = three();
        assert_eq!(etcd.move_leader(2, 3), Err(Refusal::NotLeader));
        assert_eq!(etcd.move_leader(1, 9), Err(Refusal::BadTransferee));
        etcd.move_leader(1, 3).expect("moved");
        assert_eq!(shown(&etcd), "1 2 3*");
    }

    #[test]
    fn a_learner_does_not_vote_until_it_is_promoted() {
        let mut etcd = three();
        etcd.add(4, vec!["https://10.0.0.4:2380".to_owned()], true)
            .expect("added");
        assert_eq!(etcd.promote(4), Err(Refusal::LearnerNotReady));
        assert_eq!(etcd.move_leader(1, 4), Err(Refusal::BadTransferee));
        etcd.start(4, "n4", "10.0.0.4", 7).expect("starts");
        etcd.promote(4).expect("promoted");
        assert_eq!(etcd.promote(4), Err(Refusal::NotLearner));
        etcd.move_leader(1, 4).expect("moved");
        assert_eq!(shown(&etcd), "1 2 3 4*");
    }

    #[test]
    fn the_last_member_may_be_removed() {
        let mut etcd = Membership::default();
        etcd.start(1, "n1", "10.0.0.1", 7).expect("starts");
        etcd.remove(1).expect("removed");
        assert_eq!(shown(&etcd), "");
    }
}
