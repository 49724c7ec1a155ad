//! From what was fetched to the tree. Pure.

use capstan_api::contract::ControlPlane;
use serde_json::Value;

use super::{
    fetch::{Facts, Reference, controller, owner_kind},
    item::Item,
    tree::{Node, Options, is_echo},
};

/// The tree of a cluster.
// Parity: upstream cmd/clusterctl/client/tree/discovery.go
pub(super) fn build(facts: &Facts, options: &Options) -> Node {
    let mut root = Node::object(Item::cluster(&facts.cluster), options);
    if let Some(infrastructure) = &facts.infrastructure {
        root.add(Node::object(Item::plain(infrastructure), options));
    }
    if let Some(names) = &facts.resource_sets {
        root.add(resource_sets(facts, names, options));
    }
    let (ours, workers): (Vec<&Value>, Vec<&Value>) =
        facts.machines.iter().partition(|it| is_control_plane_machine(it));
    if let Some(node) = control_plane(facts, &ours, options) {
        root.add(node);
    }
    if workers.len() + facts.machine_pools.len() > 0 {
        root.add(workers_node(facts, &workers, options));
    }
    root
}

fn is_control_plane_machine(machine: &Value) -> bool {
    machine["metadata"]["labels"]
        .get("cluster.x-k8s.io/control-plane")
        .is_some()
}

fn resource_sets(facts: &Facts, names: &[String], options: &Options) -> Node {
    let mut heading = Node::heading("ClusterResourceSetGroup", "ClusterResourceSets", options);
    for name in names {
        heading.add(Node::object(
            Item::reference("ClusterResourceSet", facts.namespace(), name),
            options,
        ));
    }
    heading
}

fn control_plane(facts: &Facts, machines: &[&Value], options: &Options) -> Option<Node> {
    let (object, contract) = facts.control_plane.as_ref()?;
    let mut node = Node::object(Item::control_plane(object, *contract), options).grouping(options);
    let template = ControlPlane::new(object, *contract)
        .infrastructure_ref()
        .ok()
        .flatten();
    if let Some(template) = template.filter(|_| options.show_templates) {
        node.add(templates(facts, [Some((template.kind, template.name))], options));
    }
    for machine in machines {
        node.add(machine_node(facts, machine, options));
    }
    Some(node)
}

fn workers_node(facts: &Facts, machines: &[&Value], options: &Options) -> Node {
    let mut workers = Node::heading("WorkerGroup", "Workers", options);
    let mut shown: Vec<&Value> = Vec::new();
    if !machines.is_empty() {
        for deployment in &facts.machine_deployments {
            workers.add(machine_deployment(
                facts, deployment, machines, &mut shown, options,
            ));
        }
    }
    for pool in &facts.machine_pools {
        workers.add(machine_pool(facts, pool, machines, &mut shown, options));
    }
    let orphans: Vec<_> = machines
        .iter()
        .filter(|it| !shown.iter().any(|shown| std::ptr::eq(*shown, **it)))
        .collect();
    if !orphans.is_empty() {
        let mut other = Node::heading("OtherGroup", "Other", options);
        for machine in orphans {
            other.add(machine_node(facts, machine, options));
        }
        workers.add(other);
    }
    workers
}

fn machine_deployment<'a>(
    facts: &Facts,
    deployment: &Value,
    machines: &[&'a Value],
    shown: &mut Vec<&'a Value>,
    options: &Options,
) -> Node {
    let mut node = Node::object(Item::machine_deployment(deployment), options);
    if !options.show_machine_sets {
        node = node.grouping(options);
    }
    if options.show_templates {
        let reference =
            |pointer: &str| Reference::read(deployment.pointer(pointer)).map(|it| (it.kind, it.name));
        let pointers = [
            "/spec/template/spec/bootstrap/configRef",
            "/spec/template/spec/infrastructureRef",
        ];
        node.add(templates(facts, pointers.map(reference), options));
    }
    let is_its = |it: &&Value| is_controlled_by(it, deployment, "MachineDeployment");
    for set in facts.machine_sets.iter().filter(is_its) {
        let its_machines: Vec<_> = machines
            .iter()
            .copied()
            .filter(|it| is_controlled_by(it, set, "MachineSet"))
            .collect();
        shown.extend(&its_machines);
        let nodes = its_machines.iter().map(|it| machine_node(facts, it, options));
        if options.show_machine_sets {
            let mut set = Node::object(Item::machine_set(set), options).grouping(options);
            nodes.for_each(|it| set.add(it));
            node.add(set);
        } else {
            nodes.for_each(|it| node.add(it));
        }
    }
    node
}

fn machine_pool<'a>(
    facts: &Facts,
    pool: &Value,
    machines: &[&'a Value],
    shown: &mut Vec<&'a Value>,
    options: &Options,
) -> Node {
    let item = Item::machine_pool(pool);
    let mut node = Node::object(item.clone(), options).grouping(options);
    for pointer in [
        "/spec/template/spec/bootstrap/configRef",
        "/spec/template/spec/infrastructureRef",
    ] {
        node.children
            .extend(part(facts, pool.pointer(pointer), &item, options));
    }
    for machine in machines
        .iter()
        .copied()
        .filter(|it| is_controlled_by(it, pool, "MachinePool"))
    {
        shown.push(machine);
        node.add(machine_node(facts, machine, options));
    }
    node
}

fn machine_node(facts: &Facts, machine: &Value, options: &Options) -> Node {
    let item = Item::machine(machine);
    let mut node = Node::object(item.clone(), options);
    for pointer in ["/spec/infrastructureRef", "/spec/bootstrap/configRef"] {
        node.children
            .extend(part(facts, machine.pointer(pointer), &item, options));
    }
    node
}

/// The object behind a reference, unless it has nothing to add to its parent.
fn part(facts: &Facts, reference: Option<&Value>, parent: &Item, options: &Options) -> Option<Node> {
    let item = Item::plain(facts.parts.get(&Reference::read(reference)?)?);
    (options.echo || !is_echo(parent, &item)).then(|| Node::object(item, options))
}

/// A heading above the templates that an object makes machines from.
fn templates<const N: usize>(
    facts: &Facts,
    references: [Option<(String, String)>; N],
    options: &Options,
) -> Node {
    let mut heading = Node::heading("TemplateGroup", "Templates", options);
    heading.order = 1;
    for (kind, name) in references.into_iter().flatten() {
        heading.add(Node::object(
            Item::reference(&kind, facts.namespace(), &name),
            options,
        ));
    }
    heading
}

fn is_controlled_by(object: &Value, owner: &Value, kind: &str) -> bool {
    let uid = owner["metadata"]["uid"].as_str().unwrap_or_default();
    controller(object).is_some_and(|it| owner_kind(it) == kind && it["uid"] == uid)
}
