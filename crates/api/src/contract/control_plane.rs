//! Control planes.

use capstan_base::Version;
use serde::Deserialize;
use serde_json::Value;

use super::{
    Contract, ContractError,
    infrastructure::{endpoint, failure},
    value::{claim, number, read, text},
};
use crate::core::{ApiEndpoint, ContractReference, StatusVersion};

/// A control plane, read by contract.
#[derive(Debug, Clone, Copy)]
pub struct ControlPlane<'a> {
    object: &'a Value,
    contract: Contract,
}

/// A reference of the v1beta1 contract, which carries a version.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VersionedReference {
    api_version: String,
    kind: String,
    name: String,
}

impl<'a> ControlPlane<'a> {
    /// `object` read by `contract`.
    pub fn new(object: &'a Value, contract: Contract) -> Self {
        Self { object, contract }
    }

    /// Whether the API server can be used.
    pub fn initialized(&self) -> Result<bool, ContractError> {
        let path: &[&str] = match self.contract {
            Contract::V1Beta1 => &["status", "initialized"],
            Contract::V1Beta2 => &["status", "initialization", "controlPlaneInitialized"],
        };
        claim(self.object, path).map(Option::unwrap_or_default)
    }

    /// Where the API server is reached, if the control plane decides that.
    pub fn control_plane_endpoint(&self) -> Result<Option<ApiEndpoint>, ContractError> {
        endpoint(self.object)
    }

    /// Whether somebody else runs the control plane's machines, so that there are none here.
    pub fn externally_managed(&self) -> Result<bool, ContractError> {
        claim(self.object, &["status", "externalManagedControlPlane"]).map(Option::unwrap_or_default)
    }

    /// The wanted version.
    pub fn version(&self) -> Result<Option<String>, ContractError> {
        text(self.object, &["spec", "version"])
    }

    /// The versions in use, from the oldest to the newest.
    pub fn status_versions(&self) -> Result<Vec<StatusVersion>, ContractError> {
        read(self.object, &["status", "versions"], "a list of versions").map(Option::unwrap_or_default)
    }

    /// The oldest version in use: the first of `status.versions`, else `status.version`; `None` while there is none.
    pub fn lowest_status_version(&self) -> Result<Option<String>, ContractError> {
        let first = self.status_versions()?.into_iter().next().map(|it| it.version);
        let lowest = match first {
            Some(version) => Some(version),
            None => text(self.object, &["status", "version"])?,
        };
        Ok(lowest.filter(|it| !it.is_empty()))
    }

    /// The wanted number of machines; `None` for control planes without machines.
    pub fn replicas(&self) -> Result<Option<i32>, ContractError> {
        number(self.object, &["spec", "replicas"])
    }

    /// The number of machines there are.
    pub fn status_replicas(&self) -> Result<Option<i32>, ContractError> {
        number(self.object, &["status", "replicas"])
    }

    /// The number of ready machines.
    pub fn ready_replicas(&self) -> Result<Option<i32>, ContractError> {
        number(self.object, &["status", "readyReplicas"])
    }

    /// The number of available machines. The v1beta1 contract says how many are missing instead; the answer is then
    /// never negative, and `None` without a wanted number.
    pub fn available_replicas(&self) -> Result<Option<i32>, ContractError> {
        match self.contract {
            Contract::V1Beta2 => number(self.object, &["status", "availableReplicas"]),
            Contract::V1Beta1 => {
                let missing = number(self.object, &["status", "unavailableReplicas"])?.unwrap_or_default();
                Ok(self
                    .replicas()?
                    .map(|wanted| wanted.saturating_sub(missing).max(0)))
            }
        }
    }

    /// The number of machines that match the spec.
    pub fn up_to_date_replicas(&self) -> Result<Option<i32>, ContractError> {
        let name = match self.contract {
            Contract::V1Beta1 => "updatedReplicas",
            Contract::V1Beta2 => "upToDateReplicas",
        };
        number(self.object, &["status", name])
    }

    /// The selector of the machines in its text form.
    pub fn selector(&self) -> Result<Option<String>, ContractError> {
        text(self.object, &["status", "selector"])
    }

    /// The template of the machines' hosts.
    pub fn infrastructure_ref(&self) -> Result<Option<ContractReference>, ContractError> {
        match self.contract {
            Contract::V1Beta2 => read(
                self.object,
                &["spec", "machineTemplate", "spec", "infrastructureRef"],
                "a reference",
            ),
            Contract::V1Beta1 => {
                let path = &["spec", "machineTemplate", "infrastructureRef"];
                let found: Option<VersionedReference> = read(self.object, path, "a reference")?;
                Ok(found.map(|it| {
                    let group = it.api_version.split_once('/').map_or("", |(group, _)| group);
                    ContractReference::new(group, &it.kind, &it.name)
                }))
            }
        }
    }

