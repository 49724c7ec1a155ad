//! What validating a node found, and the words for it.

use std::{borrow::Cow, collections::BTreeSet};

use capstan_base::field;
use serde_json::Value;

/// The problems of a node and how many checks it passed, by which a choice between schemas finds the closest one.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    problems: Vec<Problem>,
    pub(super) matches: u32,
}

#[derive(Debug)]
struct Problem {
    /// The field, from where validation began; `None` for problems that are not of one field.
    at: Option<String>,
    kind: field::Kind,
    value: Value,
    message: String,
}

impl Outcome {
    pub(super) fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }

    pub(super) fn merge(&mut self, other: Self) {
        if self.problems.is_empty() {
            self.problems = other.problems;
        } else {
            self.problems.extend(other.problems);
        }
        self.matches += other.matches;
    }

    pub(super) fn forgive(&mut self) {
        self.problems.clear();
    }

    /// A problem of the field at `at`; `message` follows its name and "in body".
    pub(super) fn add(&mut self, kind: field::Kind, at: &str, value: impl Into<Value>, message: &str) {
        let message = format!("{at} in body {message}");
        self.problems.push(Problem {
            at: Some(at.to_owned()),
            kind,
            value: value.into(),
            message,
        });
    }

    /// A problem of the field at `at` that has words of its own.
    pub(super) fn add_bare(
        &mut self,
        kind: field::Kind,
        at: String,
        value: impl Into<Value>,
        message: impl Into<String>,
    ) {
        self.problems.push(Problem {
            at: Some(at),
            kind,
            value: value.into(),
            message: message.into(),
        });
    }

    /// A problem that is not of one field.
    pub(super) fn add_general(&mut self, message: String) {
        self.problems.push(Problem {
            at: None,
            kind: field::Kind::Invalid,
            value: "".into(),
            message,
        });
    }

    pub(super) fn add_type(&mut self, at: &str, wanted: &str, got: impl Into<Value>, shown: Option<&str>) {
        let message = match shown {
            Some(text) => format!("must be of type {wanted}: {text:?}"),
            None => format!("must be of type {wanted}"),
        };
        self.add(field::Kind::TypeInvalid, at, got, &message);
    }

    pub(super) fn into_errors(self, base: &field::Path) -> Vec<field::Error> {
        let mut seen = BTreeSet::new();
        let mut errors = Vec::with_capacity(self.problems.len());
        for problem in self.problems {
            let path = match &problem.at {
                None => Cow::Borrowed(base),
                Some(at) if at.is_empty() => Cow::Borrowed(base),
                Some(at) if at.starts_with('[') => {
                    Cow::Owned(field::Path::new(format!("{}{at}", base.as_str())))
                }
                Some(at) => Cow::Owned(base.child(at)),
            };
            let error = field::Error::new(problem.kind, &path, problem.value, problem.message);
            if seen.insert((
                error.path.as_str().to_owned(),
                error.kind.cause(),
                error.detail.clone(),
            )) {
                errors.push(error);
            }
        }
        errors
    }
}

/// A float as Go's `%v` prints it.
pub(super) fn go_float(value: f64) -> String {
    let text = format!("{value:e}");
    let Some((mantissa, exponent)) = text.split_once('e') else {
        return text;
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) || (exponent < 21 && value.fract() == 0.0 && mantissa.len() > 21) {
        return format!("{value}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}
