//! Turns text into a tree of lines by indentation.

use super::Fault;

/// A line with the lines that are indented below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block<'a> {
    /// Number of the line, from one.
    pub(super) line: usize,
    /// The line without indentation.
    pub(super) text: &'a str,
    /// The lines below it.
    pub(super) below: Vec<Block<'a>>,
}

/// The lines of a text as a tree; blank lines and comments are left out.
pub(super) fn blocks(text: &str) -> Result<Vec<Block<'_>>, Fault> {
    let mut open: Vec<Vec<Block<'_>>> = vec![Vec::new()];
    for (index, raw) in text.lines().enumerate() {
        let (line, content) = (index + 1, raw.trim());
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let spaces = raw.len() - raw.trim_start_matches(' ').len();
        if !spaces.is_multiple_of(2) || raw[spaces..].starts_with('\t') {
            return Err(Fault::new(line, "indentation is by two spaces"));
        }
        let depth = spaces / 2;
        if depth >= open.len() {
            return Err(Fault::new(line, "the line is indented too deep"));
        }
        close(&mut open, depth);
        if let Some(level) = open.last_mut() {
            level.push(Block {
                line,
                text: content,
                below: Vec::new(),
            });
        }
        open.push(Vec::new());
    }
    close(&mut open, 0);
    Ok(open.pop().unwrap_or_default())
}

/// Moves levels deeper than `depth` below the last line of the level above them.
fn close(open: &mut Vec<Vec<Block<'_>>>, depth: usize) {
    while open.len() > depth + 1 {
        let below = open.pop().unwrap_or_default();
        if let Some(parent) = open.last_mut().and_then(|level| level.last_mut()) {
            parent.below = below;
        }
    }
}

/// Splits a line into what it says and its description.
pub(super) fn described(text: &str) -> (&str, Option<String>) {
    match text.split_once(" -- ") {
        Some((statement, description)) => (statement.trim_end(), Some(description.trim().to_owned())),
        None => (text, None),
    }
}
