//! What tests of several kinds are made of.

use std::sync::Arc;

use capstan_api::contract::Contract;
use capstan_contract::External;
use capstan_engine::Lookup;
use kube::core::ApiResource;
use serde_json::Value;

/// A provider's object of group `g`.
pub(crate) fn external(kind: &str, object: Value) -> Lookup<External> {
    Lookup::Found(External {
        kind: ApiResource {
            group: "g".to_owned(),
            version: "v1beta2".to_owned(),
            api_version: "g/v1beta2".to_owned(),
            kind: kind.to_owned(),
            plural: format!("{}s", kind.to_lowercase()),
        },
        contract: Contract::V1Beta2,
        object: Arc::new(serde_json::from_value(object).expect("an object")),
    })
}
