//! Parses type expressions such as `list<str len[1..43]> items[1..100] @atomic`.

use serde_json::Value;

use crate::crd::model::Bounds;

/// A type as it is written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expression {
    /// What comes first.
    pub(super) base: Base,
    /// What is said about it, in order.
    pub(super) modifiers: Vec<Modifier>,
}

/// The first part of a type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Base {
    /// A word: a built-in type or the name of a declared one.
    Word(String),
    /// `list<…>`.
    List(Box<Expression>),
    /// `map<…>`.
    Map(Box<Expression>),
}

/// A restriction or remark after a type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Modifier {
    /// `len[a..b]` and its like; the word says what is bounded.
    Bounds(String, Bounds),
    /// `~Name`.
    Pattern(String),
    /// `{A|B}`.
    Values(Vec<String>),
    /// `@word` or `@word(a, b)`.
    Mark(String, Vec<String>),
    /// `= JSON`.
    Default(Value),
}

/// Parses a whole expression.
pub(super) fn expression(text: &str) -> Result<Expression, String> {
    let mut cursor = Cursor { rest: text };
    let parsed = cursor.expression()?;
    match cursor.rest.trim() {
        "" => Ok(parsed),
        rest => Err(format!("`{rest}` is not understood")),
    }
}

struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    fn expression(&mut self) -> Result<Expression, String> {
        let word = self.word()?;
        let base = match word {
            "list" | "map" => {
                self.expect('<')?;
                let inner = Box::new(self.expression()?);
                self.expect('>')?;
                if word == "list" {
                    Base::List(inner)
                } else {
                    Base::Map(inner)
                }
            }
            "int" if self.eat("|str") => Base::Word("int|str".to_owned()),
            _ => Base::Word(word.to_owned()),
        };
        let mut modifiers = Vec::new();
        while let Some(modifier) = self.modifier()? {
            modifiers.push(modifier);
        }
        Ok(Expression { base, modifiers })
    }

    fn modifier(&mut self) -> Result<Option<Modifier>, String> {
        self.rest = self.rest.trim_start();
        let Some(first) = self.rest.chars().next() else {
            return Ok(None);
        };
        Ok(Some(match first {
            '>' => return Ok(None),
            '~' => {
                self.expect('~')?;
                Modifier::Pattern(self.word()?.to_owned())
            }
            '{' => {
                self.expect('{')?;
                Modifier::Values(self.list('|', '}')?)
            }
            '@' => {
                self.expect('@')?;
                let word = self.word()?.to_owned();
                let arguments = if self.eat("(") {
                    self.list(',', ')')?
                } else {
                    Vec::new()
                };
                Modifier::Mark(word, arguments)
            }
            '=' => {
                self.expect('=')?;
                Modifier::Default(self.json()?)
            }
            _ => {
                let word = self.word()?.to_owned();
                Modifier::Bounds(word, self.bounds()?)
            }
        }))
    }

    fn word(&mut self) -> Result<&'a str, String> {
        self.rest = self.rest.trim_start();
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+')))
            .unwrap_or(self.rest.len());
        if end == 0 {
            return Err(format!("a word is missing before `{}`", self.rest));
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(word)
    }

    fn bounds(&mut self) -> Result<Bounds, String> {
        self.expect('[')?;
        let (inside, rest) = self.rest.split_once(']').ok_or("`]` is missing")?;
        self.rest = rest;
        let (low, high) = inside
            .split_once("..")
            .ok_or("bounds are written `[low..high]`")?;
        let end = |text: &str| match text.trim() {
            "" => Ok(None),
            number => number
                .parse()
                .map(Some)
                .map_err(|_| format!("`{number}` is not a whole number")),
        };
        Ok(Bounds {
            low: end(low)?,
            high: end(high)?,
        })
    }

    /// Words or JSON strings up to `close`.
    fn list(&mut self, separator: char, close: char) -> Result<Vec<String>, String> {
        let mut items = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            let item = if self.rest.starts_with('"') {
                match self.json()? {
                    Value::String(text) => text,
                    other => return Err(format!("`{other}` is not a string")),
                }
            } else {
                self.word()?.to_owned()
            };
            items.push(item);
            self.rest = self.rest.trim_start();
            if !self.eat(&separator.to_string()) {
                self.expect(close)?;
                return Ok(items);
            }
        }
    }

    fn json(&mut self) -> Result<Value, String> {
        let mut stream = serde_json::Deserializer::from_str(self.rest).into_iter::<Value>();
        let value = match stream.next() {
            Some(Ok(value)) => value,
            Some(Err(error)) => return Err(format!("the JSON value does not parse: {error}")),
            None => return Err("a JSON value is missing".to_owned()),
        };
        self.rest = &self.rest[stream.byte_offset()..];
        Ok(value)
    }

    fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => Err(format!("`{wanted}` is missing before `{}`", self.rest)),
        }
    }
}
