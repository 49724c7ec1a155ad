//! Installs the definitions of our kinds, and keeps them as this version of Capstan has them.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client,
    api::{DynamicObject, PostParams},
    core::ApiResource,
};
use serde_json::Value;

use crate::error::StartError;

/// Makes the stored definitions equal to `wanted`: creates what is missing, updates what differs, and writes nothing
/// where the stored definition says the same. Labels of others are kept.
pub(crate) async fn install(client: &Client, wanted: Vec<Value>) -> Result<(), StartError> {
    let api = Api::all_with(
        client.clone(),
        &ApiResource::erase::<CustomResourceDefinition>(&()),
    );
    for definition in wanted {
        let name = definition["metadata"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let installed = install_one(&api, &name, definition).await;
        installed.map_err(|source| StartError::Definition {
            name,
            source: Box::new(source),
        })?;
    }
    Ok(())
}

async fn install_one(api: &Api<DynamicObject>, name: &str, wanted: Value) -> Result<(), kube::Error> {
    let parameters = PostParams {
        field_manager: Some("capstan".to_owned()),
        ..PostParams::default()
    };
    let object = |value: Value| serde_json::from_value(value).map_err(kube::Error::SerdeError);
    let Some(stored) = api.get_opt(name).await? else {
        tracing::debug!(name, "installing a definition");
        return api.create(&parameters, &object(wanted)?).await.map(drop);
    };
    let stored = serde_json::to_value(stored).map_err(kube::Error::SerdeError)?;
    let next = updated(&stored, &wanted);
    if next == stored {
        return Ok(());
    }
    tracing::info!(
        name,
        "updating a definition that another version of Capstan installed"
    );
    api.replace(name, &parameters, &object(next)?).await.map(drop)
}

/// `stored` with what `wanted` says: every field of the spec that `wanted` has, and its labels beside those of
/// others. What the API server fills in stays.
fn updated(stored: &Value, wanted: &Value) -> Value {
    let mut next = stored.clone();
    let fields = |of: &'static str| {
        wanted
            .pointer(of)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
    };
    for (label, value) in fields("/metadata/labels") {
        next["metadata"]["labels"][label] = value.clone();
    }
    for (field, value) in fields("/spec") {
        next["spec"][field] = value.clone();
    }
    next
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wanted_wins_and_what_the_server_filled_in_stays() {
        let stored = json!({
            "metadata": {"name": "a", "uid": "1", "labels": {"old": "x", "mine": "y"}},
            "spec": {"conversion": {"strategy": "None"}, "versions": [{"name": "v1"}]},
            "status": {"conditions": []},
        });
        let wanted = json!({
            "metadata": {"name": "a", "labels": {"old": "z"}},
            "spec": {"versions": [{"name": "v1"}, {"name": "v2"}]},
        });
        let expected = json!({
            "metadata": {"name": "a", "uid": "1", "labels": {"old": "z", "mine": "y"}},
            "spec": {"conversion": {"strategy": "None"}, "versions": [{"name": "v1"}, {"name": "v2"}]},
            "status": {"conditions": []},
        });
        assert_eq!(updated(&stored, &wanted), expected);
    }

    #[test]
    fn an_equal_definition_changes_nothing() {
        let stored = json!({"metadata": {"name": "a", "uid": "1"}, "spec": {"group": "g"}});
        assert_eq!(
            updated(
                &stored,
                &json!({"metadata": {"name": "a"}, "spec": {"group": "g"}})
            ),
            stored
        );
    }
}
