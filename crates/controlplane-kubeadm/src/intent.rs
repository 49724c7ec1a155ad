//! The Machine that a control plane is about to make, with its host and its KubeadmConfig: all of one name, which
//! follows from the control plane's UID and the intent.

use std::collections::BTreeMap;

use capstan_api::{
    bootstrap::{self, KubeadmConfig, KubeadmConfigSpec},
    core::{Bootstrap, ConditionGate, ContractReference, Machine},
    owner, well_known,
};
use capstan_base::{naming, template, version::Version};
use capstan_contract::{TemplateClone, dynamic};
use capstan_engine::Lookup;
use kube::{
    ResourceExt,
    core::{ApiResource, DynamicObject},
};
use serde_json::json;

use crate::{
    remediation::Record,
    up_to_date::{for_init, for_join},
    view::{Component, View},
};

/// The longest name of a Machine: it becomes a label value.
const NAME_LIMIT: usize = 63;

/// Kubeadm's feature gate for kubelets that talk to their own API server: upstream sets it where it exists and is not
/// the only behaviour yet.
const LOCAL_MODE: &str = "ControlPlaneKubeletLocalMode";

/// The name of the next Machine. What an earlier attempt has left behind is finished first. Decided again from the same state it is the same name, so a create that is issued
/// twice collides.
pub(crate) fn name(view: &View) -> String {
    // A name that somebody else has taken is left to them after a few attempts.
    let attempt = view.failures / 4;
    if let Some(begun) = view.unclaimed.first().filter(|_| attempt == 0) {
        return begun.clone();
    }
    let control_plane = &*view.control_plane;
    let conditions = control_plane
        .status
        .as_ref()
        .map(|it| it.conditions.as_slice())
        .unwrap_or_default();
    let scaling = conditions.iter().find(|it| it.type_ == "ScalingUp");
    let epoch = scaling
        .map(|it| format!("{} {}", it.status, it.last_transition_time.0))
        .unwrap_or_default();
    let mut parts = vec![
        control_plane.uid().unwrap_or_default(),
        epoch,
        attempt.to_string(),
    ];
    parts.extend(view.members.iter().map(|it| it.machine.uid().unwrap_or_default()));
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let random = naming::stable_suffix(&parts, 5);
    let given = control_plane
        .spec
        .machine_naming
        .template
        .as_deref()
        .filter(|it| !it.is_empty());
    let cluster = view.cluster.as_ref().map(|it| it.name_any()).unwrap_or_default();
    let own = control_plane.name_any();
    let data =
        json!({ "cluster": { "name": cluster }, "kubeadmControlPlane": { "name": own }, "random": random });
    template::name(
        given.unwrap_or("{{ .kubeadmControlPlane.name }}-{{ .random }}"),
        &data,
        &random,
    )
    .unwrap_or_else(|_| naming::with_suffix(&own, &random, NAME_LIMIT))
}

/// The labels of the control plane's Machines and of what is made for them.
pub(crate) fn labels(view: &View) -> BTreeMap<String, String> {
    let control_plane = &*view.control_plane;
    let mut labels = control_plane.spec.machine_template.metadata.labels.clone();
    let cluster = view.cluster.as_ref().map(|it| it.name_any()).unwrap_or_default();
    labels.insert(well_known::label::CLUSTER_NAME.to_owned(), cluster);
    labels.insert(well_known::label::CONTROL_PLANE.to_owned(), String::new());
    let name = well_known::label_value(&control_plane.name_any());
    labels.insert(well_known::label::CONTROL_PLANE_NAME.to_owned(), name);
    labels
}

/// The conditions that make a control plane Machine ready besides its own, and then the user's.
pub(crate) fn readiness_gates(view: &View) -> Vec<ConditionGate> {
    let mut types = vec!["NodeKubeadmLabelsAndTaintsSet"];
    let components = Component::ALL
        .into_iter()
        .filter(|it| *it != Component::Etcd || view.has_stacked_etcd());
    types.extend(components.map(Component::condition));
    if view.has_stacked_etcd() {
        types.push("EtcdMemberHealthy");
    }
    let mut gates: Vec<ConditionGate> = types
        .into_iter()
        .map(|it| ConditionGate {
            condition_type: it.to_owned(),
            polarity: None,
        })
        .collect();
    for gate in &view.control_plane.spec.machine_template.spec.readiness_gates {
        if gates.iter().all(|it| it.condition_type != gate.condition_type) {
            gates.push(gate.clone());
        }
    }
    gates
}

