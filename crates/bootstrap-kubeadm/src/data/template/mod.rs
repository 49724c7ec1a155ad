//! Templates in the content of files: the part of Go's `text/template` that choices by the control plane's version need.
//!
//! Fields, `if`/`else if`/`else`/`end`, comparison and logic, literals, comments and the trimming of white space are
//! understood. Everything else is refused by name when the template is read.

mod evaluate;
mod lexer;
mod parser;

use serde_json::Value;

/// The longest file that a template may make, in bytes.
const LIMIT: usize = 1 << 20;

/// A template that can't be read or rendered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TemplateError {
    /// `{{` without `}}`, a quote that is not closed, or an `if` without `end`.
    #[error("unclosed {0}")]
    Unclosed(&'static str),
    /// Something that can't stand where it stands.
    #[error("unexpected {0}")]
    Unexpected(String),
    /// Something that Go's templates have and this does not.
    #[error("{0} is not supported in templates of files")]
    Unsupported(String),
    /// A field of nothing.
    #[error("nil pointer evaluating {0}")]
    FieldOfNothing(String),
    /// A function whose arguments do not fit.
    #[error("wrong arguments for {0}")]
    WrongArguments(String),
    /// More than the limit.
    #[error("rendered output exceeds the {LIMIT} byte limit")]
    TooLong,
}

/// Renders a template with data.
pub(crate) fn render(text: &str, data: &Value) -> Result<String, TemplateError> {
    let nodes = parser::parse(text)?;
    let mut out = String::new();
    evaluate::render(&nodes, data, &mut out)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::render;

    #[test]
    fn templates_of_files_render_as_go_renders_them() {
        let known = json!({ "controlPlane": { "version": "v1.35.0" } });
        let table = [
            ("plain", "plain"),
            ("v={{ .controlPlane.version }}!", "v=v1.35.0!"),
            ("a  {{- .controlPlane.version -}}  \n b", "av1.35.0b"),
            ("{{/* a note */}}x", "x"),
            ("{{ if .controlPlane }}yes{{ else }}no{{ end }}", "yes"),
            ("{{ if not .controlPlane }}yes{{ else }}no{{ end }}", "no"),
            (
                "{{ if eq .controlPlane.version \"v1.34.0\" `v1.35.0` }}new{{ end }}",
                "new",
            ),
            ("{{ if eq 1 2 }}a{{ else if ge 2 (1) }}b{{ else }}c{{ end }}", "b"),
            ("{{ .nothing }}", "<no value>"),
            (
                "{{ \"{{ ds.meta_data.local_hostname }}\" }}",
                "{{ ds.meta_data.local_hostname }}",
            ),
            (
                "{{ and .controlPlane (or \"\" .controlPlane.version) | print }}",
                "v1.35.0",
            ),
            ("{{ if .a", "error: unclosed action"),
            ("{{ if .a }}", "error: unclosed if"),
            ("{{ end }}", "error: unexpected end"),
            (
                "{{ range .a }}{{ end }}",
                "error: range is not supported in templates of files",
            ),
            (
                "{{ semver .a }}",
                "error: the function semver is not supported in templates of files",
            ),
            ("{{ .a.b }}", "error: nil pointer evaluating .a.b"),
        ];
        for (text, expected) in table {
            let shown = render(text, &known).unwrap_or_else(|it| format!("error: {it}"));
            assert_eq!(shown, expected, "{text}");
        }
        assert_eq!(
            render("{{ if .controlPlane }}yes{{ else }}no{{ end }}", &json!({})),
            Ok("no".to_owned())
        );
    }
}
