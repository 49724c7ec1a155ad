//! What the demo shows of a cluster: every part, how far it is, and what it waits for. Pure.

use std::{collections::BTreeMap, sync::Arc};

use capstan_api::{
    Condition,
    condition::{self, Type},
    controlplane::KubeadmControlPlane,
    core::{Cluster, Machine, MachineDeployment, MachinePhase},
    well_known::label,
};
use kube::ResourceExt as _;

use crate::terminal::{Style, Text};

/// Longer texts about what is waited for are cut: the tree has to fit a terminal.
const REASON_WIDTH: usize = 64;

/// The parts of a cluster.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    pub(super) cluster: Option<Arc<Cluster>>,
    pub(super) control_plane: Option<Arc<KubeadmControlPlane>>,
    pub(super) machine_deployments: Vec<Arc<MachineDeployment>>,
    pub(super) machines: Vec<Arc<Machine>>,
}

/// One line: a part of the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    depth: usize,
    name: String,
    /// How far it is, in a word or number.
    state: String,
    is_done: bool,
    /// What it waits for; empty if nothing.
    waits_for: String,
}

/// A cluster at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct View {
    parts: Vec<Part>,
    /// Whether the cluster is available and all its machines run.
    pub(super) is_done: bool,
}

impl View {
    /// What there is to see.
    pub(super) fn of(facts: &Facts) -> Self {
        let Some(cluster) = &facts.cluster else {
            return Self::default();
        };
        let mut parts = vec![cluster_part(cluster)];
        if let Some(control_plane) = &facts.control_plane {
            parts.push(control_plane_part(control_plane));
            let is_ours = |it: &&Arc<Machine>| it.labels().contains_key(label::CONTROL_PLANE);
            parts.extend(facts.machines.iter().filter(is_ours).map(|it| machine_part(it)));
        }
        for deployment in &facts.machine_deployments {
            parts.push(deployment_part(deployment));
            let name = deployment.name_any();
            let is_its = |it: &&Arc<Machine>| it.labels().get(label::DEPLOYMENT_NAME) == Some(&name);
            parts.extend(facts.machines.iter().filter(is_its).map(|it| machine_part(it)));
        }
        let is_done = !facts.machines.is_empty() && parts.iter().all(|it| it.is_done);
        Self { parts, is_done }
    }

    /// The tree, a line each, for a terminal.
    pub(super) fn tree(&self, seconds: i64, colors: bool) -> Vec<String> {
        let name_width = self
            .parts
            .iter()
            .map(|it| 2 * it.depth + it.name.chars().count())
            .max()
            .unwrap_or(0);
        let state_width = self
            .parts
            .iter()
            .map(|it| it.state.chars().count())
            .max()
            .unwrap_or(0);
        let mut lines = Vec::new();
        for (index, part) in self.parts.iter().enumerate() {
            let branches = self.branches(index);
            let room = name_width - branches.chars().count();
            let style = if part.is_done { Style::Green } else { Style::Yellow };
            let mut text = Text::new(Style::Gray, branches)
                .and(Style::Plain, format!("{:<room$}  ", part.name))
                .and(style, format!("{:<state_width$}", part.state));
            if !part.waits_for.is_empty() {
                text = text.and(Style::Gray, format!("  waits: {}", part.waits_for));
            }
            lines.push(text.render(colors).trim_end().to_owned());
        }
        lines.push(Text::new(Style::Gray, format!("{seconds} s")).render(colors));
        lines
    }

    /// The lines before a part's name: a branch, and pipes for ancestors that go on below.
    fn branches(&self, index: usize) -> String {
        let depth = self.parts[index].depth;
        let goes_on = |level: usize| {
            self.parts[index + 1..]
                .iter()
                .find(|it| it.depth <= level)
                .is_some_and(|it| it.depth == level)
        };
        let mut text = String::new();
        for level in 1..=depth {
            text.push_str(match (level == depth, goes_on(level)) {
                (true, true) => "├─",
                (true, false) => "└─",
                (false, true) => "│ ",
                (false, false) => "  ",
            });
        }
        text
    }

