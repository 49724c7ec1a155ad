//! Formats of names, labels and annotations. Each function returns what is wrong, in upstream's words.
//! Source: apimachinery `pkg/util/validation/validation.go`, `pkg/api/validation/path`.

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
                     start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for \
                     validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
                         '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used \
                         for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const QUALIFIED: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end \
                         with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for \
                         validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or \
                           '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or \
                           'my_value',  or '12345', regex used for validation is \
                           '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

fn too_long(limit: usize) -> String {
    format!("must be no more than {limit} characters")
}

fn is_word(text: &str, inner: impl Fn(u8) -> bool, outer: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    match (bytes.first(), bytes.last()) {
        (Some(&first), Some(&last)) => outer(first) && outer(last) && bytes.iter().all(|&byte| inner(byte)),
        _ => false,
    }
}

fn is_lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn is_label(text: &str) -> bool {
    is_word(text, |byte| is_lower(byte) || byte == b'-', is_lower)
}

/// What is wrong with a DNS label (namespaces, services).
pub fn label_problem(text: &str) -> Option<String> {
    if text.len() > 63 {
        Some(too_long(63))
    } else {
        (!is_label(text)).then(|| LABEL.to_owned())
    }
}

/// What is wrong with a DNS subdomain (most object names).
pub fn subdomain_problem(text: &str) -> Option<String> {
    if text.len() > 253 {
        Some(too_long(253))
    } else {
        (text.is_empty() || !text.split('.').all(is_label)).then(|| SUBDOMAIN.to_owned())
    }
}

/// What is wrong with a name that only has to fit in a path segment (RBAC).
pub fn path_segment_problem(text: &str) -> Option<String> {
    match text {
        "." | ".." => Some(format!("may not be '{text}'")),
        _ if text.contains('/') => Some("may not contain '/'".to_owned()),
        _ if text.contains('%') => Some("may not contain '%'".to_owned()),
        _ => None,
    }
}

/// What is wrong with a qualified name (label and annotation keys, finalizers).
pub fn qualified_name_problem(text: &str) -> Option<String> {
    let (prefix, name) = match text.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, text),
    };
    if name.contains('/') {
        return Some(format!(
            "a qualified name {QUALIFIED} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ));
    }
    if let Some(prefix) = prefix {
        if prefix.is_empty() {
            return Some("prefix part must be non-empty".to_owned());
        }
        if let Some(problem) = subdomain_problem(prefix) {
            return Some(format!("prefix part {problem}"));
        }
    }
    if name.is_empty() {
        return Some("name part must be non-empty".to_owned());
    }
    if name.len() > 63 {
        return Some(format!("name part {}", too_long(63)));
    }
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (!is_word(name, inner, |byte| byte.is_ascii_alphanumeric())).then(|| QUALIFIED.to_owned())
}

/// What is wrong with a label value.
pub fn label_value_problem(text: &str) -> Option<String> {
    if text.len() > 63 {
        return Some(too_long(63));
    }
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (!text.is_empty() && !is_word(text, inner, |byte| byte.is_ascii_alphanumeric()))
        .then(|| LABEL_VALUE.to_owned())
}

/// What is wrong with the name of an object of this resource. Kinds differ: namespaces are DNS labels, RBAC names are
/// free, the rest are DNS subdomains.
pub fn object_name_problem(group: &str, plural: &str, name: &str) -> Option<String> {
    match (group, plural) {
        ("", "namespaces") => label_problem(name),
        ("", "services") => {
            let problem = label_problem(name);
            if problem.is_none() && name.starts_with(|c: char| c.is_ascii_digit()) {
                return Some("a DNS-1035 label must start with an alphabetic character".to_owned());
            }
            problem
        }
        ("rbac.authorization.k8s.io", _) => path_segment_problem(name),
        _ => subdomain_problem(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_judged_as_upstream_judges_them() {
        for good in ["a", "a-b.c", "0a"] {
            assert_eq!(subdomain_problem(good), None, "{good}");
        }
        for bad in ["", "A", "-a", "a-", "a..b", "a_b"] {
            assert!(subdomain_problem(bad).is_some(), "{bad}");
        }
        for good in ["a", "A_b.c", "x.io/Y"] {
            assert_eq!(qualified_name_problem(good), None, "{good}");
        }
        for bad in ["", "/a", "a/", "a/b/c", "X.io/a", "-a"] {
            assert!(qualified_name_problem(bad).is_some(), "{bad}");
        }
        assert_eq!(label_value_problem(""), None);
        assert!(label_value_problem("a b").is_some());
        assert_eq!(
            object_name_problem("rbac.authorization.k8s.io", "roles", "system:x"),
            None
        );
    }
}
