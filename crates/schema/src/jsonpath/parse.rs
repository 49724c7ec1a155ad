//! The grammar of kubectl's `JSONPath` dialect.

use serde_json::Value;

use super::{Comparison, Filter, JsonPath, Operand, Segment};

pub(super) fn parse(text: &str) -> Result<JsonPath, String> {
    let inner = text
        .strip_prefix('{')
        .map_or(Ok(text), |rest| rest.strip_suffix('}').ok_or("unclosed action"))?;
    let mut parser = Parser { rest: inner.trim() };
    let path = parser.path()?;
    if parser.rest.is_empty() {
        Ok(path)
    } else {
        Err(format!("unrecognized character in action: {:?}", parser.rest))
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn eat(&mut self, prefix: &str) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn trim(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// A path up to the first character that cannot be of it.
    fn path(&mut self) -> Result<JsonPath, String> {
        if !self.eat("$") {
            self.eat("@");
        }
        let mut segments = Vec::new();
        // A name may come first without its dot.
        if self.rest.starts_with(|it: char| it.is_alphabetic() || it == '_') {
            segments.push(Segment::Field(self.name()?));
        }
        loop {
            if self.eat("..") {
                segments.push(Segment::Recursive);
                if !self.rest.starts_with('[') {
                    segments.push(self.dotted()?);
                }
            } else if self.eat(".") {
                // A lone dot is the object itself.
                if !self.rest.is_empty() && !self.rest.starts_with('[') {
                    segments.push(self.dotted()?);
                }
            } else if self.eat("[") {
                segments.push(self.bracketed()?);
            } else {
                return Ok(JsonPath { segments });
            }
        }
    }

    fn dotted(&mut self) -> Result<Segment, String> {
        if self.eat("*") {
            Ok(Segment::Wildcard)
        } else {
            self.name().map(Segment::Field)
        }
    }

    /// A field's name up to the next separator; a backslash makes any character part of it.
    fn name(&mut self) -> Result<String, String> {
        let mut name = String::new();
        let mut characters = self.rest.char_indices();
        let mut end = self.rest.len();
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => name.extend(characters.next().map(|(_, it)| it)),
                '.' | '[' | ']' | '{' | '}' | '(' | ')' | '=' | '!' | '<' | '>' | '\'' | '"' | ',' => {
                    end = at;
                    break;
                }
                it if it.is_whitespace() => {
                    end = at;
                    break;
                }
                it => name.push(it),
            }
        }
        self.rest = &self.rest[end..];
        if name.is_empty() {
            Err("a field's name is missing".to_owned())
        } else {
            Ok(name)
        }
    }

    /// What is between brackets, and the closing one.
    fn bracketed(&mut self) -> Result<Segment, String> {
        self.trim();
        let segment = if self.eat("?(") {
            self.filter()?
        } else if self.eat("*") {
            Segment::Wildcard
        } else if self.rest.starts_with(['\'', '"']) {
            self.names()?
        } else {
            self.indexes()?
        };
        self.trim();
        if self.eat("]") {
            Ok(segment)
        } else {
            Err("unterminated array".to_owned())
        }
    }

    fn names(&mut self) -> Result<Segment, String> {
        let mut names = vec![self.quoted()?];
        loop {
            self.trim();
            if !self.eat(",") {
                break;
            }
            self.trim();
            names.push(self.quoted()?);
        }
        Ok(match names.pop() {
            Some(only) if names.is_empty() => Segment::Field(only),
            Some(last) => {
                names.push(last);
                Segment::Fields(names)
            }
            None => Segment::Fields(names),
        })
    }

    fn quoted(&mut self) -> Result<String, String> {
        let Some(quote) = self.rest.chars().next().filter(|it| matches!(it, '\'' | '"')) else {
            return Err("a quoted name is missing".to_owned());
        };
        let mut text = String::new();
        let mut characters = self.rest.char_indices().skip(1);
        while let Some((at, character)) = characters.next() {
            if character == quote {
                self.rest = &self.rest[at + 1..];
                return Ok(text);
            }
            if character == '\\' {
                text.extend(characters.next().map(|(_, it)| it));
            } else {
                text.push(character);
            }
        }
        Err("unterminated quoted string".to_owned())
    }

    fn integer(&mut self) -> Result<Option<i64>, String> {
        let end = self
            .rest
            .find(|it: char| !it.is_ascii_digit() && it != '-')
            .unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        if digits.is_empty() {
            return Ok(None);
        }
        digits
            .parse()
            .map(Some)
            .map_err(|_| format!("invalid array index {digits}"))
    }

    fn indexes(&mut self) -> Result<Segment, String> {
        let first = self.integer()?;
        if self.eat(":") {
            let to = self.integer()?;
            let step = if self.eat(":") {
                self.integer()?.unwrap_or(1)
            } else {
                1
            };
            if step <= 0 {
                return Err("step must be > 0".to_owned());
            }
            return Ok(Segment::Slice(first, to, step));
        }
        let mut indexes = vec![first.ok_or_else(|| format!("invalid array index {}", self.rest))?];
        while self.eat(",") {
            self.trim();
            indexes.push(
                self.integer()?
                    .ok_or_else(|| format!("invalid array index {}", self.rest))?,
            );
        }
        Ok(Segment::Indexes(indexes))
    }

    fn filter(&mut self) -> Result<Segment, String> {
        let left = self.operand()?;
        self.trim();
        let comparisons = [
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        let found = comparisons.into_iter().find(|(sign, _)| self.eat(sign));
        let comparison = match found {
            None => None,
            Some((_, comparison)) => Some((comparison, self.operand()?)),
        };
        self.trim();
        if self.eat(")") {
            Ok(Segment::Filter(Filter { left, comparison }))
        } else {
            Err("unterminated filter".to_owned())
        }
    }

    fn operand(&mut self) -> Result<Operand, String> {
        self.trim();
        if self.rest.starts_with(['@', '$', '.']) {
            return self.path().map(Operand::Path);
        }
        if self.rest.starts_with(['\'', '"']) {
            return self.quoted().map(|text| Operand::Literal(Value::String(text)));
        }
        let end = self
            .rest
            .find([')', ' ', '=', '!', '<', '>'])
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        let value: Option<Value> = match word {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            number => number.parse::<serde_json::Number>().ok().map(Value::Number),
        };
        self.rest = rest;
        value
            .map(Operand::Literal)
            .ok_or_else(|| format!("unrecognized word in filter: {word:?}"))
    }
}