    /// What changed since `before`, a line each.
    pub(super) fn changes(&self, before: &Self) -> Vec<String> {
        let known: BTreeMap<&str, &Part> = before.parts.iter().map(|it| (it.name.as_str(), it)).collect();
        let changed = self
            .parts
            .iter()
            .filter(|it| known.get(it.name.as_str()) != Some(it));
        changed.map(Part::line).collect()
    }

    /// The parts that are not done yet, a line each.
    pub(super) fn obstacles(&self) -> String {
        let lines: Vec<String> = self
            .parts
            .iter()
            .filter(|it| !it.is_done)
            .map(|it| format!("  {}", it.line()))
            .collect();
        if lines.is_empty() {
            "  it does not exist".to_owned()
        } else {
            lines.join("\n")
        }
    }
}

impl Part {
    fn line(&self) -> String {
        let waits = if self.waits_for.is_empty() {
            ""
        } else {
            ": waits: "
        };
        format!("{}  {}{waits}{}", self.name, self.state, self.waits_for)
    }
}

fn cluster_part(cluster: &Cluster) -> Part {
    let status = cluster.status.clone().unwrap_or_default();
    let is_available = condition::is_true(&status.conditions, Type::Available);
    let phase = status.phase.map_or("Pending", |it| it.as_str());
    Part {
        depth: 0,
        name: format!("Cluster {}", cluster.name_any()),
        state: if is_available {
            "Available".to_owned()
        } else {
            phase.to_owned()
        },
        is_done: is_available,
        waits_for: obstacle(
            &status.conditions,
            &[
                Type::InfrastructureReady,
                Type::ControlPlaneInitialized,
                Type::ControlPlaneAvailable,
                Type::Available,
            ],
        ),
    }
}

fn control_plane_part(control_plane: &KubeadmControlPlane) -> Part {
    let status = control_plane.status.clone().unwrap_or_default();
    let (ready, wanted) = (
        status.ready_replicas.unwrap_or(0),
        control_plane.spec.replicas.unwrap_or(1),
    );
    Part {
        depth: 1,
        name: format!("KubeadmControlPlane {}", control_plane.name_any()),
        state: format!("{ready}/{wanted}"),
        is_done: ready == wanted && status.replicas == Some(wanted),
        waits_for: obstacle(
            &status.conditions,
            &[Type::CertificatesAvailable, Type::Initialized, Type::Available],
        ),
    }
}

fn deployment_part(deployment: &MachineDeployment) -> Part {
    let status = deployment.status.clone().unwrap_or_default();
    let (ready, wanted) = (
        status.ready_replicas.unwrap_or(0),
        deployment.spec.replicas.unwrap_or(1),
    );
    Part {
        depth: 1,
        name: format!("MachineDeployment {}", deployment.name_any()),
        state: format!("{ready}/{wanted}"),
        is_done: ready == wanted && status.replicas == Some(wanted),
        waits_for: obstacle(&status.conditions, &[Type::Available]),
    }
}

fn machine_part(machine: &Machine) -> Part {
    let status = machine.status.clone().unwrap_or_default();
    let phase = status.phase.unwrap_or(MachinePhase::Pending);
    let is_ready = condition::is_true(&status.conditions, Type::Ready);
    Part {
        depth: 2,
        name: format!("Machine {}", machine.name_any()),
        state: phase.to_string(),
        is_done: phase == MachinePhase::Running && is_ready,
        waits_for: obstacle(
            &status.conditions,
            &[
                Type::BootstrapConfigReady,
                Type::InfrastructureReady,
                Type::NodeReady,
                Type::Ready,
            ],
        ),
    }
}

