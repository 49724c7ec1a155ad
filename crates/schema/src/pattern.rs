//! Regular expressions of schemas: written for Go's RE2, run by the `regex` crate.
//!
//! The two dialects are close, not equal. Go's Perl classes and word boundaries are ASCII; a `[` inside a class, `&&`,
//! `--`, `~~` and a `{` that starts no repetition are plain characters; and `\<`, `\>` match themselves.

use std::sync::{Arc, OnceLock};

use regex::{Regex, RegexBuilder};

/// The largest count of a repetition that Go accepts.
const MAX_REPETITION: u32 = 1000;
/// Memory that one compiled expression may take; Go has no such limit, this one is far above real use.
const SIZE_LIMIT: usize = 64 << 20;

/// A `pattern` of a schema, compiled when it is first needed and shared by all copies of the schema.
#[derive(Debug, Clone)]
pub struct Pattern {
    source: String,
    compiled: Arc<OnceLock<Result<Regex, String>>>,
}

impl Pattern {
    /// A pattern in Go's syntax. It need not be valid: that shows when it is used.
    pub fn new(source: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            compiled: Arc::default(),
        }
    }

    /// The pattern as written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether some part of `text` matches.
    ///
    /// # Errors
    /// Says why the pattern is not a regular expression.
    pub fn is_match(&self, text: &str) -> Result<bool, &str> {
        self.regex().map(|regex| regex.is_match(text))
    }

    /// The compiled expression.
    ///
    /// # Errors
    /// Says why the pattern is not a regular expression.
    pub fn regex(&self) -> Result<&Regex, &str> {
        self.compiled
            .get_or_init(|| compile(&self.source))
            .as_ref()
            .map_err(String::as_str)
    }
}

/// Compiles an expression in Go's syntax.
fn compile(source: &str) -> Result<Regex, String> {
    let translated = Translation::of(source)?;
    RegexBuilder::new(&translated)
        .size_limit(SIZE_LIMIT)
        .build()
        .map_err(|error| {
            // The crate draws the expression with a caret below; its last line says what is wrong.
            let text = error.to_string();
            let line = text.lines().last().unwrap_or_default().trim();
            format!(
                "error parsing regexp: {}: `{source}`",
                line.trim_start_matches("error: ")
            )
        })
}

struct Translation<'a> {
    rest: &'a str,
    out: String,
}

impl<'a> Translation<'a> {
    fn of(source: &'a str) -> Result<String, String> {
        let mut this = Self {
            rest: source,
            out: String::with_capacity(source.len() + 16),
        };
        while let Some(next) = this.take() {
            match next {
                '\\' => this.escape(false)?,
                '[' => this.class()?,
                '{' => this.brace(source)?,
                other => this.out.push(other),
            }
        }
        Ok(this.out)
    }

