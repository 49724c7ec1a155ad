//! Parses the notation: files to statements, statements to definitions.

mod expression;
mod kind;
mod lines;
mod resolve;
mod schema;

use std::collections::BTreeMap;

use super::model::Definition;
use resolve::Files;

/// A file of the notation.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Path below the folder of the schemas, such as `cluster.x-k8s.io/machines.kind`; the ending says what it is.
    pub path: &'a str,
    /// Its text.
    pub text: &'a str,
}

/// What is wrong with a file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}: {message}")]
pub struct ParseError {
    /// Path of the file.
    pub path: String,
    /// Number of the line, from one; zero for the whole file.
    pub line: usize,
    /// What is wrong, in lower case.
    pub message: String,
}

/// A complaint about a line, before the file is known.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault {
    line: usize,
    message: String,
}

impl Fault {
    fn new(line: usize, message: impl Into<String>) -> Self {
        Self {
            line,
            message: message.into(),
        }
    }

    fn in_file(self, path: &str) -> ParseError {
        ParseError {
            path: path.to_owned(),
            line: self.line,
            message: self.message,
        }
    }
}

/// Parses every kind among the sources, in order of their paths.
///
/// The schemas of a kind have to be among the sources, and so have the shared types that they use.
///
/// # Errors
///
/// The first fault that is found: a line that does not parse, a name that is not known, a missing schema.
pub fn parse(sources: &[Source<'_>]) -> Result<Vec<Definition>, ParseError> {
    let by_path: BTreeMap<&str, &str> = sources.iter().map(|source| (source.path, source.text)).collect();
    let mut files = Files::default();
    for (path, text) in &by_path {
        if path.strip_suffix(".kind").is_none() {
            files.add(path, text)?;
        }
    }
    by_path
        .iter()
        .filter_map(|(path, text)| Some((*path, path.strip_suffix(".kind")?, *text)))
        .map(|(path, stem, text)| {
            let block = lines::blocks(text).map_err(|fault| fault.in_file(path))?;
            kind::definition(&block, |version| {
                files.schema(&format!("{stem}.{version}.schema"))
            })
            .map_err(|problem| problem.in_file(path))
        })
        .collect()
}
