//! Infrastructure clusters, machines and machine templates.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use serde::Deserialize;
use serde_json::Value;

use super::{
    Contract, ContractError,
    value::{claim, read, text},
};
use crate::core::{ApiEndpoint, FailureDomain, MachineAddress};

/// An infrastructure cluster, read by contract.
#[derive(Debug, Clone, Copy)]
pub struct InfrastructureCluster<'a> {
    object: &'a Value,
    contract: Contract,
}

/// A failure domain as the v1beta1 contract writes it: the value of a map by name.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct V1Beta1FailureDomain {
    control_plane: bool,
    attributes: BTreeMap<String, String>,
}

impl<'a> InfrastructureCluster<'a> {
    /// `object` read by `contract`.
    pub fn new(object: &'a Value, contract: Contract) -> Self {
        Self { object, contract }
    }

    /// Whether the infrastructure is there.
    pub fn provisioned(&self) -> Result<bool, ContractError> {
        claim(self.object, provisioned_path(self.contract)).map(Option::unwrap_or_default)
    }

    /// Where the API server is reached, if the provider decides that.
    pub fn control_plane_endpoint(&self) -> Result<Option<ApiEndpoint>, ContractError> {
        endpoint(self.object)
    }

    /// Where machines can be placed, sorted by name.
    pub fn failure_domains(&self) -> Result<Vec<FailureDomain>, ContractError> {
        let path = &["status", "failureDomains"];
        let mut domains: Vec<FailureDomain> = match self.contract {
            Contract::V1Beta1 => {
                read::<BTreeMap<String, V1Beta1FailureDomain>>(self.object, path, "a map of failure domains")?
                    .unwrap_or_default()
                    .into_iter()
                    .map(|(name, domain)| FailureDomain {
                        name,
                        control_plane: Some(domain.control_plane),
                        attributes: domain.attributes,
                    })
                    .collect()
            }
            Contract::V1Beta2 => read(self.object, path, "a list of failure domains")?.unwrap_or_default(),
        };
        for domain in &mut domains {
            domain.control_plane.get_or_insert(false);
        }
        domains.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(domains)
    }

    /// The terminal failure of the v1beta1 contract: reason and message, empty where absent.
    pub fn failure(&self) -> Result<(String, String), ContractError> {
        failure(self.object)
    }
}

/// An infrastructure machine, read by contract.
#[derive(Debug, Clone, Copy)]
pub struct InfrastructureMachine<'a> {
    object: &'a Value,
    contract: Contract,
}

impl<'a> InfrastructureMachine<'a> {
    /// `object` read by `contract`.
    pub fn new(object: &'a Value, contract: Contract) -> Self {
        Self { object, contract }
    }

    /// Whether the host is there.
    pub fn provisioned(&self) -> Result<bool, ContractError> {
        claim(self.object, provisioned_path(self.contract)).map(Option::unwrap_or_default)
    }

    /// The provider's identity of the host.
    pub fn provider_id(&self) -> Result<Option<String>, ContractError> {
        text(self.object, &["spec", "providerID"])
    }

    /// Where the host is placed: `status.failureDomain`, else the deprecated `spec.failureDomain`.
    pub fn failure_domain(&self) -> Result<Option<String>, ContractError> {
        let observed = text(self.object, &["status", "failureDomain"])?.filter(|it| !it.is_empty());
        match observed {
            Some(domain) => Ok(Some(domain)),
            None => Ok(self.spec_failure_domain()?.filter(|it| !it.is_empty())),
        }
    }

    /// The deprecated `spec.failureDomain`.
    pub fn spec_failure_domain(&self) -> Result<Option<String>, ContractError> {
        text(self.object, &["spec", "failureDomain"])
    }

    /// The host's addresses.
    pub fn addresses(&self) -> Result<Vec<MachineAddress>, ContractError> {
        read(self.object, &["status", "addresses"], "a list of addresses").map(Option::unwrap_or_default)
    }