    fn take(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    fn escape(&mut self, in_class: bool) -> Result<(), String> {
        let Some(next) = self.take() else {
            return Err("error parsing regexp: trailing backslash at end of expression: ``".to_owned());
        };
        match next {
            'd' => self.out.push_str("[0-9]"),
            'D' => self.out.push_str("[^0-9]"),
            'w' => self.out.push_str("[0-9A-Za-z_]"),
            'W' => self.out.push_str("[^0-9A-Za-z_]"),
            's' => self.out.push_str(r"[\t\n\f\r ]"),
            'S' => self.out.push_str(r"[^\t\n\f\r ]"),
            'b' if !in_class => self.out.push_str(r"(?-u:\b)"),
            'B' if !in_class => self.out.push_str(r"(?-u:\B)"),
            '<' | '>' => self.out.push(next),
            'Q' if !in_class => {
                let end = self.rest.find(r"\E").unwrap_or(self.rest.len());
                self.out.push_str(&regex::escape(&self.rest[..end]));
                self.rest = self.rest[end..].strip_prefix(r"\E").unwrap_or("");
            }
            other => {
                self.out.push('\\');
                self.out.push(other);
            }
        }
        Ok(())
    }

    /// A `{` outside a class: a repetition, or itself.
    fn brace(&mut self, source: &str) -> Result<(), String> {
        let body = self
            .rest
            .split_once('}')
            .map(|(body, _)| body)
            .filter(|body| is_repetition(body));
        let Some(body) = body else {
            self.out.push_str(r"\{");
            return Ok(());
        };
        let too_large = |text: &str| {
            text.parse::<u32>()
                .map_or(!text.is_empty(), |it| it > MAX_REPETITION)
        };
        if body.split(',').any(too_large) {
            return Err(format!(
                "error parsing regexp: invalid repeat count: `{{{body}}}` in `{source}`"
            ));
        }
        self.out.push('{');
        self.out.push_str(body);
        self.out.push('}');
        self.rest = &self.rest[body.len() + 1..];
        Ok(())
    }

    fn class(&mut self) -> Result<(), String> {
        self.out.push('[');
        if let Some(rest) = self.rest.strip_prefix('^') {
            self.rest = rest;
            self.out.push('^');
        }
        // A `]` that comes first is a member.
        if let Some(rest) = self.rest.strip_prefix(']') {
            self.rest = rest;
            self.out.push_str(r"\]");
        }
        // Whether a `-` that comes now makes a range with what is before it.
        let mut starts_range = false;
        while let Some(next) = self.take() {
            let could_start = std::mem::replace(&mut starts_range, true);
            match next {
                ']' => {
                    self.out.push(']');
                    return Ok(());
                }
                '\\' => {
                    starts_range = !self.rest.starts_with(['d', 'D', 'w', 'W', 's', 'S', 'p', 'P']);
                    self.escape(true)?;
                }
                '[' => starts_range = self.bracket_in_class(),
                '-' if could_start && !self.rest.starts_with(']') => {
                    self.out.push('-');
                    // The other end; a class or an escape there is met by the next round.
                    if self.rest.starts_with(['-', '&', '~', '[']) {
                        let end = self.take().unwrap_or('-');
                        self.out.push('\\');
                        self.out.push(end);
                        starts_range = false;
                    }
                }
                // Twice in a row these are set operations of the crate.
                '&' | '~' | '-' => {
                    self.out.push('\\');
                    self.out.push(next);
                }
                other => self.out.push(other),
            }
        }
        Err("error parsing regexp: missing closing ]".to_owned())
    }

    /// A `[` inside a class: a named class, or itself. Returns whether it was itself.
    fn bracket_in_class(&mut self) -> bool {
        let posix = self.rest.strip_prefix(':').and_then(|rest| rest.split_once(":]"));
        let known =
            posix.filter(|(name, _)| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'^'));
        if let Some((name, rest)) = known {
            self.out.push_str("[:");
            self.out.push_str(name);
            self.out.push_str(":]");
            self.rest = rest;
            false
        } else {
            self.out.push_str(r"\[");
            true
        }
    }
}

/// Whether the text between braces is `n`, `n,` or `n,m`.
fn is_repetition(body: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match body.split_once(',') {
        None => digits(body),
        Some((low, high)) => digits(low) && (high.is_empty() || digits(high)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_they_mean_in_go() {
        let cases: &[(&str, &str, bool)] = &[
            ("b", "abc", true),
            ("^b", "abc", false),
            (r"^\d+$", "12", true),
            (r"^\d+$", "٣", false),
            (r"^[\w.-]+$", "a_b.c-d", true),
            (r"^\w$", "é", false),
            ("^[[]$", "[", true),
            ("^[a&&b]+$", "a&b", true),
            ("^[]a]+$", "]a", true),
            ("^[[:alpha:]]+$", "ab", true),
            ("^a{2}$", "aa", true),
            ("^a{,2}$", "a{,2}", true),
            ("^{a}$", "{a}", true),
            (r"^\<b\>$", "<b>", true),
            (r"^\Qa.b\E$", "a.b", true),
            (r"^[+--]+$", "+,-", true),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(
                Pattern::new(*pattern).is_match(text),
                Ok(*expected),
                "{pattern} on {text}"
            );
        }
    }

    #[test]
    fn what_go_rejects_is_rejected() {
        for pattern in ["a(", "[a", r"a\", "a{1001}", "(?=a)", r"(a)\1"] {
            assert!(Pattern::new(pattern).regex().is_err(), "{pattern}");
        }
    }
}
