//! What a request is about, read from its method and path.
//! Source: apiserver `pkg/endpoints/request/requestinfo.go`.

use http::Method;

use super::query::{Query, decode};

/// A parsed request line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestInfo {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; the lower-case method for
    /// other paths.
    pub verb: &'static str,
    /// The decoded path.
    pub path: String,
    /// Set if the path names a resource.
    pub resource: Option<ResourcePath>,
}

/// The part of a path that names a resource.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResourcePath {
    /// API group; empty for core.
    pub group: String,
    /// API version.
    pub version: String,
    /// Namespace; empty if the path has none.
    pub namespace: String,
    /// Plural resource name.
    pub resource: String,
    /// Object name; empty for a collection.
    pub name: String,
    /// Subresource; empty for none.
    pub subresource: String,
    /// What follows the subresource.
    pub rest: Vec<String>,
}

/// Subresources of namespaces: other names after `namespaces/NAME/` are resources in it.
const NAMESPACE_SUBRESOURCES: [&str; 2] = ["status", "finalize"];

impl RequestInfo {
    /// Reads a request line.
    pub fn parse(method: &Method, path: &str, query: &Query) -> Self {
        let segments: Vec<String> = path
            .split('/')
            .filter(|segment| !segment.is_empty())
            .map(|segment| decode(segment, false))
            .collect();
        let plain = Self {
            verb: method_verb(method),
            path: path.to_owned(),
            resource: None,
        };
        let Some((group, version, mut rest, watch_prefix)) = split_prefix(&segments) else {
            return plain;
        };
        let mut resource = ResourcePath {
            group,
            version,
            ..ResourcePath::default()
        };
        if let [first, namespace, tail @ ..] = rest
            && first == "namespaces"
            && !tail.is_empty()
            && !NAMESPACE_SUBRESOURCES.contains(&tail[0].as_str())
        {
            resource.namespace.clone_from(namespace);
            rest = tail;
        } else if let [first, namespace, ..] = rest
            && first == "namespaces"
        {
            // The namespace of a Namespace object is itself: RBAC rules in it apply to it.
            resource.namespace.clone_from(namespace);
        }
        let Some((name, tail)) = rest.split_first() else {
            return plain;
        };
        resource.resource.clone_from(name);
        if let Some(name) = tail.first() {
            resource.name.clone_from(name);
        }
        if let Some(subresource) = tail.get(1) {
            resource.subresource.clone_from(subresource);
        }
        resource.rest = tail.get(2..).unwrap_or_default().to_vec();
        let verb = verb(method, query, &resource, watch_prefix);
        Self {
            verb,
            path: path.to_owned(),
            resource: Some(resource),
        }
    }
}

/// Group, version, the segments after them, and whether the old `/watch/` prefix was there.
fn split_prefix(segments: &[String]) -> Option<(String, String, &[String], bool)> {
    let (group, version, rest) = match segments {
        [root, version, rest @ ..] if root == "api" => (String::new(), version.clone(), rest),
        [root, group, version, rest @ ..] if root == "apis" => (group.clone(), version.clone(), rest),
        _ => return None,
    };
    match rest {
        [] => None,
        [first, tail @ ..] if first == "watch" && !tail.is_empty() => Some((group, version, tail, true)),
        rest => Some((group, version, rest, false)),
    }
}

fn method_verb(method: &Method) -> &'static str {
    match *method {
        Method::GET => "get",
        Method::POST => "post",
        Method::PUT => "put",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        Method::HEAD => "head",
        Method::OPTIONS => "options",
        _ => "",
    }
}

fn verb(method: &Method, query: &Query, resource: &ResourcePath, watch_prefix: bool) -> &'static str {
    match *method {
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::GET | Method::HEAD
            if watch_prefix || (resource.subresource.is_empty() && query.flag("watch")) =>
        {
            "watch"
        }
        Method::GET | Method::HEAD if resource.name.is_empty() => "list",
        Method::GET | Method::HEAD => "get",
        Method::DELETE if resource.name.is_empty() => "deletecollection",
        Method::DELETE => "delete",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(method: &Method, target: &str) -> String {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let info = RequestInfo::parse(method, path, &Query::parse(query));
        match info.resource {
            None => format!("{} {}", info.verb, info.path),
            Some(r) => format!(
                "{} group={} version={} namespace={} resource={} name={} subresource={}",
                info.verb, r.group, r.version, r.namespace, r.resource, r.name, r.subresource
            ),
        }
    }

    #[test]
    fn paths_are_read_as_kubernetes_reads_them() {
        let get = &Method::GET;
        for (method, target, expected) in [
            (get, "/healthz", "get /healthz"),
            (get, "/apis/apps", "get /apis/apps"),
            (get, "/apis/apps/v1", "get /apis/apps/v1"),
            (
                get,
                "/api/v1/pods?",
                "list group= version=v1 namespace= resource=pods name= subresource=",
            ),
            (
                get,
                "/api/v1/namespaces/a/pods/b/status",
                "get group= version=v1 namespace=a resource=pods name=b subresource=status",
            ),
            (
                &Method::PUT,
                "/api/v1/namespaces/a/finalize",
                "update group= version=v1 namespace=a resource=namespaces name=a subresource=finalize",
            ),
            (
                get,
                "/api/v1/namespaces",
                "list group= version=v1 namespace= resource=namespaces name= subresource=",
            ),
            (
                get,
                "/apis/x.io/v1/namespaces/a/widgets?&watch=true",
                "watch group=x.io version=v1 namespace=a resource=widgets name= subresource=",
            ),
            (
                &Method::DELETE,
                "/apis/x.io/v1/namespaces/a/widgets",
                "deletecollection group=x.io version=v1 namespace=a resource=widgets name= subresource=",
            ),
        ] {
            assert_eq!(read(method, target), expected, "{method} {target}");
        }
    }
}
