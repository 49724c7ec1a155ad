//! Conditions of foreign objects, in whichever form the provider writes them.

use serde_json::Value;

use super::{Draft, Reason, Status};

/// A foreign condition that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MalformedCondition {
    /// It has no type.
    #[error("type must be set for all conditions")]
    NoType,
    /// It has no status.
    #[error("status must be set for the {0} condition")]
    NoStatus(String),
    /// Its status is none of the three.
    #[error("status for the {0} condition must be one of True, False, Unknown")]
    BadStatus(String),
    /// Its time is none.
    #[error("failed to read lastTransitionTime {time:?} of the {type_} condition")]
    BadTime {
        /// The condition's type.
        type_: String,
        /// What stands there.
        time: String,
    },
    /// A field is no text.
    #[error("{0} must be a string in all conditions")]
    NotText(&'static str),
}

/// The conditions of a foreign object: those in `status.v1beta2.conditions` if there is such a list, else those in
/// `status.conditions`, which may be of the former kind with a severity. A missing reason is filled in.
// Parity: cluster-api util/conditions/getter.go:UnstructuredGetAll
pub fn foreign_conditions(object: &Value) -> Result<Vec<Draft>, MalformedCondition> {
    let list = ["/status/v1beta2/conditions", "/status/conditions"]
        .iter()
        .find_map(|pointer| object.pointer(pointer).and_then(Value::as_array));
    list.into_iter()
        .flatten()
        .filter(|it| it.is_object())
        .map(read)
        .collect()
}

fn read(condition: &Value) -> Result<Draft, MalformedCondition> {
    let text = |name: &'static str| match condition.get(name) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(MalformedCondition::NotText(name)),
    };
    let type_ = text("type")?;
    if type_.is_empty() {
        return Err(MalformedCondition::NoType);
    }
    let status = text("status")?;
    if status.is_empty() {
        return Err(MalformedCondition::NoStatus(type_));
    }
    let Ok(status) = status.parse::<Status>() else {
        return Err(MalformedCondition::BadStatus(type_));
    };
    let time = text("lastTransitionTime")?;
    let since = match time.as_str() {
        "" => None,
        given => match given.parse() {
            Ok(since) => Some(since),
            Err(_) => return Err(MalformedCondition::BadTime { type_, time }),
        },
    };
    let mut reason = text("reason")?;
    if reason.is_empty() {
        reason = Reason::NoReasonReported.into();
    }
    Ok(Draft {
        type_,
        status,
        reason,
        message: text("message")?,
        since,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_newer_list_is_preferred_and_a_missing_reason_filled_in() {
        let object = json!({ "status": {
            "conditions": [{ "type": "Ready", "status": "False", "severity": "Info" }],
            "v1beta2": { "conditions": [{ "type": "Ready", "status": "True", "message": "m" }] }
        } });
        assert_eq!(
            foreign_conditions(&object),
            Ok(vec![Draft::new(
                "Ready",
                Status::True,
                Reason::NoReasonReported,
                "m"
            )])
        );
        assert_eq!(foreign_conditions(&json!({})), Ok(vec![]));
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        for (condition, error) in [
            (json!({ "status": "True" }), "type must be set for all conditions"),
            (
                json!({ "type": "Ready" }),
                "status must be set for the Ready condition",
            ),
            (
                json!({ "type": "Ready", "status": "Maybe" }),
                "status for the Ready condition must be one of True, False, Unknown",
            ),
            (
                json!({ "type": "Ready", "status": true }),
                "status must be a string in all conditions",
            ),
            (
                json!({ "type": "Ready", "status": "True", "lastTransitionTime": "now" }),
                "failed to read lastTransitionTime \"now\" of the Ready condition",
            ),
        ] {
            let object = json!({ "status": { "conditions": [condition] } });
            assert_eq!(
                foreign_conditions(&object).map_err(|it| it.to_string()),
                Err(error.to_owned())
            );
        }
    }
}