    /// Whether the host may vanish at any time.
    pub fn interruptible(&self) -> Result<bool, ContractError> {
        claim(self.object, &["status", "interruptible"]).map(Option::unwrap_or_default)
    }

    /// The terminal failure of the v1beta1 contract: reason and message, empty where absent.
    pub fn failure(&self) -> Result<(String, String), ContractError> {
        failure(self.object)
    }
}

/// A template of infrastructure machines, read by contract.
#[derive(Debug, Clone, Copy)]
pub struct InfrastructureMachineTemplate<'a> {
    object: &'a Value,
}

impl<'a> InfrastructureMachineTemplate<'a> {
    /// `object` read by contract; both contracts agree on templates.
    pub fn new(object: &'a Value) -> Self {
        Self { object }
    }

    /// What a host made from it can hold, for scaling from zero.
    pub fn capacity(&self) -> Result<BTreeMap<String, Quantity>, ContractError> {
        read(self.object, &["status", "capacity"], "a map of quantities").map(Option::unwrap_or_default)
    }

    /// The architecture of a host made from it.
    pub fn architecture(&self) -> Result<Option<String>, ContractError> {
        text(self.object, &["status", "nodeInfo", "architecture"])
    }

    /// The operating system of a host made from it.
    pub fn operating_system(&self) -> Result<Option<String>, ContractError> {
        text(self.object, &["status", "nodeInfo", "operatingSystem"])
    }
}

fn provisioned_path(contract: Contract) -> &'static [&'static str] {
    match contract {
        Contract::V1Beta1 => &["status", "ready"],
        Contract::V1Beta2 => &["status", "initialization", "provisioned"],
    }
}

pub(super) fn endpoint(object: &Value) -> Result<Option<ApiEndpoint>, ContractError> {
    read(
        object,
        &["spec", "controlPlaneEndpoint"],
        "an endpoint of host and port",
    )
}

pub(super) fn failure(object: &Value) -> Result<(String, String), ContractError> {
    Ok((
        text(object, &["status", "failureReason"])?.unwrap_or_default(),
        text(object, &["status", "failureMessage"])?.unwrap_or_default(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_contracts_say_the_same_of_a_cluster() {
        let former = json!({ "spec": { "controlPlaneEndpoint": { "host": "h", "port": 6443 } },
            "status": { "ready": true, "failureDomains": { "b": { "controlPlane": true }, "a": {} } } });
        let present = json!({ "spec": { "controlPlaneEndpoint": { "host": "h", "port": 6443 } },
            "status": { "initialization": { "provisioned": true },
                "failureDomains": [{ "name": "b", "controlPlane": true }, { "name": "a" }] } });
        for (object, contract) in [(&former, Contract::V1Beta1), (&present, Contract::V1Beta2)] {
            let cluster = InfrastructureCluster::new(object, contract);
            assert_eq!(cluster.provisioned(), Ok(true));
            assert_eq!(
                cluster.control_plane_endpoint(),
                Ok(Some(ApiEndpoint {
                    host: "h".to_owned(),
                    port: 6443
                }))
            );
            let domains: Vec<_> = cluster
                .failure_domains()
                .expect("domains")
                .into_iter()
                .map(|it| (it.name, it.control_plane))
                .collect();
            assert_eq!(
                domains,
                [("a".to_owned(), Some(false)), ("b".to_owned(), Some(true))]
            );
        }
    }

    #[test]
    fn a_field_of_the_wrong_type_is_named() {
        let machine = json!({ "spec": { "providerID": 7 }, "status": { "failureDomain": "" } });
        let machine = InfrastructureMachine::new(&machine, Contract::V1Beta2);
        assert_eq!(
            machine.provider_id().map_err(|it| it.to_string()),
            Err("failed to read .spec.providerID: expected a string".to_owned())
        );
        assert_eq!(machine.failure_domain(), Ok(None));
        assert_eq!(machine.provisioned(), Ok(false));
    }
}
