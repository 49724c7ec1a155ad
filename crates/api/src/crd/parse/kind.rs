//! Parses `.kind` files: names, labels, versions, subresources, printer columns.

use std::sync::Arc;

use super::{
    Fault, ParseError,
    lines::{Block, described},
};
use crate::crd::model::{Column, Definition, Scale, Schema, Scope, Version};

/// What went wrong with a kind: in its own file, or in that of a schema.
#[derive(Debug)]
pub(super) enum Problem {
    Here(Fault),
    Elsewhere(ParseError),
}

impl Problem {
    pub(super) fn in_file(self, path: &str) -> ParseError {
        match self {
            Self::Here(fault) => fault.in_file(path),
            Self::Elsewhere(error) => error,
        }
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        Self::Here(fault)
    }
}

/// Parses a `.kind` file; `schema` gives the schema of a version.
pub(super) fn definition(
    blocks: &[Block<'_>],
    schema: impl Fn(&str) -> Result<Arc<Schema>, ParseError>,
) -> Result<Definition, Problem> {
    let mut parsed = Definition {
        group: String::new(),
        kind: String::new(),
        plural: String::new(),
        short_names: Vec::new(),
        categories: Vec::new(),
        scope: Scope::Namespaced,
        labels: Vec::new(),
        description: String::new(),
        versions: Vec::new(),
    };
    for block in blocks {
        let (statement, description) = described(block.text);
        let (word, rest) = statement.split_once(' ').unwrap_or((statement, ""));
        let rest = rest.trim();
        match word {
            "kind" => {
                rest.clone_into(&mut parsed.kind);
                parsed.description = description.unwrap_or_default();
            }
            "group" => rest.clone_into(&mut parsed.group),
            "plural" => rest.clone_into(&mut parsed.plural),
            "short" => parsed.short_names.push(rest.to_owned()),
            "category" => parsed.categories.push(rest.to_owned()),
            "scope" => parsed.scope = scope(rest, block.line)?,
            "label" => {
                let (key, value) = rest
                    .split_once(": ")
                    .ok_or_else(|| Fault::new(block.line, "a label is written `label KEY: VALUE`"))?;
                parsed.labels.push((key.to_owned(), value.to_owned()));
            }
            "version" => {
                let name = rest.split(' ').next().unwrap_or_default();
                let schema = schema(name).map_err(Problem::Elsewhere)?;
                parsed.versions.push(version(rest, block, schema)?);
            }
            _ => return Err(Fault::new(block.line, format!("`{word}` says nothing about a kind")).into()),
        }
    }
    complete(parsed)
}

fn complete(parsed: Definition) -> Result<Definition, Problem> {
    for (what, text) in [
        ("kind", &parsed.kind),
        ("group", &parsed.group),
        ("plural", &parsed.plural),
    ] {
        if text.is_empty() {
            return Err(Fault::new(0, format!("the {what} is missing")).into());
        }
    }
    match parsed.versions.iter().filter(|version| version.storage).count() {
        1 => Ok(parsed),
        count => Err(Fault::new(0, format!("one version has to be stored, not {count}")).into()),
    }
}

fn scope(text: &str, line: usize) -> Result<Scope, Fault> {
    match text {
        "Namespaced" => Ok(Scope::Namespaced),
        "Cluster" => Ok(Scope::Cluster),
        _ => Err(Fault::new(line, "the scope is Namespaced or Cluster")),
    }
}

fn version(text: &str, block: &Block<'_>, schema: Arc<Schema>) -> Result<Version, Fault> {
    let mut words = text.split_whitespace();
    let mut version = Version {
        name: words.next().unwrap_or_default().to_owned(),
        served: false,
        storage: false,
        deprecated: false,
        status: false,
        scale: None,
        columns: Vec::new(),
        selectable: Vec::new(),
        schema,
    };
    for word in words {
        match word {
            "served" => version.served = true,
            "storage" => version.storage = true,
            "deprecated" => version.deprecated = true,
            _ => {
                return Err(Fault::new(
                    block.line,
                    format!("`{word}` says nothing about a version"),
                ));
            }
        }
    }
    for below in &block.below {
        let (word, rest) = below.text.split_once(' ').unwrap_or((below.text, ""));
        match word {
            "status" => version.status = true,
            "scale" => version.scale = Some(scale(rest, below.line)?),
            "column" => version.columns.push(column(rest, below.line)?),
            "selectable" => version.selectable.push(rest.trim().to_owned()),
            _ => {
                return Err(Fault::new(
                    below.line,
                    format!("`{word}` says nothing about a version"),
                ));
            }
        }
    }
    Ok(version)
}

fn scale(text: &str, line: usize) -> Result<Scale, Fault> {
    let mut paths = text.split_whitespace().map(str::to_owned);
    match (paths.next(), paths.next(), paths.next(), paths.next()) {
        (Some(spec_replicas), Some(status_replicas), selector, None) => Ok(Scale {
            spec_replicas,
            status_replicas,
            selector,
        }),
        _ => Err(Fault::new(
            line,
            "scale takes the paths of the spec, the status and perhaps the selector",
        )),
    }
}

fn column(text: &str, line: usize) -> Result<Column, Fault> {
    let fault = || {
        Fault::new(
            line,
            "a column is written `column \"NAME\" TYPE PATH` and perhaps `priority N`",
        )
    };
    let (name, rest) = text
        .trim()
        .strip_prefix('"')
        .and_then(|rest| rest.split_once('"'))
        .ok_or_else(fault)?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let (kind, json_path, priority) = match words[..] {
        [kind, path] => (kind, path, 0),
        [kind, path, "priority", number] => (kind, path, number.parse().map_err(|_| fault())?),
        _ => return Err(fault()),
    };
    Ok(Column {
        name: name.to_owned(),
        kind: kind.to_owned(),
        json_path: json_path.to_owned(),
        priority,
    })
}
