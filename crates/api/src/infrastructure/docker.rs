//! Clusters and machines in containers: `DockerCluster`, `DockerMachine`, their templates, and the backends that the
//! Dev kinds have in common with them.

use super::{
    GROUP,
    cluster::ClusterStatus,
    machine::{MachineStatus, MachineTemplateStatus},
};
use crate::{
    core::{ApiEndpoint, FailureDomain, TemplateMeta},
    record::{object, record},
};

object! {
    /// What the machines of one cluster in containers share: a network and a load balancer.
    pub struct DockerCluster in GROUP, plural "dockerclusters", scope NamespaceResourceScope,
    spec DockerClusterSpec, status ClusterStatus
}

object! {
    /// What `DockerClusters` are made from.
    pub struct DockerClusterTemplate in GROUP, plural "dockerclustertemplates", scope NamespaceResourceScope,
    spec DockerClusterTemplateSpec
}

object! {
    /// One container that becomes one node.
    pub struct DockerMachine in GROUP, plural "dockermachines", scope NamespaceResourceScope,
    spec DockerMachineSpec, status MachineStatus
}

object! {
    /// What `DockerMachines` are made from.
    pub struct DockerMachineTemplate in GROUP, plural "dockermachinetemplates", scope NamespaceResourceScope,
    spec DockerMachineTemplateSpec, status MachineTemplateStatus
}
crate::core::conditioned!(DockerCluster, DockerMachine);

record! {
    /// What is wanted of a cluster in containers.
    pub struct DockerClusterSpec {
        /// Where the API server is reached; the provider sets the load balancer's address.
        pub control_plane_endpoint: ApiEndpoint,
        /// How the cluster's containers are made.
        #[serde(flatten)]
        pub backend: DockerClusterBackend,
    }

    /// How the containers that a cluster's machines share are made.
    pub struct DockerClusterBackend {
        /// Where machines may be placed. They mean nothing in containers and are passed on as they are.
        pub failure_domains: Vec<FailureDomain>,
        /// The load balancer.
        pub load_balancer: LoadBalancer,
    }

    /// The container in front of a cluster's API servers.
    pub struct LoadBalancer {
        /// A ConfigMap whose entry `value` is a Go template that replaces the haproxy configuration.
        #[serde(rename = "customHAProxyConfigTemplateRef")]
        pub custom_config_template: Option<LocalReference>,
        /// Where the haproxy image comes from; `kindest` if empty.
        pub image_repository: String,
        /// The tag of the haproxy image; the provider's choice if empty.
        pub image_tag: String,
    }

    /// An object in the same namespace.
    pub struct LocalReference {
        /// The name.
        pub name: String,
    }

    /// What is wanted of a machine in a container.
    pub struct DockerMachineSpec {
        /// The identity of the host, equal to its node's; set by the provider.
        #[serde(rename = "providerID")]
        pub provider_id: Option<String>,
        /// How the container is made.
        #[serde(flatten)]
        pub backend: DockerMachineBackend,
    }

    /// How the container of a machine is made.
    pub struct DockerMachineBackend {
        /// The node image; chosen by the Machine's version if empty.
        pub custom_image: String,
        /// Images of the Engine that are loaded into the machine before it is bootstrapped.
        pub pre_load_images: Vec<String>,
        /// Folders and files of the Engine's host that the machine sees.
        pub extra_mounts: Vec<ExtraMount>,
        /// How long the bootstrap may take, as Go writes durations; 5 minutes if absent.
        pub bootstrap_timeout: Option<String>,
    }

    /// A folder or file of the Engine's host that a machine sees.
    pub struct ExtraMount {
        /// Where the machine sees it.
        pub container_path: String,
        /// Where the host has it.
        pub host_path: String,
        /// Whether the machine cannot change it.
        pub read_only: bool,
    }

    /// What is wanted of a `DockerClusterTemplate`.
    pub struct DockerClusterTemplateSpec {
        /// The template.
        pub template: DockerClusterTemplateResource,
    }

    /// What a `DockerCluster` is made from.
    pub struct DockerClusterTemplateResource {
        /// Labels and annotations of the `DockerCluster`.
        pub metadata: TemplateMeta,
        /// The `DockerCluster`'s spec.
        pub spec: DockerClusterSpec,
    }

    /// What is wanted of a `DockerMachineTemplate`.
    pub struct DockerMachineTemplateSpec {
        /// The template.
        pub template: DockerMachineTemplateResource,
    }

    /// What a `DockerMachine` is made from.
    pub struct DockerMachineTemplateResource {
        /// Labels and annotations of the `DockerMachine`.
        pub metadata: TemplateMeta,
        /// The `DockerMachine`'s spec.
        pub spec: DockerMachineSpec,
    }
}
