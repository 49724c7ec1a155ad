//! Field names as CEL identifiers.
//! Source: apiserver `pkg/cel/escaping.go`.

const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// The identifier for field `name`, or `None` if it cannot be one and is out of reach for rules.
pub fn escape(name: &str) -> Option<String> {
    if RESERVED.contains(&name) {
        return Some(format!("__{name}__"));
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(character) = rest.chars().next() {
        if let Some(tail) = rest.strip_prefix("__") {
            out.push_str("__underscores__");
            rest = tail;
            continue;
        }
        match character {
            '.' => out.push_str("__dot__"),
            '-' => out.push_str("__dash__"),
            '/' => out.push_str("__slash__"),
            it if it.is_ascii_alphanumeric() || it == '_' => out.push(it),
            _ => return None,
        }
        rest = &rest[character.len_utf8()..];
    }
    if out.is_empty() || out.starts_with(|it: char| it.is_ascii_digit()) {
        None
    } else {
        Some(out)
    }
}

/// The field that an identifier stands for.
pub fn unescape(identifier: &str) -> Option<String> {
    if let Some(name) = identifier.strip_prefix("__").and_then(|it| it.strip_suffix("__"))
        && RESERVED.contains(&name)
    {
        return Some(name.to_owned());
    }
    let mut out = String::with_capacity(identifier.len());
    let mut rest = identifier;
    while let Some((before, tail)) = rest.split_once("__") {
        out.push_str(before);
        let (word, after) = tail.split_once("__")?;
        out.push_str(match word {
            "underscores" => "__",
            "dot" => ".",
            "dash" => "-",
            "slash" => "/",
            _ => return None,
        });
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers_and_come_back() {
        let cases = [
            ("a", Some("a")),
            ("a.b", Some("a__dot__b")),
            ("x-y", Some("x__dash__y")),
            ("a/b", Some("a__slash__b")),
            ("a__b", Some("a__underscores__b")),
            ("a_b", Some("a_b")),
            ("namespace", Some("__namespace__")),
            ("int", Some("int")),
            ("0a", None),
            ("a b", None),
            ("ä", None),
        ];
        for (name, identifier) in cases {
            assert_eq!(escape(name).as_deref(), identifier, "{name}");
            if let Some(identifier) = identifier {
                assert_eq!(unescape(identifier).as_deref(), Some(name), "{identifier}");
            }
        }
    }
}
