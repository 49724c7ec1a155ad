//! Order, equality and text of JSON values, where integers and floats compare as numbers.

use std::{cmp::Ordering, fmt::Write as _};

use serde_json::{Number, Value};

/// A total order of JSON values: numbers, strings, booleans, lists, maps, null; each by content.
/// Upstream: structured-merge-diff `value.Compare`.
pub(crate) fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => compare_numbers(a, b),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => compare_all(a.iter(), b.iter(), compare),
        (Value::Object(a), Value::Object(b)) => compare_all(a.iter(), b.iter(), |x, y| {
            x.0.cmp(y.0).then_with(|| compare(x.1, y.1))
        }),
        _ => rank(left).cmp(&rank(right)),
    }
}

/// Whether two values are the same, `1` and `1.0` included.
pub(crate) fn equal(left: &Value, right: &Value) -> bool {
    compare(left, right) == Ordering::Equal
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}

fn compare_all<T>(
    mut left: impl Iterator<Item = T>,
    mut right: impl Iterator<Item = T>,
    each: impl Fn(T, T) -> Ordering,
) -> Ordering {
    loop {
        match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(a), Some(b)) => match each(a, b) {
                Ordering::Equal => {}
                unequal => return unequal,
            },
        }
    }
}

fn compare_numbers(left: &Number, right: &Number) -> Ordering {
    match (left.as_i128(), right.as_i128()) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(a), None) => compare_mixed(a, float(right)),
        (None, Some(b)) => compare_mixed(b, float(left)).reverse(),
        (None, None) => float(left).partial_cmp(&float(right)).unwrap_or(Ordering::Equal),
    }
}

fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::MAX)
}

/// Compares exactly, not by rounding the integer to a float: the order stays transitive beyond 2^53.
#[expect(
    clippy::cast_possible_truncation,
    reason = "float to integer casts saturate, and the fraction is compared apart"
)]
fn compare_mixed(integer: i128, float: f64) -> Ordering {
    let whole = float.floor();
    integer.cmp(&(whole as i128)).then(if float > whole {
        Ordering::Less
    } else {
        Ordering::Equal
    })
}

/// A value as conflict messages and list keys in paths show it. Upstream: structured-merge-diff `value.ToString`.
pub(crate) fn display(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number_text(number),
        Value::String(text) => format!("{text:?}"),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(display).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(entries) => entries.iter().fold(String::new(), |mut text, (key, entry)| {
            let _ = write!(text, "{key}={}", display(entry));
            text
        }),
    }
}

/// A value as it stands in the keys of `FieldsV1`: compact JSON, with `<`, `>`, `&` escaped and whole floats written
/// without a fraction, byte for byte what the reference implementation writes.
pub(crate) fn wire(value: &Value) -> String {
    const ESCAPES: [(char, &str); 5] = [
        ('<', "\\u003c"),
        ('>', "\\u003e"),
        ('&', "\\u0026"),
        ('\u{2028}', "\\u2028"),
        ('\u{2029}', "\\u2029"),
    ];
    if let Value::Number(number) = value {
        return number_text(number);
    }
    let mut text = value.to_string();
    for (plain, escaped) in ESCAPES {
        if text.contains(plain) {
            text = text.replace(plain, escaped);
        }
    }
    text
}

fn number_text(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e21 => format!("{float}"),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_ordered_by_kind_then_content() {
        let ordered = [
            json!(-1),
            json!(0.5),
            json!(1),
            json!(1.5),
            json!(9_007_199_254_740_993_i64),
            json!(u64::MAX),
            json!("a"),
            json!("b"),
            json!(false),
            json!(true),
            json!([1]),
            json!([1, 2]),
            json!({"a": 1}),
            json!({"a": 2}),
            json!(null),
        ];
        for (i, left) in ordered.iter().enumerate() {
            for (j, right) in ordered.iter().enumerate() {
                assert_eq!(compare(left, right), i.cmp(&j), "{left} {right}");
            }
        }
    }

    #[test]
    fn whole_floats_equal_integers_and_print_like_them() {
        assert!(equal(&json!({"a": [1]}), &json!({"a": [1.0]})));
        assert_eq!(
            (wire(&json!(1.0)), display(&json!(80.0))),
            ("1".to_owned(), "80".to_owned())
        );
        assert_eq!(wire(&json!("a<b")), "\"a\\u003cb\"");
    }
}
