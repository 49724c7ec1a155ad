//! From text to pieces: what is copied, and the words of what is evaluated.

use super::TemplateError;

/// A piece of a template.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    /// Text that is copied.
    Text(String),
    /// The words between `{{` and `}}`.
    Action(Vec<Word>),
}

/// A word of an action.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Word {
    /// A keyword or the name of a function.
    Name(String),
    /// `.a.b`; empty for a lone dot.
    Field(Vec<String>),
    /// A text in quotes.
    Text(String),
    /// A whole number.
    Number(i64),
    /// `(`.
    Open,
    /// `)`.
    Close,
    /// `|`.
    Pipe,
}

/// Splits a template into its pieces, white space trimmed where the actions ask for it.
pub(super) fn pieces(text: &str) -> Result<Vec<Piece>, TemplateError> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut trims = false;
    while let Some((before, action)) = rest.split_once("{{") {
        let (body, trims_before) = match action.strip_prefix('-') {
            Some(body) if body.starts_with(char::is_whitespace) => (body, true),
            _ => (action, false),
        };
        let before = if trims { before.trim_start() } else { before };
        let before = if trims_before { before.trim_end() } else { before };
        pieces.push(Piece::Text(before.to_owned()));
        let body = body.trim_start();
        let (words, after) = if body.starts_with("/*") {
            (None, comment(body)?)
        } else {
            words(body)?
        };
        pieces.extend(words.map(Piece::Action));
        let after = after.trim_start();
        (rest, trims) = match after.strip_prefix("-}}") {
            Some(after) => (after, true),
            None => (
                after
                    .strip_prefix("}}")
                    .ok_or(TemplateError::Unclosed("action"))?,
                false,
            ),
        };
    }
    pieces.push(Piece::Text(
        (if trims { rest.trim_start() } else { rest }).to_owned(),
    ));
    Ok(pieces)
}

fn comment(body: &str) -> Result<&str, TemplateError> {
    body.split_once("*/")
        .map(|(_, after)| after)
        .ok_or(TemplateError::Unclosed("comment"))
}

/// The words up to the end of the action, and what follows them.
fn words(body: &str) -> Result<(Option<Vec<Word>>, &str), TemplateError> {
    let mut words = Vec::new();
    let mut rest = body.trim_start();
    loop {
        let trimmed = rest.trim_start();
        let spaced = trimmed.len() < rest.len();
        if trimmed.starts_with("}}") || (spaced && trimmed.starts_with("-}}")) {
            return Ok((Some(words), trimmed));
        }
        let (word, after) = word(trimmed)?;
        words.push(word);
        rest = after;
    }
}

fn word(text: &str) -> Result<(Word, &str), TemplateError> {
    let first = text.chars().next().ok_or(TemplateError::Unclosed("action"))?;
    let after = &text[first.len_utf8()..];
    match first {
        '(' => Ok((Word::Open, after)),
        ')' => Ok((Word::Close, after)),
        '|' => Ok((Word::Pipe, after)),
        '`' => {
            let (inside, after) = after.split_once('`').ok_or(TemplateError::Unclosed("quote"))?;
            Ok((Word::Text(inside.to_owned()), after))
        }
        '"' => quoted(after),
        '.' => {
            let (path, after) = split_while(text, |it| it.is_alphanumeric() || matches!(it, '_' | '.'));
            let names: Vec<String> = path[1..].split('.').map(str::to_owned).collect();
            match names.as_slice() {
                [only] if only.is_empty() => Ok((Word::Field(Vec::new()), after)),
                names if names.iter().any(String::is_empty) => {
                    Err(TemplateError::Unexpected(path.to_owned()))
                }
                _ => Ok((Word::Field(names), after)),
            }
        }
        '0'..='9' | '-' | '+' => {
            let (digits, after) = split_while(text, |it| it.is_ascii_digit() || matches!(it, '-' | '+'));
            let number = digits
                .parse()
                .map_err(|_| TemplateError::Unexpected(digits.to_owned()))?;
            Ok((Word::Number(number), after))
        }
        _ if first.is_alphabetic() || first == '_' => {
            let (name, after) = split_while(text, |it| it.is_alphanumeric() || it == '_');
            Ok((Word::Name(name.to_owned()), after))
        }
        '$' => Err(TemplateError::Unsupported("a variable".to_owned())),
        other => Err(TemplateError::Unexpected(other.to_string())),
    }
}

fn split_while(text: &str, holds: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|it| !holds(it)).unwrap_or(text.len()))
}

/// A text behind its opening quote, with the escapes that Go shares with JSON.
fn quoted(text: &str) -> Result<(Word, &str), TemplateError> {
    let mut escaped = false;
    for (place, letter) in text.char_indices() {
        match letter {
            '"' if !escaped => {
                let inside = serde_json::from_str(&format!("\"{}\"", &text[..place]))
                    .map_err(|_| TemplateError::Unexpected(format!("\"{}\"", &text[..place])))?;
                return Ok((Word::Text(inside), &text[place + 1..]));
            }
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    Err(TemplateError::Unclosed("quote"))
}
