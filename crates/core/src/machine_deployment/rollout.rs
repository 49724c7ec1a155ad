//! How many replicas each MachineSet of a MachineDeployment should have next: the rollout's arithmetic, and nothing
//! else. Names and counts in, counts and the reasons for them out.
//!
//! ```text
//!   current set:  up to the deployment's replicas, while all sets together stay within replicas + surge
//!   old sets:     down, oldest first, unavailable replicas first, while enough stay available even if every deletion
//!                 that is under way and every one decided here hits an available machine
//!   deadlock:     nothing moves, the current set is fully available, and an old set has unavailable replicas:
//!                 one of those goes, budget or not
//! ```
// Parity: upstream core/reconcilers/machinedeployment/machinedeployment_rollout_rollingupdate.go, _ondelete.go

use std::collections::BTreeMap;

/// How a MachineDeployment replaces machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Step by step, within a budget.
    RollingUpdate {
        /// Replicas above the wanted number; already resolved from a percentage, rounded up.
        max_surge: i32,
        /// Replicas that may be missing; already resolved from a percentage, rounded down.
        max_unavailable: i32,
    },
    /// Only where the user deletes an old machine.
    OnDelete,
}

impl Strategy {
    /// How many replicas all sets together may have above the wanted number.
    pub fn surge(self) -> i32 {
        match self {
            Self::RollingUpdate { max_surge, .. } => max_surge,
            Self::OnDelete => 0,
        }
    }

    /// How many replicas may be missing.
    pub fn unavailable(self) -> i32 {
        match self {
            Self::RollingUpdate { max_unavailable, .. } => max_unavailable,
            Self::OnDelete => 0,
        }
    }
}

/// What the arithmetic needs to know of one MachineSet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set {
    /// Its name.
    pub name: String,
    /// `spec.replicas`.
    pub wanted: i32,
    /// `status.replicas`: machines that exist.
    pub existing: i32,
    /// `status.availableReplicas`.
    pub available: i32,
}

/// The situation of one MachineDeployment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rollout {
    /// `spec.replicas` of the MachineDeployment.
    pub replicas: i32,
    /// The strategy.
    pub strategy: Strategy,
    /// The set that matches the MachineDeployment's template.
    pub current: Set,
    /// All others, oldest first.
    pub old: Vec<Set>,
}

/// A new replica count for one set, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scale {
    /// The count.
    pub replicas: i32,
    /// The reason, for people.
    pub why: String,
}

/// The counts that change, by set name.
pub type Scales = BTreeMap<String, Scale>;

/// Decides the next counts. Sets that keep their count are not in the answer.
pub fn plan(rollout: &Rollout) -> Scales {
    let mut scales = Scales::new();
    match rollout.strategy {
        Strategy::RollingUpdate { .. } => {
            scale_current(rollout, &mut scales);
            scale_old(rollout, &mut scales);
            break_deadlock(rollout, &mut scales);
        }
        Strategy::OnDelete => on_delete(rollout, &mut scales),
    }
    scales.retain(|name, scale| rollout.set(name).is_some_and(|it| it.wanted != scale.replicas));
    scales
}

impl Rollout {
    fn all(&self) -> impl Iterator<Item = &Set> {
        self.old.iter().chain(std::iter::once(&self.current))
    }

    fn set(&self, name: &str) -> Option<&Set> {
        self.all().find(|it| it.name == name)
    }

    fn min_available(&self) -> i32 {
        (self.replicas - self.strategy.unavailable()).max(0)
    }
}

fn scale_current(rollout: &Rollout, scales: &mut Scales) {
    let current = &rollout.current;
    if current.wanted > rollout.replicas {
        let why = format!(
            "scale down to the {} replicas of the MachineDeployment",
            rollout.replicas
        );
        scales.insert(
            current.name.clone(),
            Scale {
                replicas: rollout.replicas,
                why,
            },
        );
    } else if current.wanted < rollout.replicas {
        let limit = rollout.replicas + rollout.strategy.surge();
        let taken: i32 = rollout.all().map(|it| it.wanted.max(it.existing)).sum();
        let room = (limit - taken).max(0);
        let replicas = (current.wanted + room).min(rollout.replicas);
        if replicas > current.wanted {
            let why = format!("{taken} of at most {limit} replicas exist or are wanted, {room} more fit");
            scales.insert(current.name.clone(), Scale { replicas, why });
        }
    }
}