    /// Whether the first machine is still being made: there is no version in use yet.
    pub fn is_provisioning(&self) -> Result<bool, ContractError> {
        Ok(self.lowest_status_version()?.is_none())
    }

    /// Whether the wanted version is newer than any version in use, or differs from it in build metadata.
    ///
    /// # Errors
    /// A version that cannot be read, or no wanted version.
    pub fn is_upgrading(&self) -> Result<bool, ContractError> {
        let expected = "a Kubernetes version";
        let parse = |text: &str, path: &str| {
            Version::parse_tolerant(text).map_err(|_| ContractError {
                path: path.to_owned(),
                expected,
            })
        };
        let wanted = parse(&self.version()?.unwrap_or_default(), ".spec.version")?;
        let versions = self.status_versions()?;
        if versions.is_empty() {
            return match self.lowest_status_version()? {
                Some(version) => Ok(wanted.is_upgrade_from(&parse(&version, ".status.version")?)),
                None => Ok(false),
            };
        }
        for (index, in_use) in versions.iter().enumerate() {
            let in_use = parse(&in_use.version, &format!(".status.versions[{index}].version"))?;
            if wanted.is_upgrade_from(&in_use) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether any of the machines' numbers differs from the wanted one, or is not there yet.
    ///
    /// # Errors
    /// A number that cannot be read, or no wanted number.
    pub fn is_scaling(&self) -> Result<bool, ContractError> {
        let Some(wanted) = self.replicas()? else {
            return Err(ContractError {
                path: ".spec.replicas".to_owned(),
                expected: "a 32-bit integer",
            });
        };
        let observed = [
            self.status_replicas()?,
            self.up_to_date_replicas()?,
            self.ready_replicas()?,
            self.available_replicas()?,
        ];
        Ok(observed.iter().any(|it| *it != Some(wanted)))
    }

    /// The terminal failure of the v1beta1 contract: reason and message, empty where absent.
    pub fn failure(&self) -> Result<(String, String), ContractError> {
        failure(self.object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn upgrading_is_seen_from_the_versions_in_use() {
        for (spec, status, upgrading) in [
            ("v1.31.1", json!({}), false),
            ("v1.31.1", json!({ "version": "v1.31.0" }), true),
            ("v1.31.1", json!({ "version": "v1.31.1" }), false),
            (
                "v1.31.1",
                json!({ "versions": [{ "version": "v1.31.1", "replicas": 3 }] }),
                false,
            ),
            (
                "v1.31.1",
                json!({ "versions": [{ "version": "v1.31.0" }, { "version": "v1.31.1" }] }),
                true,
            ),
            ("v1.31.0+b", json!({ "version": "v1.31.0+a" }), true),
        ] {
            let object = json!({ "spec": { "version": spec }, "status": status });
            let control_plane = ControlPlane::new(&object, Contract::V1Beta2);
            assert_eq!(control_plane.is_upgrading(), Ok(upgrading), "{object}");
            assert_eq!(
                control_plane.is_provisioning(),
                Ok(status == json!({})),
                "{object}"
            );
        }
    }

    #[test]
    fn scaling_ends_when_every_number_is_the_wanted_one() {
        let all = json!({ "replicas": 3, "readyReplicas": 3, "availableReplicas": 3, "upToDateReplicas": 3 });
        let former = json!({ "replicas": 3, "readyReplicas": 3, "updatedReplicas": 3 });
        let missing =
            json!({ "replicas": 3, "readyReplicas": 3, "updatedReplicas": 3, "unavailableReplicas": 1 });
        for (status, contract, scaling) in [
            (json!({}), Contract::V1Beta2, true),
            (all, Contract::V1Beta2, false),
            (former, Contract::V1Beta1, false),
            (missing, Contract::V1Beta1, true),
        ] {
            let object = json!({ "spec": { "replicas": 3 }, "status": status });
            assert_eq!(
                ControlPlane::new(&object, contract).is_scaling(),
                Ok(scaling),
                "{object}"
            );
        }
    }

    #[test]
    fn the_template_of_hosts_is_found_by_both_contracts() {
        let reference =
            json!({ "apiGroup": "infra.io", "apiVersion": "infra.io/v1", "kind": "XTemplate", "name": "x" });
        let former = json!({ "spec": { "machineTemplate": { "infrastructureRef": reference } } });
        let present =
            json!({ "spec": { "machineTemplate": { "spec": { "infrastructureRef": reference } } } });
        let expected = Ok(Some(ContractReference::new("infra.io", "XTemplate", "x")));
        assert_eq!(
            ControlPlane::new(&former, Contract::V1Beta1).infrastructure_ref(),
            expected
        );
        assert_eq!(
            ControlPlane::new(&present, Contract::V1Beta2).infrastructure_ref(),
            expected
        );
    }
}
