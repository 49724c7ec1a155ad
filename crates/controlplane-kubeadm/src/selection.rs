//! Which failure domain a new control plane machine goes to, and which machine goes first when there is one too many.
// Parity: upstream controlplane/kubeadm/reconcilers/scale.go, util/failuredomains

use std::collections::BTreeMap;

/// What choosing needs to know of one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub failure_domain: Option<String>,
    /// When it was made, in any unit that grows.
    pub created: i64,
    /// It matches what is wanted.
    pub is_up_to_date: bool,
    /// All its components are healthy.
    pub is_healthy: bool,
    /// Somebody asked that it goes first.
    pub is_requested: bool,
    /// It is going already.
    pub is_deleting: bool,
}

/// The failure domain for a new machine: the one with the fewest up-to-date machines, then the fewest at all, then the
/// first by name. None if there are no failure domains.
pub fn domain_for_new(domains: &[String], machines: &[Candidate]) -> Option<String> {
    let count = |domain: &str, wanted: &dyn Fn(&Candidate) -> bool| {
        machines
            .iter()
            .filter(|it| it.failure_domain.as_deref() == Some(domain) && wanted(it))
            .count()
    };
    let load = |domain: &&String| {
        let fresh = count(domain, &|it| it.is_up_to_date && !it.is_deleting);
        (fresh, count(domain, &|_| true), (*domain).clone())
    };
    domains.iter().min_by_key(load).cloned()
}

/// The machine to delete: outdated ones that somebody asked for, then any that somebody asked for, then outdated and
/// unhealthy ones, then outdated ones, then any; among those the one in the fullest failure domain (machines in no known
/// domain first), and there the oldest.
pub fn to_delete<'a>(domains: &[String], machines: &'a [Candidate]) -> Option<&'a Candidate> {
    let alive: Vec<&Candidate> = machines.iter().filter(|it| !it.is_deleting).collect();
    let tiers: [&dyn Fn(&Candidate) -> bool; 5] = [
        &|it| it.is_requested && !it.is_up_to_date,
        &|it| it.is_requested,
        &|it| !it.is_up_to_date && !it.is_healthy,
        &|it| !it.is_up_to_date,
        &|_| true,
    ];
    let eligible = tiers
        .iter()
        .map(|tier| alive.iter().copied().filter(|it| tier(it)).collect::<Vec<_>>());
    let eligible = eligible.into_iter().find(|it| !it.is_empty())?;
    let mut load: BTreeMap<&str, usize> = BTreeMap::new();
    for machine in &eligible {
        *load
            .entry(machine.failure_domain.as_deref().unwrap_or_default())
            .or_default() += 1;
    }
    let weight = |it: &Candidate| {
        let domain = it.failure_domain.as_deref().unwrap_or_default();
        let is_known = domains.iter().any(|it| it == domain);
        if is_known {
            load.get(domain).copied().unwrap_or(0)
        } else {
            usize::MAX
        }
    };
    eligible.into_iter().max_by(|a, b| {
        let older = || b.created.cmp(&a.created).then_with(|| b.name.cmp(&a.name));
        weight(a).cmp(&weight(b)).then_with(older)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `name:domain:created[:marks]`; marks: o outdated, u unhealthy, r requested, d deleting.
    fn machine(text: &str) -> Candidate {
        let parts: Vec<&str> = text.split(':').collect();
        let marks = parts.get(3).copied().unwrap_or("");
        Candidate {
            name: parts[0].to_owned(),
            failure_domain: Some(parts[1].to_owned()).filter(|it| !it.is_empty()),
            created: parts[2].parse().expect("a time"),
            is_up_to_date: !marks.contains('o'),
            is_healthy: !marks.contains('u'),
            is_requested: marks.contains('r'),
            is_deleting: marks.contains('d'),
        }
    }

    fn domains() -> Vec<String> {
        ["a", "b", "c"].map(str::to_owned).to_vec()
    }

    #[test]
    fn a_new_machine_goes_where_there_are_fewest() {
        let table: [(&[&str], &str); 4] = [
            (&[], "a"),
            (&["m1:a:1"], "b"),
            (&["m1:a:1", "m2:b:2"], "c"),
            (&["m1:a:1:o", "m2:b:2", "m3:c:3"], "a"),
        ];
        for (machines, expected) in table {
            let machines: Vec<_> = machines.iter().map(|it| machine(it)).collect();
            assert_eq!(domain_for_new(&domains(), &machines).as_deref(), Some(expected));
        }
    }

    #[test]
    fn the_machine_that_is_missed_least_goes_first() {
        let table: [(&str, &[&str], &str); 6] = [
            ("the oldest", &["m1:a:3", "m2:b:1", "m3:c:2"], "m2"),
            ("of the fullest domain", &["m1:a:3", "m2:b:1", "m3:a:2"], "m3"),
            (
                "of no known domain before any other",
                &["m1::9", "m2:b:1", "m3:a:2"],
                "m1",
            ),
            ("outdated before fresh", &["m1:a:1", "m2:b:2:o"], "m2"),
            (
                "outdated and unhealthy before outdated",
                &["m1:a:1:o", "m2:b:2:ou"],
                "m2",
            ),
            (
                "requested before all, unless it goes already",
                &["m1:a:1:o", "m2:b:2:r", "m3:c:3:rd"],
                "m2",
            ),
        ];
        for (case, machines, expected) in table {
            let machines: Vec<_> = machines.iter().map(|it| machine(it)).collect();
            assert_eq!(
                to_delete(&domains(), &machines).map(|it| it.name.as_str()),
                Some(expected),
                "{case}"
            );
        }
    }
}