/// What the first of the conditions that is not true says, cut to one line.
fn obstacle(conditions: &[Condition], order: &[Type]) -> String {
    let found = order
        .iter()
        .filter_map(|it| condition::find(conditions, *it))
        .find(|it| it.status != "True");
    let Some(condition) = found else {
        return String::new();
    };
    let said = if condition.message.is_empty() {
        &condition.reason
    } else {
        &condition.message
    };
    let line = said.lines().next().unwrap_or_default().trim_start_matches("* ");
    let mut cut: String = line.chars().take(REASON_WIDTH).collect();
    if cut.len() < line.len() {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::{Value, json};

    use super::*;

    fn read<T: serde::de::DeserializeOwned>(value: Value) -> Arc<T> {
        Arc::new(serde_json::from_value(value).unwrap())
    }

    fn condition(type_: &str, status: &str, message: &str) -> Value {
        json!({
            "type": type_, "status": status, "reason": "Some", "message": message,
            "lastTransitionTime": "2026-01-02T03:04:05Z",
        })
    }

    fn machine(name: &str, label: &str, value: &str, phase: &str, ready: &Value) -> Arc<Machine> {
        read(json!({
            "metadata": {"name": name, "labels": {label: value}},
            "spec": {"clusterName": "demo"},
            "status": {"phase": phase, "conditions": [ready]},
        }))
    }

    fn facts(available: &str, last: Arc<Machine>, ready: i32) -> Facts {
        let good = condition("Ready", "True", "");
        Facts {
            cluster: Some(read(json!({
                "metadata": {"name": "demo"},
                "status": {
                    "phase": "Provisioned",
                    "conditions": [condition("Available", available, "* WorkersAvailable: one is missing\n* more")],
                },
            }))),
            control_plane: Some(read(json!({
                "metadata": {"name": "demo-cp"},
                "spec": {"replicas": 1},
                "status": {"replicas": 1, "readyReplicas": 1, "conditions": [condition("Available", "True", "")]},
            }))),
            machine_deployments: vec![read(json!({
                "metadata": {"name": "demo-md"},
                "spec": {"replicas": 2},
                "status": {"replicas": 2, "readyReplicas": ready},
            }))],
            machines: vec![
                machine(
                    "demo-cp-1",
                    "cluster.x-k8s.io/control-plane",
                    "",
                    "Running",
                    &good,
                ),
                machine(
                    "demo-md-1",
                    "cluster.x-k8s.io/deployment-name",
                    "demo-md",
                    "Running",
                    &good,
                ),
                last,
            ],
        }
    }

    fn young() -> Facts {
        let waiting = condition("InfrastructureReady", "False", "the VM boots");
        let last = machine(
            "demo-md-2",
            "cluster.x-k8s.io/deployment-name",
            "demo-md",
            "Provisioning",
            &waiting,
        );
        facts("False", last, 1)
    }

    fn old() -> Facts {
        let good = condition("Ready", "True", "");
        let last = machine(
            "demo-md-2",
            "cluster.x-k8s.io/deployment-name",
            "demo-md",
            "Running",
            &good,
        );
        facts("True", last, 2)
    }

    #[test]
    fn the_tree_says_what_each_part_waits_for() {
        let view = View::of(&young());
        assert!(!view.is_done);
        expect![[r#"
            Cluster demo                   Provisioned   waits: WorkersAvailable: one is missing
            ├─KubeadmControlPlane demo-cp  1/1
            │ └─Machine demo-cp-1          Running
            └─MachineDeployment demo-md    1/2
              ├─Machine demo-md-1          Running
              └─Machine demo-md-2          Provisioning  waits: the VM boots
            7 s"#]]
        .assert_eq(&view.tree(7, false).join("\n"));
    }

    #[test]
    fn elsewhere_each_change_is_a_line() {
        let (young, old) = (View::of(&young()), View::of(&old()));
        assert!(old.is_done);
        expect![[r"
            Cluster demo  Available
            MachineDeployment demo-md  2/2
            Machine demo-md-2  Running"]]
        .assert_eq(&old.changes(&young).join("\n"));
        assert!(old.changes(&old).is_empty());
    }

    #[test]
    fn who_gives_up_says_what_is_missing() {
        expect![[r"
            missing:
              Cluster demo  Provisioned: waits: WorkersAvailable: one is missing
              MachineDeployment demo-md  1/2
              Machine demo-md-2  Provisioning: waits: the VM boots"]]
        .assert_eq(&format!("missing:\n{}", View::of(&young()).obstacles()));
        assert_eq!(View::default().obstacles(), "  it does not exist");
    }
}