fn scale_old(rollout: &Rollout, scales: &mut Scales) {
    if rollout.old.iter().all(|it| it.wanted <= 0) {
        return;
    }
    let wanted: i32 = rollout.all().map(|it| it.wanted).sum();
    let intent = |it: &Set| {
        scales
            .get(&it.name)
            .map_or(it.wanted, |scale| scale.replicas.min(it.wanted))
    };
    let pending: i32 = rollout.all().map(|it| (it.existing - intent(it)).max(0)).sum();
    let current_unavailable = (rollout.current.wanted - rollout.current.available).max(0);
    let mut budget = Budget {
        deletions: (wanted - pending - rollout.min_available() - current_unavailable).max(0),
        available: rollout.all().map(|it| it.available).sum(),
        min_available: rollout.min_available(),
    };
    for only_unavailable in [true, false] {
        for set in &rollout.old {
            budget.scale_down(set, only_unavailable, scales);
        }
    }
}

/// What scaling down may still take.
struct Budget {
    deletions: i32,
    available: i32,
    min_available: i32,
}

impl Budget {
    fn scale_down(&mut self, set: &Set, only_unavailable: bool, scales: &mut Scales) {
        let replicas = scales.get(&set.name).map_or(set.wanted, |it| it.replicas);
        let reach = if only_unavailable {
            (replicas - set.available).max(0)
        } else {
            replicas
        };
        let mut step = reach.min(self.deletions);
        if replicas <= 0 || step <= 0 {
            return;
        }
        let available_before = self.available;
        if set.available > 0 {
            // Nobody can say which machines the MachineSet will delete, so each is counted as an available one.
            let spare = (self.available - self.min_available).max(0);
            let mut deleted = (set.existing - (replicas - step).max(0)).max(0);
            if deleted > spare {
                let kept = (set.existing - spare).min(replicas);
                step = (replicas - kept).max(0);
                deleted = (set.existing - kept).max(0);
            }
            self.available -= set.available.min(deleted);
        }
        if step <= 0 {
            return;
        }
        let why = if available_before == self.available {
            "only replicas that are missing or unavailable go".to_owned()
        } else {
            format!(
                "{available_before} replicas are available, {} have to be",
                self.min_available
            )
        };
        scales.insert(
            set.name.clone(),
            Scale {
                replicas: (replicas - step).max(0),
                why,
            },
        );
        self.deletions = (self.deletions - step).max(0);
    }
}

fn break_deadlock(rollout: &Rollout, scales: &mut Scales) {
    let moves = |it: &Set| {
        let intent = scales.get(&it.name).map_or(it.wanted, |scale| scale.replicas);
        intent != it.existing || intent != it.wanted
    };
    let current = &rollout.current;
    let stuck = !rollout.old.is_empty()
        && rollout.all().all(|it| !moves(it))
        && current.available == current.wanted
        && current.wanted == current.existing;
    if !stuck {
        return;
    }
    if let Some(set) = rollout
        .old
        .iter()
        .find(|it| it.wanted > 0 && it.wanted != it.available)
    {
        let why = "the rollout is stuck, and this set has replicas that are unavailable".to_owned();
        scales.insert(
            set.name.clone(),
            Scale {
                replicas: set.wanted - 1,
                why,
            },
        );
    }
}

fn on_delete(rollout: &Rollout, scales: &mut Scales) {
    // Old machines that the user deleted leave their set for good.
    for set in &rollout.old {
        if set.existing < set.wanted {
            let why = format!("{} of its machines were deleted", set.wanted - set.existing);
            scales.insert(
                set.name.clone(),
                Scale {
                    replicas: set.existing,
                    why,
                },
            );
        }
    }
    let kept = |scales: &Scales, it: &Set| scales.get(&it.name).map_or(it.wanted, |scale| scale.replicas);
    let old: i32 = rollout.old.iter().map(|it| kept(scales, it)).sum();
    let current = (rollout.replicas - old).max(0).min(rollout.replicas);
    // The current set only fills what is missing; it shrinks only when the MachineDeployment itself does.
    if current > rollout.current.wanted || rollout.current.wanted > rollout.replicas {
        let why = format!(
            "{old} replicas are left on old sets, {} are wanted",
            rollout.replicas
        );
        scales.insert(
            rollout.current.name.clone(),
            Scale {
                replicas: current.max(0),
                why,
            },
        );
    }
    let mut surplus = old + kept(scales, &rollout.current) - rollout.replicas;
    for set in &rollout.old {
        let replicas = kept(scales, set);
        let step = surplus.clamp(0, replicas);
        if step > 0 {
            let why = format!("the MachineDeployment was scaled down to {}", rollout.replicas);
            scales.insert(
                set.name.clone(),
                Scale {
                    replicas: replicas - step,
                    why,
                },
            );
            surplus -= step;
        }
    }
}

