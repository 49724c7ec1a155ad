//! Label selectors, read once and then matched or written as text.

use std::{collections::BTreeMap, fmt};

use capstan_base::{
    field::{Error, Path},
    names,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

/// A label selector. Without requirements it selects everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selector(Vec<Requirement>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equals,
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

/// A selector that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SelectorError(String);

impl Selector {
    /// Reads a selector as objects carry it.
    // Parity: apimachinery pkg/apis/meta/v1/helpers.go:LabelSelectorAsSelector
    pub fn new(selector: &LabelSelector) -> Result<Self, SelectorError> {
        let mut requirements = Vec::new();
        for (key, value) in selector.match_labels.iter().flatten() {
            requirements.push(Requirement::new(key, Operator::Equals, vec![value.clone()])?);
        }
        for each in selector.match_expressions.iter().flatten() {
            let operator = match each.operator.as_str() {
                "In" => Operator::In,
                "NotIn" => Operator::NotIn,
                "Exists" => Operator::Exists,
                "DoesNotExist" => Operator::DoesNotExist,
                other => {
                    return Err(SelectorError(format!(
                        "{other:?} is not a valid label selector operator"
                    )));
                }
            };
            requirements.push(Requirement::new(
                &each.key,
                operator,
                each.values.clone().unwrap_or_default(),
            )?);
        }
        requirements.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(Self(requirements))
    }

    /// Whether it has no requirements.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it selects an object with these labels.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|it| it.matches(labels.get(&it.key)))
    }
}

impl Requirement {
    fn new(key: &str, operator: Operator, values: Vec<String>) -> Result<Self, SelectorError> {
        let mut errors = Vec::new();
        let problems = names::label_key_problems(key);
        if !problems.is_empty() {
            errors.push(Error::invalid(&Path::new("key"), key, problems.join("; ")));
        }
        let path = Path::new("values");
        let detail = match operator {
            Operator::In | Operator::NotIn if values.is_empty() => {
                Some("for 'in', 'notin' operators, values set can't be empty")
            }
            Operator::Exists | Operator::DoesNotExist if !values.is_empty() => {
                Some("values set must be empty for exists and does not exist")
            }
            _ => None,
        };
        if let Some(detail) = detail {
            errors.push(Error::invalid(&path, values.clone(), detail));
        }
        for (index, value) in values.iter().enumerate() {
            let problems = names::label_value_problems(value);
            if !problems.is_empty() {
                errors.push(Error::invalid(
                    &path.index(index).key(key),
                    value.as_str(),
                    problems.join("; "),
                ));
            }
        }
        match errors.as_slice() {
            [] => Ok(Self {
                key: key.to_owned(),
                operator,
                values,
            }),
            [one] => Err(SelectorError(one.to_string())),
            many => {
                let texts: Vec<String> = many.iter().map(ToString::to_string).collect();
                Err(SelectorError(format!("[{}]", texts.join(", "))))
            }
        }
    }

    fn matches(&self, value: Option<&String>) -> bool {
        match self.operator {
            Operator::Equals | Operator::In => value.is_some_and(|it| self.values.contains(it)),
            Operator::NotIn => value.is_none_or(|it| !self.values.contains(it)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
        }
    }
}

impl fmt::Display for Selector {
    /// The text form that URLs and scale subresources carry: `a=1,b in (x,y),!c`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (
            index,
            Requirement {
                key,
                operator,
                values,
            },
        ) in self.0.iter().enumerate()
        {
            if index > 0 {
                f.write_str(",")?;
            }
            let mut values = values.clone();
            values.sort();
            let values = values.join(",");
            match operator {
                Operator::Equals => write!(f, "{key}={values}")?,
                Operator::In => write!(f, "{key} in ({values})")?,
                Operator::NotIn => write!(f, "{key} notin ({values})")?,
                Operator::Exists => f.write_str(key)?,
                Operator::DoesNotExist => write!(f, "!{key}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn selector(value: Value) -> Result<Selector, String> {
        let selector: LabelSelector = serde_json::from_value(value).expect("a selector");
        Selector::new(&selector).map_err(|it| it.to_string())
    }

    fn labels(value: Value) -> BTreeMap<String, String> {
        serde_json::from_value(value).expect("labels")
    }

    #[test]
    fn a_selector_matches_when_all_its_requirements_do() {
        let selector = selector(json!({
            "matchLabels": { "b": "1" },
            "matchExpressions": [
                { "key": "c", "operator": "In", "values": ["y", "x"] },
                { "key": "a", "operator": "DoesNotExist" },
                { "key": "d", "operator": "NotIn", "values": ["z"] },
                { "key": "e", "operator": "Exists" }
            ]
        }))
        .expect("a selector");
        assert_eq!(selector.to_string(), "!a,b=1,c in (x,y),d notin (z),e");
        assert!(selector.matches(&labels(json!({ "b": "1", "c": "x", "e": "" }))));
        for other in [
            json!({ "b": "2", "c": "x", "e": "" }),
            json!({ "b": "1", "e": "" }),
            json!({ "b": "1", "c": "x", "e": "", "a": "" }),
            json!({ "b": "1", "c": "x", "e": "", "d": "z" }),
            json!({ "b": "1", "c": "x" }),
        ] {
            assert!(!selector.matches(&labels(other.clone())), "{other}");
        }
    }

    #[test]
    fn what_is_no_selector_is_said_in_kubernetes_words() {
        for (value, error) in [
            (
                json!({ "matchExpressions": [{ "key": "a", "operator": "Like" }] }),
                "\"Like\" is not a valid label selector operator",
            ),
            (
                json!({ "matchExpressions": [{ "key": "a", "operator": "In" }] }),
                "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
            ),
            (
                json!({ "matchExpressions": [{ "key": "a", "operator": "Exists", "values": ["x"] }] }),
                "values: Invalid value: [\"x\"]: values set must be empty for exists and does not exist",
            ),
            (
                json!({ "matchLabels": { "a": "-" } }),
                "values[0][a]: Invalid value: \"-\": a valid label must be an empty string or consist of alphanumeric \
                 characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  \
                 or 'my_value',  or '12345', regex used for validation is \
                 '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
            ),
        ] {
            assert_eq!(selector(value), Err(error.to_owned()));
        }
    }
}
