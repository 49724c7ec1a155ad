//! Query strings: percent-decoded pairs, tolerant of empty ones (`?&watch=true`).

/// The pairs of a query string, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Parses what follows the `?`.
    pub fn parse(text: &str) -> Self {
        let pairs = text
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                (decode(name, true), decode(value, true))
            })
            .collect();
        Self(pairs)
    }

    /// The first value of `name`; empty values count as absent.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// Every value of `name`, empty ones too.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// Whether `name` occurs, with or without a value.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// A flag: present without a value, `true` or `1`.
    pub fn flag(&self, name: &str) -> bool {
        self.all(name)
            .next()
            .is_some_and(|value| matches!(value, "" | "true" | "True" | "TRUE" | "t" | "T" | "1"))
    }
}

/// Undoes percent-encoding, and `+` for a blank where `form` is set. Malformed escapes stay as they are.
pub fn decode(text: &str, form: bool) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while index < bytes.len() {
        let escaped = (bytes[index] == b'%')
            .then(|| text.get(index + 1..index + 3))
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match escaped {
            Some(byte) => {
                decoded.push(byte);
                index += 3;
            }
            None => {
                decoded.push(if form && bytes[index] == b'+' {
                    b' '
                } else {
                    bytes[index]
                });
                index += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_pairs_and_escapes_are_understood() {
        let query = Query::parse("&watch=true&&labelSelector=a%3Db%2Cc&x=1+2&limit=");
        assert!(query.flag("watch"));
        assert_eq!(query.get("labelSelector"), Some("a=b,c"));
        assert_eq!(query.get("x"), Some("1 2"));
        assert_eq!(query.get("limit"), None);
        assert_eq!(decode("100%", false), "100%");
    }
}
