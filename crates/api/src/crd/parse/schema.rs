//! Parses `.schema` and `.types` files to declarations whose names are not resolved yet.

use std::collections::BTreeMap;

use super::{
    Fault,
    expression::{Expression, expression},
    lines::{Block, described},
};
use crate::crd::model::Rule;

/// What a file declares.
#[derive(Debug, Default)]
pub(super) struct File {
    /// The shared files that it takes in, with the line that says so.
    pub(super) uses: Vec<(usize, String)>,
    /// Patterns by name.
    pub(super) patterns: BTreeMap<String, String>,
    /// Types by name.
    pub(super) types: BTreeMap<String, Declaration>,
    /// Fields of the root, for a schema.
    pub(super) fields: Vec<FieldDeclaration>,
}

/// A type with everything below it.
#[derive(Debug)]
pub(super) struct Declaration {
    pub(super) line: usize,
    pub(super) expression: Expression,
    pub(super) description: Option<String>,
    /// Rules of the value itself.
    pub(super) rules: Vec<Rule>,
    /// Rules of its items or values.
    pub(super) item_rules: Vec<Rule>,
    pub(super) fields: Vec<FieldDeclaration>,
}

/// A field with its type.
#[derive(Debug)]
pub(super) struct FieldDeclaration {
    pub(super) name: String,
    pub(super) required: bool,
    pub(super) declaration: Declaration,
}

/// Parses the lines of a file.
pub(super) fn file(blocks: &[Block<'_>]) -> Result<File, Fault> {
    let mut file = File::default();
    for block in blocks {
        let line = block.line;
        if let Some(name) = block.text.strip_prefix("use ") {
            file.uses.push((line, name.trim().to_owned()));
        } else if let Some(rest) = block.text.strip_prefix("pattern ") {
            let (name, pattern) = rest
                .split_once(' ')
                .and_then(|(name, quoted)| Some((name, quoted.trim().strip_prefix('`')?.strip_suffix('`')?)))
                .ok_or_else(|| {
                    Fault::new(line, "a pattern is written as its name and a regex in backticks")
                })?;
            if file
                .patterns
                .insert(name.to_owned(), pattern.to_owned())
                .is_some()
            {
                return Err(Fault::new(line, format!("pattern {name} is declared twice")));
            }
        } else if let Some(rest) = block.text.strip_prefix("type ") {
            let (name, declared) = declaration(rest, block)?;
            if file.types.insert(name.to_owned(), declared).is_some() {
                return Err(Fault::new(line, format!("type {name} is declared twice")));
            }
        } else {
            file.fields.push(field(block)?);
        }
    }
    Ok(file)
}

fn field(block: &Block<'_>) -> Result<FieldDeclaration, Fault> {
    let (name, declaration) = declaration(block.text, block)?;
    Ok(FieldDeclaration {
        name: name.strip_suffix('!').unwrap_or(name).to_owned(),
        required: name.ends_with('!'),
        declaration,
    })
}

fn declaration<'a>(text: &'a str, block: &Block<'_>) -> Result<(&'a str, Declaration), Fault> {
    let (statement, description) = described(text);
    let (name, written) = statement
        .split_once(':')
        .ok_or_else(|| Fault::new(block.line, "a field is written as its name, a colon and its type"))?;
    let expression = expression(written).map_err(|message| Fault::new(block.line, message))?;
    let mut declared = Declaration {
        line: block.line,
        expression,
        description,
        rules: Vec::new(),
        item_rules: Vec::new(),
        fields: Vec::new(),
    };
    for below in &block.below {
        if let Some(text) = below.text.strip_prefix("rule ") {
            declared.rules.push(rule(text, below.line)?);
        } else if let Some(text) = below.text.strip_prefix("each rule ") {
            declared.item_rules.push(rule(text, below.line)?);
        } else {
            declared.fields.push(field(below)?);
        }
    }
    Ok((name.trim(), declared))
}

fn rule(text: &str, line: usize) -> Result<Rule, Fault> {
    text.strip_prefix('"')
        .and_then(|rest| rest.split_once("\": "))
        .map(|(message, expression)| Rule {
            message: message.to_owned(),
            expression: expression.to_owned(),
        })
        .ok_or_else(|| Fault::new(line, "a rule is written as a quoted message, a colon and CEL"))
}
