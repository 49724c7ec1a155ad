//! Rules for the infrastructure kinds that Capstan serves itself.
// Parity: upstream test/infrastructure/docker/internal/webhooks
//
// Differs: durations and fractions are read here, so that a typing error is refused by name instead of stopping a
// machine later. A machine whose backend would change is refused: upstream accepts it and leaves what it made behind.

use capstan_base::field::{Error, Path};
use serde::Serialize;

use super::{Admit, Context, checks};
use crate::{
    core::{ApiEndpoint, FailureDomain},
    feature::Feature,
    infrastructure::{
        ClusterBackend, Component, DevCluster, DevClusterSpec, DevClusterTemplate, DevMachine,
        DevMachineTemplate, DockerCluster, DockerClusterBackend, DockerClusterTemplate, DockerMachine,
        DockerMachineBackend, DockerMachineTemplate, MachineBackend, parse_duration, parse_jitter,
    },
    well_known::annotation,
};

/// The port of a control plane's endpoint, if nobody names one.
const API_SERVER_PORT: i32 = 6443;

impl Admit for DevCluster {
    fn default(&mut self, _: Option<&Self>, _: &Context) -> Result<(), Vec<Error>> {
        default_dev_cluster(&mut self.spec);
        Ok(())
    }

    fn validate(&self, old: Option<&Self>, _: &Context) -> Vec<Error> {
        let path = Path::new("spec.backend");
        let mut errors = dev_cluster_backend(&self.spec.backend, &path);
        errors.extend(old.and_then(|old| moved(places_of_cluster(old), places_of_cluster(self), &path)));
        errors
    }
}

impl Admit for DevClusterTemplate {
    fn default(&mut self, _: Option<&Self>, _: &Context) -> Result<(), Vec<Error>> {
        default_dev_cluster(&mut self.spec.template.spec);
        Ok(())
    }

    fn validate(&self, old: Option<&Self>, context: &Context) -> Vec<Error> {
        if let Some(old) = old {
            let mut before = old.clone();
            default_dev_cluster(&mut before.spec.template.spec);
            return same(&before.spec.template.spec, &self.spec.template.spec, Self::KIND);
        }
        let template = &self.spec.template;
        let path = Path::new("spec.template");
        let mut errors = needs_topology(context);
        errors.extend(dev_cluster_backend(
            &template.spec.backend,
            &path.child("spec.backend"),
        ));
        errors.extend(checks::template_metadata(
            &template.metadata,
            &path.child("metadata"),
        ));
        errors
    }
}

impl Admit for DevMachine {
    fn default(&mut self, _: Option<&Self>, _: &Context) -> Result<(), Vec<Error>> {
        default_machine_backend(&mut self.spec.backend);
        Ok(())
    }

    fn validate(&self, old: Option<&Self>, _: &Context) -> Vec<Error> {
        let path = Path::new("spec.backend");
        let mut errors = machine_backend(&self.spec.backend, &path);
        let Some(old) = old else { return errors };
        errors.extend(moved(places_of_machine(old), places_of_machine(self), &path));
        if let (Some(before), Some(after)) = (&old.spec.backend.docker, &self.spec.backend.docker) {
            errors.extend(same_image(before, after, &path.child("docker")));
        }
        errors
    }
}

impl Admit for DevMachineTemplate {
    fn default(&mut self, _: Option<&Self>, _: &Context) -> Result<(), Vec<Error>> {
        default_machine_backend(&mut self.spec.template.spec.backend);
        Ok(())
    }

    fn validate(&self, old: Option<&Self>, context: &Context) -> Vec<Error> {
        let template = &self.spec.template;
        let path = Path::new("spec.template");
        let mut errors = machine_backend(&template.spec.backend, &path.child("spec.backend"));
        errors.extend(checks::template_metadata(
            &template.metadata,
            &path.child("metadata"),
        ));
        if let Some(old) = old.filter(|_| !is_topology_dry_run(self.metadata.annotations.as_ref(), context)) {
            errors.extend(same(&old.spec.template.spec, &template.spec, Self::KIND));
        }
        errors
    }
}

impl Admit for DockerCluster {
    fn default(&mut self, _: Option<&Self>, _: &Context) -> Result<(), Vec<Error>> {
        let spec = &mut self.spec;
        default_docker_cluster(&mut spec.control_plane_endpoint, &mut spec.backend);
        Ok(())
    }

