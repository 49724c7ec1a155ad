//! Which MachineSet is what a MachineDeployment asks for, and what differs where one is not.
// Parity: upstream core/reconcilers/machinedeployment/mdutil/util.go:FindNewAndOldMachineSets, MachineTemplateUpToDate

use std::sync::Arc;

use capstan_api::core::{Bootstrap, MachineDeployment, MachineSet, MachineSpec};
use capstan_base::Timestamp;
use kube::ResourceExt;

/// What would have to change for a machine of `current` to be one of `desired`, in the words of the conditions. Only
/// what needs a new machine counts: version, bootstrap, infrastructure, failure domain. Absent and empty are equal.
pub fn differences(current: &MachineSpec, desired: &MachineSpec) -> Vec<String> {
    let mut found = Vec::new();
    let text = |it: &Option<String>| it.clone().unwrap_or_default();
    if text(&current.version) != text(&desired.version) {
        found.push(format!(
            "Version {}, {} required",
            text(&current.version),
            text(&desired.version)
        ));
    }
    if let Some(difference) = bootstrap_difference(&current.bootstrap, &desired.bootstrap) {
        found.push(difference);
    }
    if current.infrastructure_ref != desired.infrastructure_ref {
        found.push(format!(
            "{} is not up-to-date",
            without_template(&current.infrastructure_ref.kind)
        ));
    }
    if text(&current.failure_domain) != text(&desired.failure_domain) {
        let (mine, wanted) = (text(&current.failure_domain), text(&desired.failure_domain));
        found.push(format!("Failure domain {mine}, {wanted} required"));
    }
    found
}

fn bootstrap_difference(current: &Bootstrap, desired: &Bootstrap) -> Option<String> {
    let defined = |it: &Bootstrap| {
        it.config_ref
            .clone()
            .filter(capstan_api::core::ContractReference::is_defined)
    };
    match defined(current) {
        Some(reference) => (defined(desired).as_ref() != Some(&reference))
            .then(|| format!("{} is not up-to-date", without_template(&reference.kind))),
        None => {
            let changed = defined(desired).is_some() || current.data_secret_name != desired.data_secret_name;
            let shown = |it: &Option<String>| it.clone().unwrap_or_else(|| "nil".to_owned());
            changed.then(|| {
                let (mine, wanted) = (shown(&current.data_secret_name), shown(&desired.data_secret_name));
                format!("spec.bootstrap.dataSecretName {mine}, {wanted} required")
            })
        }
    }
}

fn without_template(kind: &str) -> &str {
    kind.strip_suffix("Template").unwrap_or(kind)
}

/// The set that is what the template asks for, and all others, oldest first.
///
/// A set made in the same second as `rollout.after` satisfies it: times are kept to the second.
pub(super) fn current_and_old<'a>(
    deployment: &MachineDeployment,
    sets: &'a [Arc<MachineSet>],
    now: Timestamp,
) -> (Option<&'a Arc<MachineSet>>, Vec<&'a Arc<MachineSet>>) {
    let created = |it: &MachineSet| it.metadata.creation_timestamp.as_ref().map(|it| it.0);
    let after = deployment
        .spec
        .rollout
        .after
        .as_ref()
        .map(|it| it.0)
        .filter(|it| *it <= now);
    let satisfies = |it: &MachineSet| {
        let fresh =
            after.is_none_or(|after| created(it).is_none_or(|it| it.as_second() >= after.as_second()));
        fresh && differences(&it.spec.template.spec, &deployment.spec.template.spec).is_empty()
    };
    let mut candidates: Vec<&Arc<MachineSet>> = sets.iter().filter(|it| satisfies(it)).collect();
    candidates.sort_by(|a, b| {
        let replicas = |it: &MachineSet| it.spec.replicas.unwrap_or(0);
        let by_age = || {
            created(a)
                .cmp(&created(b))
                .then_with(|| a.name_any().cmp(&b.name_any()))
        };
        replicas(b).cmp(&replicas(a)).then_with(by_age)
    });
    let current = candidates.first().copied();
    let mut old: Vec<&Arc<MachineSet>> = sets
        .iter()
        .filter(|it| current.is_none_or(|current| current.name_any() != it.name_any()))
        .collect();
    old.sort_by(|a, b| {
        created(a)
            .cmp(&created(b))
            .then_with(|| a.name_any().cmp(&b.name_any()))
    });
    (current, old)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn set(name: &str, version: &str, created: &str, replicas: i32) -> Arc<MachineSet> {
        Arc::new(
            serde_json::from_value(
                json!({ "metadata": { "name": name, "creationTimestamp": created },
                "spec": { "replicas": replicas, "template": { "spec": { "version": version } } } }),
            )
            .expect("a set"),
        )
    }

    fn deployment(version: &str, after: Option<&str>) -> MachineDeployment {
        serde_json::from_value(json!({ "metadata": {}, "spec": { "rollout": { "after": after },
            "template": { "spec": { "version": version } } } }))
        .expect("a deployment")
    }

    fn told(deployment: &MachineDeployment, sets: &[Arc<MachineSet>]) -> String {
        let now = "2026-01-02T00:00:00Z".parse().expect("a time");
        let (current, old) = current_and_old(deployment, sets, now);
        let old: Vec<String> = old.iter().map(|it| it.name_any()).collect();
        format!(
            "{} | {}",
            current.map(|it| it.name_any()).unwrap_or_default(),
            old.join(" ")
        )
    }

    #[test]
    fn the_current_set_matches_the_template_and_is_young_enough() {
        let early = "2026-01-01T00:00:00Z";
        let late = "2026-01-01T12:00:00Z";
        let sets = [
            set("a", "v1.34.0", early, 3),
            set("b", "v1.35.0", late, 1),
            set("c", "v1.35.0", early, 1),
        ];
        let table = [
            ("none matches", deployment("v1.36.0", None), " | a c b"),
            ("one matches", deployment("v1.34.0", None), "a | c b"),
            (
                "of two the older one is current",
                deployment("v1.35.0", None),
                "c | a b",
            ),
            (
                "made in the very second of the restart is young enough",
                deployment("v1.35.0", Some(late)),
                "b | a c",
            ),
            (
                "made before it is not",
                deployment("v1.34.0", Some(late)),
                " | a c b",
            ),
            (
                "a restart in the future does not count yet",
                deployment("v1.34.0", Some("2026-01-03T00:00:00Z")),
                "a | c b",
            ),
        ];
        for (case, deployment, expected) in table {
            assert_eq!(told(&deployment, &sets), expected, "{case}");
        }
    }

    #[test]
    fn only_what_needs_a_new_machine_is_a_difference() {
        let spec = |json: serde_json::Value| -> MachineSpec { serde_json::from_value(json).expect("a spec") };
        let current = spec(json!({ "version": "v1.34.0", "minReadySeconds": 1,
            "infrastructureRef": { "apiGroup": "i", "kind": "DevMachineTemplate", "name": "a" } }));
        let same = spec(
            json!({ "version": "v1.34.0", "failureDomain": "", "minReadySeconds": 9,
            "infrastructureRef": { "apiGroup": "i", "kind": "DevMachineTemplate", "name": "a" } }),
        );
        let other = spec(json!({ "version": "v1.35.0",
            "infrastructureRef": { "apiGroup": "i", "kind": "DevMachineTemplate", "name": "b" } }));
        assert_eq!(differences(&current, &same), Vec::<String>::new());
        assert_eq!(
            differences(&current, &other),
            [
                "Version v1.34.0, v1.35.0 required",
                "DevMachine is not up-to-date"
            ]
        );
    }
}