/// Spreads a paused MachineDeployment's replicas over its sets in proportion to what they had. `largest` is what
/// replicas + surge was when the sets were last annotated. Sets are given largest first.
// Parity: upstream core/reconcilers/machinedeployment/machinedeployment_sync.go:scale
pub fn proportional(rollout: &Rollout, largest: i32) -> Scales {
    let mut scales = Scales::new();
    let active: Vec<&Set> = rollout.all().filter(|it| it.wanted > 0).collect();
    if active.len() <= 1 {
        let only = active.first().copied().unwrap_or(&rollout.current);
        if only.wanted != rollout.replicas {
            let why = "the paused MachineDeployment was scaled".to_owned();
            scales.insert(
                only.name.clone(),
                Scale {
                    replicas: rollout.replicas,
                    why,
                },
            );
        }
        return scales;
    }
    let total: i32 = rollout.all().map(|it| it.wanted).sum();
    let allowed = if rollout.replicas > 0 {
        rollout.replicas + rollout.strategy.surge()
    } else {
        0
    };
    let mut left = allowed - total;
    let mut sets: Vec<&Set> = rollout.all().collect();
    sets.sort_by(|a, b| b.wanted.cmp(&a.wanted).then_with(|| a.name.cmp(&b.name)));
    let mut counts: BTreeMap<&str, i32> = sets.iter().map(|it| (it.name.as_str(), it.wanted)).collect();
    for set in sets.iter().filter(|it| it.wanted > 0) {
        let share = share(set.wanted, allowed, largest.max(1)).clamp(-left.abs(), left.abs());
        let step = if left > 0 {
            share.min(left)
        } else {
            share.max(left)
        };
        counts.insert(&set.name, set.wanted + step);
        left -= step;
    }
    if let Some(first) = sets.first() {
        let count = counts.entry(&first.name).or_default();
        *count = (*count + left).max(0);
    }
    for set in sets {
        let replicas = counts.get(set.name.as_str()).copied().unwrap_or(set.wanted);
        if replicas != set.wanted {
            let why = "the paused MachineDeployment was scaled, each set in proportion".to_owned();
            scales.insert(set.name.clone(), Scale { replicas, why });
        }
    }
    scales
}