    fn validate(&self, _: Option<&Self>, _: &Context) -> Vec<Error> {
        docker_cluster_backend(&self.spec.backend, &Path::new("spec"))
    }
}

impl Admit for DockerClusterTemplate {
    fn default(&mut self, _: Option<&Self>, _: &Context) -> Result<(), Vec<Error>> {
        let spec = &mut self.spec.template.spec;
        default_docker_cluster(&mut spec.control_plane_endpoint, &mut spec.backend);
        Ok(())
    }

    fn validate(&self, old: Option<&Self>, context: &Context) -> Vec<Error> {
        if let Some(old) = old {
            let mut before = old.spec.template.spec.clone();
            default_docker_cluster(&mut before.control_plane_endpoint, &mut before.backend);
            return same(&before, &self.spec.template.spec, Self::KIND);
        }
        let template = &self.spec.template;
        let path = Path::new("spec.template");
        let mut errors = needs_topology(context);
        errors.extend(docker_cluster_backend(
            &template.spec.backend,
            &path.child("spec"),
        ));
        errors.extend(checks::template_metadata(
            &template.metadata,
            &path.child("metadata"),
        ));
        errors
    }
}

impl Admit for DockerMachine {
    fn validate(&self, old: Option<&Self>, _: &Context) -> Vec<Error> {
        let path = Path::new("spec");
        let mut errors = docker_machine_backend(&self.spec.backend, &path);
        errors.extend(old.and_then(|old| same_image(&old.spec.backend, &self.spec.backend, &path)));
        errors
    }
}

impl Admit for DockerMachineTemplate {
    fn validate(&self, old: Option<&Self>, context: &Context) -> Vec<Error> {
        let template = &self.spec.template;
        let path = Path::new("spec.template");
        let mut errors = docker_machine_backend(&template.spec.backend, &path.child("spec"));
        errors.extend(checks::template_metadata(
            &template.metadata,
            &path.child("metadata"),
        ));
        if let Some(old) = old.filter(|_| !is_topology_dry_run(self.metadata.annotations.as_ref(), context)) {
            errors.extend(same(&old.spec.template.spec, &template.spec, Self::KIND));
        }
        errors
    }
}

fn default_dev_cluster(spec: &mut DevClusterSpec) {
    if spec.backend.in_memory.is_none() && spec.backend.docker.is_none() {
        spec.backend.docker = Some(DockerClusterBackend::default());
    }
    if let Some(docker) = &mut spec.backend.docker {
        default_docker_cluster(&mut spec.control_plane_endpoint, docker);
    }
}

fn default_docker_cluster(endpoint: &mut ApiEndpoint, backend: &mut DockerClusterBackend) {
    if endpoint.port == 0 {
        endpoint.port = API_SERVER_PORT;
    }
    for domain in &mut backend.failure_domains {
        domain.control_plane.get_or_insert(false);
    }
}

fn default_machine_backend(backend: &mut MachineBackend) {
    if backend.in_memory.is_none() && backend.docker.is_none() {
        backend.docker = Some(DockerMachineBackend::default());
    }
}

fn needs_topology(context: &Context) -> Vec<Error> {
    if context.features.is_on(Feature::ClusterTopology) {
        return Vec::new();
    }
    let detail = "can be set only if the ClusterTopology feature flag is enabled";
    vec![Error::forbidden(&Path::new("spec"), detail)]
}

/// A template's spec never changes. Nothing if it does not.
fn same<S: PartialEq + Serialize>(old: &S, new: &S, kind: &str) -> Vec<Error> {
    if old == new {
        return Vec::new();
    }
    let path = Path::new("spec.template.spec");
    let detail =
        format!("{kind} spec.template.spec field is immutable. Please create a new resource instead.");
    vec![Error::invalid(&path, checks::shown(new), detail)]
}

/// Whether the topology controller only tries out what would change.
fn is_topology_dry_run(
    annotations: Option<&std::collections::BTreeMap<String, String>>,
    context: &Context,
) -> bool {
    let annotated = annotations.is_some_and(|it| it.contains_key(annotation::TOPOLOGY_DRY_RUN));
    context.dry_run && annotated
}

