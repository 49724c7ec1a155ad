//! Formats of names, labels and annotations. Each function says everything that is wrong, in the words of Kubernetes.
//! Source: apimachinery `pkg/api/validate/content` of Kubernetes 1.36.

const QUALIFIED: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                         alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for \
                         validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or \
                           '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or \
                           'my_value',  or '12345', regex used for validation is \
                           '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const DNS_LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and \
                         must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used \
                         for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const DNS_1035_LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with \
                              an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or \
                              'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const DNS_SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' \
                             or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex \
                             used for validation is \
                             '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/// What is wrong with a qualified name, `name` or `subdomain/name`: the key of a label or annotation, or a finalizer.
pub fn label_key_problems(key: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let mut parts = key.split('/');
    let name = match (parts.next(), parts.next(), parts.next()) {
        (Some(name), None, _) => name,
        (Some(prefix), Some(name), None) => {
            if prefix.is_empty() {
                problems.push("prefix part must be non-empty".to_owned());
            } else {
                problems.extend(
                    dns_subdomain_problems(prefix)
                        .into_iter()
                        .map(|it| format!("prefix part {it}")),
                );
            }
            name
        }
        _ => {
            return vec![format!(
                "a valid label key {QUALIFIED} with an optional DNS subdomain prefix and '/' (e.g. \
                 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        problems.push(format!("name part {}", too_long(63)));
    }
    if !is_word(name, is_label_byte, |it| it.is_ascii_alphanumeric()) {
        problems.push(format!("name part {QUALIFIED}"));
    }
    problems
}

/// What is wrong with the value of a label.
pub fn label_value_problems(value: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if value.len() > 63 {
        problems.push(too_long(63));
    }
    if !value.is_empty() && !is_word(value, is_label_byte, |it| it.is_ascii_alphanumeric()) {
        problems.push(LABEL_VALUE.to_owned());
    }
    problems
}

/// What is wrong with a DNS label of RFC 1123.
pub fn dns_label_problems(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 63 {
        problems.push(too_long(63));
    }
    if !is_dns_label(text) {
        problems.push(DNS_LABEL.to_owned());
    }
    problems
}

/// What is wrong with a DNS label of RFC 1035, which starts with a letter: names of Services.
pub fn dns_1035_label_problems(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 63 {
        problems.push(too_long(63));
    }
    if !is_dns_label(text) || !text.starts_with(|it: char| it.is_ascii_lowercase()) {
        problems.push(DNS_1035_LABEL.to_owned());
    }
    problems
}

/// What is wrong with a DNS subdomain: names of most objects.
pub fn dns_subdomain_problems(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > 253 {
        problems.push(too_long(253));
    }
    if !text.split('.').all(is_dns_label) {
        problems.push(DNS_SUBDOMAIN.to_owned());
    }
    problems
}

/// What is wrong with a name that only has to fit in one segment of a URL's path: names of RBAC objects, and of objects
/// inside of objects.
pub fn path_segment_problems(text: &str) -> Vec<String> {
    if matches!(text, "." | "..") {
        return vec![format!("may not be '{text}'")];
    }
    path_segment_prefix_problems(text)
}

/// The same for the beginning of such a name.
pub fn path_segment_prefix_problems(text: &str) -> Vec<String> {
    ["/", "%"]
        .iter()
        .filter(|it| text.contains(**it))
        .map(|it| format!("may not contain '{it}'"))
        .collect()
}

fn too_long(limit: usize) -> String {
    format!("must be no more than {limit} bytes")
}

fn is_dns_label(text: &str) -> bool {
    let outer = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit();
    is_word(text, |it| outer(it) || it == b'-', outer)
}

fn is_label_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

/// Whether `text` is not empty, has only `inner` bytes, and an `outer` one at both ends.
fn is_word(text: &str, inner: impl Fn(u8) -> bool, outer: impl Fn(u8) -> bool) -> bool {
    match (text.as_bytes().first(), text.as_bytes().last()) {
        (Some(first), Some(last)) => outer(*first) && outer(*last) && text.bytes().all(inner),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_names_have_no_problems() {
        for key in ["a", "A_b.c", "x.io/Y", "cluster.x-k8s.io/cluster-name"] {
            assert_eq!(label_key_problems(key), Vec::<String>::new(), "{key}");
        }
        for value in ["", "a", "A_b.c-1"] {
            assert_eq!(label_value_problems(value), Vec::<String>::new(), "{value}");
        }
        assert_eq!(dns_subdomain_problems("a-b.0c"), Vec::<String>::new());
        assert_eq!(dns_1035_label_problems("a-0"), Vec::<String>::new());
    }

    #[test]
    fn everything_that_is_wrong_is_said() {
        assert_eq!(
            label_key_problems("X/"),
            [
                format!("prefix part {DNS_SUBDOMAIN}"),
                "name part must be non-empty".to_owned(),
                format!("name part {QUALIFIED}")
            ]
        );
        assert_eq!(label_key_problems("a/b/c").len(), 1);
        let long = "-".repeat(64);
        assert_eq!(
            label_value_problems(&long),
            ["must be no more than 63 bytes", LABEL_VALUE]
        );
        assert_eq!(dns_label_problems("A"), [DNS_LABEL]);
        assert_eq!(dns_1035_label_problems("0a"), [DNS_1035_LABEL]);
        assert_eq!(dns_subdomain_problems("a..b"), [DNS_SUBDOMAIN]);
        assert_eq!(dns_subdomain_problems(""), [DNS_SUBDOMAIN]);
        assert_eq!(path_segment_problems(".."), ["may not be '..'"]);
        assert_eq!(
            path_segment_problems("a/%"),
            ["may not contain '/'", "may not contain '%'"]
        );
        assert_eq!(path_segment_problems("system:x"), Vec::<String>::new());
        assert_eq!(path_segment_prefix_problems(".."), Vec::<String>::new());
    }
}
