//! Bootstrap configs.

use serde_json::Value;

use super::{
    Contract, ContractError,
    infrastructure::failure,
    value::{claim, text},
};

/// A bootstrap config, read by contract.
#[derive(Debug, Clone, Copy)]
pub struct BootstrapConfig<'a> {
    object: &'a Value,
    contract: Contract,
}

impl<'a> BootstrapConfig<'a> {
    /// `object` read by `contract`.
    pub fn new(object: &'a Value, contract: Contract) -> Self {
        Self { object, contract }
    }

    /// Whether the data for the first boot is there.
    pub fn data_secret_created(&self) -> Result<bool, ContractError> {
        let path: &[&str] = match self.contract {
            Contract::V1Beta1 => &["status", "ready"],
            Contract::V1Beta2 => &["status", "initialization", "dataSecretCreated"],
        };
        claim(self.object, path).map(Option::unwrap_or_default)
    }

    /// The Secret that holds the data.
    pub fn data_secret_name(&self) -> Result<Option<String>, ContractError> {
        text(self.object, &["status", "dataSecretName"])
    }

    /// The terminal failure of the v1beta1 contract: reason and message, empty where absent.
    pub fn failure(&self) -> Result<(String, String), ContractError> {
        failure(self.object)
    }
}