/// Host, KubeadmConfig and Machine of a name.
///
/// # Errors
/// A sentence: the template cannot be cloned.
pub(crate) fn objects(
    view: &View,
    name: &str,
    failure_domain: Option<String>,
) -> Result<Vec<(ApiResource, DynamicObject)>, String> {
    let control_plane = &*view.control_plane;
    let namespace = control_plane.namespace().unwrap_or_default();
    let Lookup::Found(external) = &view.infrastructure_template else {
        return Err("the template of the hosts does not exist".to_owned());
    };
    let reference = &control_plane.spec.machine_template.spec.infrastructure_ref;
    let labels = labels(view);
    let clone = TemplateClone {
        template: &external.object,
        reference,
        namespace: &namespace,
        name,
        cluster_name: labels
            .get(well_known::label::CLUSTER_NAME)
            .map_or("", String::as_str),
        owner: Some(owner::plain(control_plane)),
        labels: &labels,
        annotations: &control_plane.spec.machine_template.metadata.annotations,
    };
    let host = clone.object().map_err(|it| it.to_string())?;
    let config = dynamic(&config(view, name)).map_err(|it| it.to_string())?;
    let machine = dynamic(&machine(view, name, &host.0, failure_domain)).map_err(|it| it.to_string())?;
    Ok(vec![host, config, machine])
}

fn config(view: &View, name: &str) -> KubeadmConfig {
    let control_plane = &*view.control_plane;
    let mut config = KubeadmConfig::new(&control_plane.namespace().unwrap_or_default(), name);
    config.metadata.labels = Some(labels(view));
    config.metadata.annotations =
        Some(control_plane.spec.machine_template.metadata.annotations.clone()).filter(|it| !it.is_empty());
    config.metadata.owner_references = Some(vec![owner::plain(control_plane)]);
    let spec = with_local_mode(
        &control_plane.spec.kubeadm_config_spec,
        &control_plane.spec.version,
    );
    config.spec = if view.members.is_empty() {
        for_init(&spec)
    } else {
        for_join(&spec)
    };
    config
}

/// The config with the feature gate that upstream sets for a version, unless the user decides about it.
// Parity: upstream controlplane/kubeadm/reconcilers/helpers.go, feature gate defaulting by version
pub(crate) fn with_local_mode(spec: &KubeadmConfigSpec, version: &str) -> KubeadmConfigSpec {
    let mut spec = spec.clone();
    let is_optional =
        Version::parse_tolerant(version).is_ok_and(|it| it.major() == 1 && (31..36).contains(&it.minor()));
    if is_optional {
        spec.cluster_configuration
            .feature_gates
            .entry(LOCAL_MODE.to_owned())
            .or_insert(true);
    }
    spec
}

/// The annotations of a new Machine: the template's, the hook with which an etcd member is taken out before its host
/// goes, and, if it replaces an unhealthy one, the record of that.
pub(crate) fn annotations(view: &View) -> BTreeMap<String, String> {
    let mut annotations = view
        .control_plane
        .spec
        .machine_template
        .metadata
        .annotations
        .clone();
    annotations.insert(
        well_known::annotation::KCP_PRE_TERMINATE_HOOK.to_owned(),
        String::new(),
    );
    if let Some(record) = Record::in_progress(&view.control_plane) {
        annotations.insert(
            well_known::annotation::REMEDIATION_FOR.to_owned(),
            record.to_text(),
        );
    }
    annotations
}

fn machine(view: &View, name: &str, host: &ApiResource, failure_domain: Option<String>) -> Machine {
    let control_plane = &*view.control_plane;
    let template = &control_plane.spec.machine_template.spec;
    let mut machine = Machine::new(&control_plane.namespace().unwrap_or_default(), name);
    machine.metadata.labels = Some(labels(view));
    machine.metadata.annotations = Some(annotations(view));
    machine.metadata.owner_references = Some(vec![owner::controller(control_plane)]);
    // The finalizer is there from the first moment, which spares a write and leaves no gap.
    machine.metadata.finalizers = Some(vec![well_known::finalizer::MACHINE.to_owned()]);
    machine.spec.cluster_name = view.cluster.as_ref().map(|it| it.name_any()).unwrap_or_default();
    machine.spec.version = Some(control_plane.spec.version.clone());
    machine.spec.failure_domain = failure_domain;
    machine.spec.bootstrap = Bootstrap {
        config_ref: Some(ContractReference::new(
            bootstrap::GROUP,
            KubeadmConfig::KIND,
            name,
        )),
        data_secret_name: None,
    };
    machine.spec.infrastructure_ref = ContractReference::new(&host.group, &host.kind, name);
    machine.spec.readiness_gates = readiness_gates(view);
    machine.spec.deletion = template.deletion.clone();
    machine.spec.taints.clone_from(&template.taints);
    machine
}
