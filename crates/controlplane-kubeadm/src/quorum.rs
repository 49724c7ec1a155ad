//! Whether an etcd cluster keeps its quorum after one member more or less. Plain arithmetic over facts.
// Parity: upstream controlplane/kubeadm/reconcilers/remediation.go:targetEtcdClusterHealthy

/// What is known of one etcd member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The name, equal to the node's; empty while the member has not started.
    pub name: String,
    /// It has no vote yet.
    pub is_learner: bool,
    /// It answers, has no alarm, and its machine says so.
    pub is_healthy: bool,
}

/// What is about to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<'a> {
    /// One more member joins.
    Add,
    /// This member leaves.
    Remove(&'a str),
}

/// How many voting members have to be healthy.
fn quorum(voting: usize) -> usize {
    voting / 2 + 1
}

/// Is the quorum kept after the change?
///
/// A member without a name is a learner and not healthy. A new member counts as not healthy until it is seen, except
/// where it is the second one. Learners forbid any change: they are about to become voters.
pub fn holds_after(members: &[Member], change: Change<'_>) -> bool {
    let mut voting = 0;
    let mut unhealthy = 0;
    for member in members {
        if change == Change::Remove(&member.name) && !member.name.is_empty() {
            continue;
        }
        if member.is_learner || member.name.is_empty() {
            return false;
        }
        voting += 1;
        unhealthy += usize::from(!member.is_healthy);
    }
    if change == Change::Add {
        voting += 1;
        unhealthy += usize::from(members.len() > 1);
    }
    voting > 0 && voting - unhealthy >= quorum(voting)
}

/// Is there a quorum of healthy members now?
pub fn holds(members: &[Member]) -> bool {
    let voting: Vec<&Member> = members.iter().filter(|it| !it.is_learner).collect();
    !voting.is_empty() && voting.iter().filter(|it| it.is_healthy).count() >= quorum(voting.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a b! c~`: healthy, unhealthy, learner.
    fn members(text: &str) -> Vec<Member> {
        text.split_whitespace()
            .map(|it| Member {
                name: it.trim_end_matches(['!', '~']).to_owned(),
                is_learner: it.ends_with('~'),
                is_healthy: !it.ends_with('!'),
            })
            .collect()
    }

    #[test]
    fn a_change_needs_a_quorum_after_it() {
        let table = [
            ("a", Change::Add, true),
            ("a b", Change::Add, true),
            ("a b c", Change::Add, true),
            ("a b!", Change::Add, false),
            ("a b! c", Change::Add, false),
            ("a b c!", Change::Remove("c"), true),
            ("a b c!", Change::Remove("a"), false),
            ("a b c", Change::Remove("a"), true),
            ("a b", Change::Remove("b"), true),
            ("a", Change::Remove("a"), false),
            ("a b c~", Change::Remove("b"), false),
            ("a b c~", Change::Remove("c"), true),
        ];
        for (state, change, expected) in table {
            assert_eq!(
                holds_after(&members(state), change),
                expected,
                "{state} {change:?}"
            );
        }
    }

    #[test]
    fn a_majority_of_voters_is_a_quorum() {
        for (state, expected) in [
            ("a", true),
            ("a b!", false),
            ("a b c!", true),
            ("a b! c!", false),
            ("", false),
            ("a b~", true),
        ] {
            assert_eq!(holds(&members(state)), expected, "{state}");
        }
    }
}
