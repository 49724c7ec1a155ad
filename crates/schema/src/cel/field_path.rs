//! The paths of `fieldPath` in rules and of selectable fields.
//! Source: apiextensions-apiserver `pkg/apiserver/schema/cel/validation.go`, `ValidFieldPath`.

use crate::structural::Structural;

/// A path that leads to a field of a schema.
#[derive(Debug)]
pub struct FieldPath<'a> {
    /// The path in the form of field errors: `spec.labels[a/b]`.
    pub path: String,
    /// The schema there.
    pub schema: &'a Structural,
}

/// Follows `text`, such as `.spec.labels['a/b']`, through `schema`.
///
/// # Errors
/// Says why it leads nowhere.
pub fn valid_field_path<'a>(
    text: &str,
    schema: &'a Structural,
    brackets: bool,
) -> Result<FieldPath<'a>, String> {
    let mut found = FieldPath {
        path: String::new(),
        schema,
    };
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(tail) = rest.strip_prefix('[') {
            if !brackets {
                return Err("array notation is not allowed".to_owned());
            }
            let (name, tail) = quoted(tail)?;
            found.step(&name)?;
            rest = tail.strip_prefix(']').ok_or_else(|| {
                let next: String = tail.chars().take(1).collect();
                if next.is_empty() {
                    "unexpected end of JSON path".to_owned()
                } else {
                    format!("expected ] but got {next}")
                }
            })?;
        } else if let Some(tail) = rest.strip_prefix('.') {
            let end = tail.find(['.', '[', ']']).unwrap_or(tail.len());
            if end == 0 {
                return Err("unexpected end of JSON path".to_owned());
            }
            found.step(&tail[..end])?;
            rest = &tail[end..];
        } else {
            let end = rest.find(['.', '[', ']']).unwrap_or(rest.len()).max(1);
            return Err(format!(
                "expected [ or . but got: {}",
                rest.get(..end).unwrap_or(rest)
            ));
        }
    }
    Ok(found)
}

impl FieldPath<'_> {
    fn step(&mut self, name: &str) -> Result<(), String> {
        let nowhere = || "does not refer to a valid field".to_owned();
        if self.schema.properties.is_empty() {
            self.schema = self.schema.additional.schema().ok_or_else(nowhere)?;
            self.path.push('[');
            self.path.push_str(name);
            self.path.push(']');
        } else {
            self.schema = self.schema.properties.get(name).ok_or_else(nowhere)?;
            if !self.path.is_empty() {
                self.path.push('.');
            }
            self.path.push_str(name);
        }
        Ok(())
    }
}

/// A single-quoted text and what follows it.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let inner = text.strip_prefix('\'').ok_or_else(|| {
        let end = text.find(['.', '[', ']']).unwrap_or(text.len());
        format!("expected single quoted string but got {}", &text[..end])
    })?;
    let mut out = String::new();
    let mut characters = inner.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\'' => return Ok((out, &inner[at + 1..])),
            '\\' => {
                let escaped = characters.next().map(|(_, it)| it);
                out.push(match escaped {
                    Some('a') => '\u{7}',
                    Some('b') => '\u{8}',
                    Some('f') => '\u{c}',
                    Some('n') => '\n',
                    Some('r') => '\r',
                    Some('t') => '\t',
                    Some('v') => '\u{b}',
                    Some(it @ ('\'' | '\\')) => it,
                    Some(other) => {
                        return Err(format!("invalid string literal: invalid escape char \\{other}"));
                    }
                    None => break,
                });
            }
            other => out.push(other),
        }
    }
    Err(format!("expected single quoted string but got {text}"))
}