/// Whether a backend has `docker` and `inMemory`.
type Places = (bool, bool);

fn places_of_cluster(cluster: &DevCluster) -> Places {
    let backend = &cluster.spec.backend;
    (backend.docker.is_some(), backend.in_memory.is_some())
}

fn places_of_machine(machine: &DevMachine) -> Places {
    let backend = &machine.spec.backend;
    (backend.docker.is_some(), backend.in_memory.is_some())
}

/// What lives in one place cannot be moved to the other.
fn moved(before: Places, after: Places, path: &Path) -> Option<Error> {
    // An object that was stored before any backend was filled in may get one.
    let settled = before.0 || before.1;
    (settled && before != after).then(|| {
        let detail = "cannot be changed between docker and inMemory. Please create a new resource instead.";
        Error::forbidden(path, detail)
    })
}

fn both(docker: bool, in_memory: bool, path: &Path) -> Option<Error> {
    (docker && in_memory).then(|| Error::forbidden(path, "only one of docker and inMemory may be set"))
}

fn dev_cluster_backend(backend: &ClusterBackend, path: &Path) -> Vec<Error> {
    let mut errors = Vec::new();
    errors.extend(both(backend.docker.is_some(), backend.in_memory.is_some(), path));
    if let Some(docker) = &backend.docker {
        errors.extend(docker_cluster_backend(docker, &path.child("docker")));
    }
    errors
}

fn docker_cluster_backend(backend: &DockerClusterBackend, path: &Path) -> Vec<Error> {
    let domains: &[FailureDomain] = &backend.failure_domains;
    if domains.is_sorted_by(|a, b| a.name <= b.name) {
        return Vec::new();
    }
    let path = path.child("failureDomains");
    vec![Error::invalid(
        &path,
        checks::shown(&domains),
        "failure domains must be sorted by name",
    )]
}

fn machine_backend(backend: &MachineBackend, path: &Path) -> Vec<Error> {
    let mut errors = Vec::new();
    errors.extend(both(backend.docker.is_some(), backend.in_memory.is_some(), path));
    if let Some(docker) = &backend.docker {
        errors.extend(docker_machine_backend(docker, &path.child("docker")));
    }
    let Some(backend) = &backend.in_memory else {
        return errors;
    };
    let path = path.child("inMemory");
    let components = [
        ("vm", &backend.vm),
        ("node", &backend.node),
        ("apiServer", &backend.api_server),
        ("etcd", &backend.etcd),
    ];
    for (name, part) in components {
        if let Some(part) = part {
            errors.extend(component(part, &path.child(name).child("provisioning")));
        }
    }
    errors
}

fn component(component: &Component, path: &Path) -> Vec<Error> {
    let provisioning = &component.provisioning;
    let mut errors = duration(&provisioning.startup_duration, &path.child("startupDuration"));
    let jitter = provisioning.startup_jitter.as_str();
    if parse_jitter(jitter).is_none() {
        let path = path.child("startupJitter");
        errors.push(Error::invalid(&path, jitter, "must be a number, like 0.2"));
    }
    errors
}

fn duration(text: &str, path: &Path) -> Vec<Error> {
    let refused = parse_duration(text).err();
    refused
        .map(|why| Error::invalid(path, text, why.to_string()))
        .into_iter()
        .collect()
}

fn docker_machine_backend(backend: &DockerMachineBackend, path: &Path) -> Vec<Error> {
    let limit = backend.bootstrap_timeout.as_deref().unwrap_or_default();
    let mut errors = duration(limit, &path.child("bootstrapTimeout"));
    for (at, mount) in backend.extra_mounts.iter().enumerate() {
        let path = path.child("extraMounts").index(at);
        let folders = [
            ("containerPath", &mount.container_path),
            ("hostPath", &mount.host_path),
        ];
        for (name, folder) in folders.into_iter().filter(|(_, it)| !it.starts_with('/')) {
            let detail = "must be an absolute path";
            errors.push(Error::invalid(&path.child(name), folder.as_str(), detail));
        }
    }
    errors
}

fn same_image(before: &DockerMachineBackend, after: &DockerMachineBackend, path: &Path) -> Option<Error> {
    let changed = before.custom_image != after.custom_image;
    changed.then(|| Error::forbidden(&path.child("customImage"), "cannot be modified"))
}