/// How many replicas a set of `wanted` gains when the whole goes from `largest` to `allowed`, rounded to the nearest.
fn share(wanted: i32, allowed: i32, largest: i32) -> i32 {
    let (wanted, allowed, largest) = (i64::from(wanted), i64::from(allowed), i64::from(largest));
    let scaled = (2 * wanted * allowed + largest) / (2 * largest);
    i32::try_from(scaled - wanted).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `name wanted/existing/available`
    fn set(text: &str) -> Set {
        let (name, counts) = text.split_once(' ').expect("a name and counts");
        let counts: Vec<i32> = counts.split('/').map(|it| it.parse().expect("a count")).collect();
        Set {
            name: name.to_owned(),
            wanted: counts[0],
            existing: counts[1],
            available: counts[2],
        }
    }

    fn rollout(replicas: i32, strategy: Strategy, current: &str, old: &[&str]) -> Rollout {
        Rollout {
            replicas,
            strategy,
            current: set(current),
            old: old.iter().map(|it| set(it)).collect(),
        }
    }

    fn rolling(max_surge: i32, max_unavailable: i32) -> Strategy {
        Strategy::RollingUpdate {
            max_surge,
            max_unavailable,
        }
    }

    fn told(scales: &Scales) -> String {
        scales
            .iter()
            .map(|(name, it)| format!("{name}={}", it.replicas))
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn each_step_uses_the_budget_and_no_more() {
        let table = [
            (
                "a new deployment comes up at once",
                rollout(3, rolling(1, 0), "n 0/0/0", &[]),
                "n=3",
            ),
            (
                "a converged one stays",
                rollout(3, rolling(1, 0), "n 3/3/3", &[]),
                "",
            ),
            (
                "scale down is at once",
                rollout(1, rolling(1, 0), "n 3/3/3", &[]),
                "n=1",
            ),
            (
                "first step of a roll surges",
                rollout(3, rolling(1, 0), "n 0/0/0", &["o 3/3/3"]),
                "n=1",
            ),
            (
                "nothing goes before the new one is available",
                rollout(3, rolling(1, 0), "n 1/1/0", &["o 3/3/3"]),
                "",
            ),
            (
                "then one old one goes",
                rollout(3, rolling(1, 0), "n 1/1/1", &["o 3/3/3"]),
                "o=2",
            ),
            (
                "a deletion under way counts against the budget",
                rollout(3, rolling(1, 0), "n 1/1/1", &["o 2/3/3"]),
                "",
            ),
            (
                "without surge an old one goes first",
                rollout(3, rolling(0, 1), "n 0/0/0", &["o 3/3/3"]),
                "o=2",
            ),
            (
                "the oldest set goes first",
                rollout(3, rolling(1, 0), "n 1/1/1", &["o1 1/1/1", "o2 2/2/2"]),
                "o1=0",
            ),
            (
                "unavailable replicas go first",
                rollout(4, rolling(2, 0), "n 2/2/2", &["o1 2/2/2", "o2 2/2/0"]),
                "o2=0",
            ),
            (
                "a broken new set stops the roll",
                rollout(3, rolling(1, 0), "n 1/1/0", &["o 3/3/3"]),
                "",
            ),
            (
                "surge of two is used whole",
                rollout(3, rolling(2, 0), "n 2/2/2", &["o 3/3/3"]),
                "o=1",
            ),
            (
                "a stuck rollout lets an unavailable old one go",
                rollout(3, rolling(1, 0), "n 1/1/1", &["o 3/3/2"]),
                "o=2",
            ),
        ];
        for (case, rollout, expected) in table {
            assert_eq!(told(&plan(&rollout)), expected, "{case}");
        }
    }

    #[test]
    fn on_delete_only_follows_the_user() {
        let table = [
            (
                "a new deployment comes up at once",
                rollout(3, Strategy::OnDelete, "n 0/0/0", &[]),
                "n=3",
            ),
            (
                "nothing happens by itself",
                rollout(3, Strategy::OnDelete, "n 0/0/0", &["o 3/3/3"]),
                "",
            ),
            (
                "a deleted machine comes back in the new set",
                rollout(3, Strategy::OnDelete, "n 0/0/0", &["o 3/2/2"]),
                "n=1 o=2",
            ),
            (
                "scale up goes to the new set",
                rollout(5, Strategy::OnDelete, "n 0/0/0", &["o 3/3/3"]),
                "n=2",
            ),
            (
                "scale down takes old ones first",
                rollout(2, Strategy::OnDelete, "n 1/1/1", &["o 2/2/2"]),
                "o=1",
            ),
        ];
        for (case, rollout, expected) in table {
            assert_eq!(told(&plan(&rollout)), expected, "{case}");
        }
    }

    #[test]
    fn a_paused_deployment_is_scaled_in_proportion() {
        let table = [
            (
                "one active set takes all",
                rollout(5, rolling(1, 0), "n 3/3/3", &["o 0/0/0"]),
                4,
                "n=5",
            ),
            (
                "two sets share",
                rollout(10, rolling(0, 1), "n 2/2/2", &["o 3/3/3"]),
                5,
                "n=4 o=6",
            ),
        ];
        for (case, rollout, largest, expected) in table {
            assert_eq!(told(&proportional(&rollout, largest)), expected, "{case}");
        }
    }

    /// Plays a rollout to its end: every set gets its machines, all new ones become available, one step at a time.
    #[test]
    fn every_rollout_ends_and_never_goes_below_what_must_be_available() {
        for replicas in 1..=6 {
            for (surge, unavailable) in [(1, 0), (0, 1), (2, 1), (3, 0)] {
                let mut it = rollout(replicas, rolling(surge, unavailable), "n 0/0/0", &[]);
                it.old = vec![Set {
                    name: "o".to_owned(),
                    wanted: replicas,
                    existing: replicas,
                    available: replicas,
                }];
                for _ in 0..60 {
                    for (name, scale) in plan(&it) {
                        let set = if name == "n" {
                            &mut it.current
                        } else {
                            &mut it.old[0]
                        };
                        set.wanted = scale.replicas;
                    }
                    for set in std::iter::once(&mut it.current).chain(&mut it.old) {
                        if set.existing > set.wanted {
                            set.existing -= 1;
                            set.available = set.available.min(set.existing);
                        } else if set.available < set.existing {
                            set.available += 1;
                        } else if set.existing < set.wanted {
                            set.existing += 1;
                        }
                    }
                    let available = it.current.available + it.old[0].available;
                    let existing = it.current.existing + it.old[0].existing;
                    assert!(available >= replicas - unavailable, "{it:?}");
                    assert!(existing <= replicas + surge, "{it:?}");
                }
                assert_eq!(
                    (it.current.available, it.old[0].existing),
                    (replicas, 0),
                    "{it:?}"
                );
            }
        }
    }
}
