//! RBAC: which rules the stored bindings give to an identity.
//! Source: kubernetes `plugin/pkg/auth/authorizer/rbac`, `pkg/registry/rbac/validation/rule.go`.

use capstan_store::{Key, Snapshot};
use serde_json::{Value, json};

use super::{Attributes, Identity};
use crate::registry::Registry;

const CLUSTER_ROLES: &str = "rbac.authorization.k8s.io/clusterroles";
const CLUSTER_ROLE_BINDINGS: &str = "rbac.authorization.k8s.io/clusterrolebindings";
const ROLES: &str = "rbac.authorization.k8s.io/roles";
const ROLE_BINDINGS: &str = "rbac.authorization.k8s.io/rolebindings";

/// The rules that hold for `identity` in `namespace`; only those of cluster bindings if that is empty.
pub(super) fn rules_for(registry: &Registry, identity: &Identity, namespace: &str) -> Vec<Value> {
    let snapshot = registry.store().snapshot();
    let mut rules = everyone_rules(identity);
    for record in snapshot.range(CLUSTER_ROLE_BINDINGS, None) {
        let binding: Value = serde_json::from_slice(&record.value).unwrap_or_default();
        if binds(&binding, identity, "") {
            rules.extend(role_rules(&snapshot, &binding["roleRef"], ""));
        }
    }
    if namespace.is_empty() {
        return rules;
    }
    for record in snapshot.range(ROLE_BINDINGS, Some(namespace)) {
        let binding: Value = serde_json::from_slice(&record.value).unwrap_or_default();
        if binds(&binding, identity, namespace) {
            rules.extend(role_rules(&snapshot, &binding["roleRef"], namespace));
        }
    }
    rules
}

/// What upstream's bootstrap roles give to every authenticated user: discovery and reviews about oneself.
fn everyone_rules(identity: &Identity) -> Vec<Value> {
    if !identity.is_in("system:authenticated") {
        return Vec::new();
    }
    vec![
        json!({
            "verbs": ["get"],
            "nonResourceURLs": ["/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*"],
        }),
        json!({
            "verbs": ["create"],
            "apiGroups": ["authorization.k8s.io"],
            "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
        }),
        json!({
            "verbs": ["create"],
            "apiGroups": ["authentication.k8s.io"],
            "resources": ["selfsubjectreviews"],
        }),
    ]
}

/// Whether a binding names the identity. Service accounts without a namespace are of the binding's.
fn binds(binding: &Value, identity: &Identity, namespace: &str) -> bool {
    let subjects = binding["subjects"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    subjects.iter().any(|subject| {
        let name = subject["name"].as_str().unwrap_or_default();
        match subject["kind"].as_str() {
            Some("User") => identity.name == name,
            Some("Group") => identity.is_in(name),
            Some("ServiceAccount") => {
                let namespace = subject["namespace"].as_str().unwrap_or(namespace);
                identity.name == format!("system:serviceaccount:{namespace}:{name}")
            }
            _ => false,
        }
    })
}

fn role_rules(snapshot: &Snapshot, reference: &Value, namespace: &str) -> Vec<Value> {
    let name = reference["name"].as_str().unwrap_or_default();
    let key = match reference["kind"].as_str() {
        Some("ClusterRole") => Key::new(CLUSTER_ROLES, "", name),
        Some("Role") => Key::new(ROLES, namespace, name),
        _ => return Vec::new(),
    };
    let Some(record) = snapshot.get(&key) else {
        return Vec::new();
    };
    let role: Value = serde_json::from_slice(&record.value).unwrap_or_default();
    let mut rules: Vec<Value> = role["rules"].as_array().cloned().unwrap_or_default();
    let selectors = role["aggregationRule"]["clusterRoleSelectors"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    for record in snapshot
        .range(CLUSTER_ROLES, None)
        .filter(|_| !selectors.is_empty())
    {
        let other: Value = serde_json::from_slice(&record.value).unwrap_or_default();
        if selectors
            .iter()
            .any(|selector| selects(selector, &other["metadata"]["labels"]))
        {
            rules.extend(other["rules"].as_array().cloned().unwrap_or_default());
        }
    }
    rules
}

fn selects(selector: &Value, labels: &Value) -> bool {
    let wanted = selector["matchLabels"].as_object();
    wanted.is_some_and(|wanted| !wanted.is_empty() && wanted.iter().all(|(key, value)| labels[key] == *value))
}

/// Whether a rule allows a request.
pub(super) fn allows(rule: &Value, attributes: &Attributes) -> bool {
    let list = |field: &str| rule[field].as_array().map(Vec::as_slice).unwrap_or_default();
    let has = |field: &str, wanted: &str| list(field).iter().any(|it| it == "*" || it == wanted);
    if !has("verbs", &attributes.verb) {
        return false;
    }
    if !attributes.is_resource {
        return list("nonResourceURLs")
            .iter()
            .filter_map(Value::as_str)
            .any(|pattern| {
                pattern == attributes.path
                    || pattern
                        .strip_suffix('*')
                        .is_some_and(|prefix| attributes.path.starts_with(prefix))
            });
    }
    let names = list("resourceNames");
    has("apiGroups", &attributes.group)
        && resource_matches(list("resources"), attributes)
        && (names.is_empty() || names.iter().any(|it| it == attributes.name.as_str()))
}

fn resource_matches(patterns: &[Value], attributes: &Attributes) -> bool {
    let full = if attributes.subresource.is_empty() {
        attributes.resource.clone()
    } else {
        format!("{}/{}", attributes.resource, attributes.subresource)
    };
    let any = format!("*/{}", attributes.subresource);
    patterns.iter().any(|pattern| {
        pattern == "*" || *pattern == full || (!attributes.subresource.is_empty() && *pattern == any)
    })
}
