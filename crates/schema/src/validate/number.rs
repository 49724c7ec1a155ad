//! The constraints on numbers.
//! Source: kube-openapi `pkg/validation/validate/{validator,values}.go`.

use capstan_base::field::Kind;
use serde_json::{Number, Value};

use super::outcome::{Outcome, go_float};
use crate::{
    format::Format,
    structural::{Structural, Type},
};

/// Go reads whole numbers that fit as `int64`, all others as `float64`, and compares each kind in its own way.
#[derive(Debug, Clone, Copy)]
enum Native {
    Int(i64),
    Float(f64),
}

impl Native {
    fn of(number: &Number) -> Self {
        number.as_i64().map_or_else(
            || Self::Float(number.as_f64().unwrap_or(f64::INFINITY)),
            Self::Int,
        )
    }

    #[expect(clippy::cast_precision_loss, reason = "Go converts the same way")]
    fn as_float(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

/// Whether a float is written without a fraction and small enough to be exact.
pub(super) fn is_whole(value: f64) -> bool {
    value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_991.0
}

/// Adds what is wrong with `number`.
pub(super) fn validate_number(number: &Number, schema: &Structural, at: &str, outcome: &mut Outcome) {
    let constraints = &schema.constraints;
    let native = Native::of(number);
    let range = Range {
        kind: schema
            .kind
            .filter(|it| !schema.int_or_string && matches!(it, Type::Integer | Type::Number)),
        format: constraints.enforced_format,
        at,
    };
    range.check(native, "Checked", outcome);
    if let Some(factor) = constraints.multiple_of {
        let fits = range.check(Native::Float(factor), "MultipleOf", outcome);
        multiple_of(
            if fits {
                native
            } else {
                Native::Float(native.as_float())
            },
            factor,
            at,
            number,
            outcome,
        );
    }
    if let Some(maximum) = constraints.maximum {
        let fits = range.check(Native::Float(maximum), "Maximum boundary", outcome);
        let (too_large, bound) = compare(native, maximum, fits, constraints.exclusive_maximum, |a, b| a > b);
        if too_large {
            let words = if constraints.exclusive_maximum {
                "less than"
            } else {
                "less than or equal to"
            };
            outcome.add(
                Kind::Invalid,
                at,
                Value::Number(number.clone()),
                &format!("should be {words} {bound}"),
            );
        }
    }
    if let Some(minimum) = constraints.minimum {
        let fits = range.check(Native::Float(minimum), "Minimum boundary", outcome);
        let (too_small, bound) = compare(native, minimum, fits, constraints.exclusive_minimum, |a, b| a < b);
        if too_small {
            let words = if constraints.exclusive_minimum {
                "greater than"
            } else {
                "greater than or equal to"
            };
            outcome.add(
                Kind::Invalid,
                at,
                Value::Number(number.clone()),
                &format!("should be {words} {bound}"),
            );
        }
    }
    outcome.matches += 1;
}

/// Whether `value` is beyond `bound`, and the bound as it is printed.
fn compare(
    value: Native,
    bound: f64,
    fits: bool,
    exclusive: bool,
    beyond: fn(f64, f64) -> bool,
) -> (bool, String) {
    match value {
        #[expect(clippy::cast_possible_truncation, reason = "Go converts the same way")]
        Native::Int(value) if fits => {
            let bound = bound as i64;
            let ordering = value.cmp(&bound);
            let past = if beyond(1.0, 0.0) {
                ordering.is_gt()
            } else {
                ordering.is_lt()
            };
            (past || (exclusive && ordering.is_eq()), bound.to_string())
        }
        other => {
            let value = other.as_float();
            #[expect(clippy::float_cmp, reason = "an exclusive bound is exact")]
            let equal = value == bound;
            (beyond(value, bound) || (exclusive && equal), go_float(bound))
        }
    }
}

fn multiple_of(value: Native, factor: f64, at: &str, number: &Number, outcome: &mut Outcome) {
    #[expect(clippy::cast_possible_truncation, reason = "Go converts the same way")]
    let (positive, multiple, shown) = match value {
        Native::Int(value) => {
            let factor = factor as i64;
            (factor > 0, factor > 0 && value % factor == 0, factor.to_string())
        }
        Native::Float(value) => {
            let quotient = if factor < 1.0 {
                1.0 / factor * value
            } else {
                value / factor
            };
            (factor > 0.0, is_whole(quotient), go_float(factor))
        }
    };
    if !positive {
        let message = format!("factor MultipleOf declared for {at} must be positive: {shown}");
        outcome.add_bare(Kind::Invalid, at.to_owned(), Value::from(factor), message);
    } else if !multiple {
        outcome.add(
            Kind::Invalid,
            at,
            Value::Number(number.clone()),
            &format!("should be a multiple of {shown}"),
        );
    }
}

struct Range<'a> {
    kind: Option<Type>,
    format: Option<Format>,
    at: &'a str,
}

impl Range<'_> {
    /// Whether `value` fits the type and format; adds a problem if not.
    fn check(&self, value: Native, prefix: &str, outcome: &mut Outcome) -> bool {
        let whole = match value {
            Native::Int(value) => Some(value),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "checked to be a whole number within range"
            )]
            Native::Float(value) if value.fract() == 0.0 && value.abs() < 9.2e18 => Some(value as i64),
            Native::Float(_) => None,
        };
        let (fits, format) = match (self.kind, self.format) {
            (Some(Type::Integer), Some(Format::Int32)) => {
                (whole.is_some_and(|it| i32::try_from(it).is_ok()), Some("int32"))
            }
            (Some(Type::Integer), Some(Format::Int64)) => (whole.is_some(), Some("int64")),
            (Some(Type::Integer), _) => (whole.is_some(), None),
            (_, Some(Format::Float)) => (value.as_float().abs() <= f64::from(f32::MAX), Some("float")),
            _ => (true, None),
        };
        if !fits {
            let kind = self.kind.map_or("", Type::as_str);
            let at = self.at;
            let form = format.map_or("(default format)".to_owned(), |it| format!("with format {it}"));
            outcome.add_general(format!("{prefix} value must be of type {kind} {form} in {at}"));
        }
        fits
    }
}
