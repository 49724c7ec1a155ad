//! Label selectors of API objects as something that matches.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::core::Selector;

/// The selector; none if it is empty (which selects nothing here, as upstream's controllers have it) or malformed.
pub(crate) fn parse(selector: &LabelSelector) -> Option<Selector> {
    let no_labels = selector
        .match_labels
        .as_ref()
        .is_none_or(std::collections::BTreeMap::is_empty);
    let no_expressions = selector.match_expressions.as_ref().is_none_or(Vec::is_empty);
    if no_labels && no_expressions {
        return None;
    }
    Selector::try_from(selector.clone()).ok()
}

/// The selector in its text form, as the scale subresource shows it.
pub(crate) fn text(selector: &LabelSelector) -> String {
    let labels = selector
        .match_labels
        .iter()
        .flatten()
        .map(|(key, value)| format!("{key}={value}"));
    let expressions = selector.match_expressions.iter().flatten().map(|it| {
        let values = it.values.clone().unwrap_or_default().join(",");
        match it.operator.as_str() {
            "In" => format!("{} in ({values})", it.key),
            "NotIn" => format!("{} notin ({values})", it.key),
            "DoesNotExist" => format!("!{}", it.key),
            _ => it.key.clone(),
        }
    });
    labels.chain(expressions).collect::<Vec<_>>().join(",")
}
