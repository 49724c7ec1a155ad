//! Which rule the name of an object has to follow: kinds differ.
//! Source: kubernetes `pkg/apis/*/validation`.

use capstan_base::names;

/// What is wrong with the name of an object of this resource: namespaces and services are DNS labels, RBAC names are
/// free, the rest are DNS subdomains.
pub fn object_name_problems(group: &str, plural: &str, name: &str) -> Vec<String> {
    match (group, plural) {
        ("", "namespaces") => names::dns_label_problems(name),
        ("", "services") => names::dns_1035_label_problems(name),
        ("rbac.authorization.k8s.io", _) => names::path_segment_problems(name),
        _ => names::dns_subdomain_problems(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_differ_in_what_names_they_take() {
        let is_good =
            |group: &str, plural: &str, name: &str| object_name_problems(group, plural, name).is_empty();
        assert!(is_good("rbac.authorization.k8s.io", "roles", "system:x"));
        assert!(!is_good("", "configmaps", "system:x"));
        assert!(is_good("", "configmaps", "0.a"));
        assert!(!is_good("", "namespaces", "0.a"));
        assert!(is_good("", "namespaces", "0a"));
        assert!(!is_good("", "services", "0a"));
    }
}
