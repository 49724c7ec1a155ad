//! The cells of additional printer columns.
//! Source: apiextensions-apiserver `pkg/registry/customresource/tableconvertor`, apimachinery `pkg/util/duration`.

use capstan_base::Timestamp;
use serde_json::Value;

use super::{JsonPath, ParseError};

/// The type of an additional printer column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// Text; other values are shown as text.
    String,
    /// `true` or `false`.
    Boolean,
    /// A time, shown as how long ago it was.
    Date,
}

impl ColumnType {
    /// The type of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "integer" => Self::Integer,
            "number" => Self::Number,
            "string" => Self::String,
            "boolean" => Self::Boolean,
            "date" => Self::Date,
            _ => return None,
        })
    }
}

/// How to fill one column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    kind: ColumnType,
    path: JsonPath,
}

impl Column {
    /// A column of values at `path`.
    ///
    /// # Errors
    /// When `path` is not in kubectl's dialect.
    pub fn new(kind: ColumnType, path: &str) -> Result<Self, ParseError> {
        Ok(Self {
            kind,
            path: JsonPath::parse(path)?,
        })
    }

    /// The cell for `object` at the time `now`: null if there is no value, or none of the column's type. Only the
    /// first value of a path with several counts.
    pub fn cell(&self, object: &Value, now: Timestamp) -> Value {
        let Some(value) = self.path.first(object) else {
            return Value::Null;
        };
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a column of integers shows the whole part"
        )]
        let whole = |value: &Value| value.as_i64().or_else(|| value.as_f64().map(|it| it as i64));
        match self.kind {
            ColumnType::String => match value {
                Value::Null => Value::Null,
                Value::String(text) => Value::from(text.as_str()),
                other => Value::from(other.to_string()),
            },
            ColumnType::Integer => whole(value).map_or(Value::Null, Value::from),
            ColumnType::Number if value.is_number() => value.clone(),
            ColumnType::Boolean if value.is_boolean() => value.clone(),
            ColumnType::Number | ColumnType::Boolean => Value::Null,
            ColumnType::Date => match value.as_str().map(str::parse::<Timestamp>) {
                None => Value::Null,
                Some(Ok(time)) => Value::from(human_duration(now.as_second() - time.as_second())),
                Some(Err(_)) => Value::from("<invalid>"),
            },
        }
    }
}

/// A duration of whole `seconds` as kubectl shows ages: `45s`, `3m5s`, `7h12m`, `2d4h`, `3y40d`.
pub fn human_duration(seconds: i64) -> String {
    let pair = |large: i64, unit: char, small: i64, small_unit: char| {
        if small == 0 {
            format!("{large}{unit}")
        } else {
            format!("{large}{unit}{small}{small_unit}")
        }
    };
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        // A little in the future is now: clocks differ.
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        _ if minutes < 10 => pair(minutes, 'm', seconds % 60, 's'),
        _ if minutes < 180 => format!("{minutes}m"),
        _ if hours < 8 => pair(hours, 'h', minutes % 60, 'm'),
        _ if hours < 48 => format!("{hours}h"),
        _ if hours < 24 * 8 => pair(days, 'd', hours % 24, 'h'),
        _ if hours < 24 * 365 * 2 => format!("{days}d"),
        _ if hours < 24 * 365 * 8 => pair(days / 365, 'y', days % 365, 'd'),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cells_have_the_type_of_their_column() {
        let object = json!({
            "metadata": {"creationTimestamp": "2024-01-01T00:00:00Z"},
            "spec": {"n": 3, "f": 1.5, "t": "text", "b": true, "o": {"a": [1]}},
        });
        let now: Timestamp = "2024-01-01T00:03:05Z".parse().unwrap();
        let cases: &[(&str, &str, Value)] = &[
            ("integer", ".spec.n", json!(3)),
            ("integer", ".spec.t", Value::Null),
            ("number", ".spec.f", json!(1.5)),
            ("string", ".spec.t", json!("text")),
            ("string", ".spec.n", json!("3")),
            ("string", ".spec.b", json!("true")),
            ("string", ".spec.o", json!("{\"a\":[1]}")),
            ("boolean", ".spec.b", json!(true)),
            ("boolean", ".spec.t", Value::Null),
            ("date", ".metadata.creationTimestamp", json!("3m5s")),
            ("date", ".spec.t", json!("<invalid>")),
            ("string", ".spec.missing", Value::Null),
        ];
        for (kind, path, expected) in cases {
            let column = Column::new(ColumnType::parse(kind).unwrap(), path).unwrap();
            assert_eq!(column.cell(&object, now), *expected, "{kind} {path}");
        }
    }

    #[test]
    fn ages_read_as_kubectl_shows_them() {
        let cases = [
            (-5, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (185, "3m5s"),
            (600, "10m"),
            (3 * 3600, "3h"),
            (3 * 3600 + 60, "3h1m"),
            (8 * 3600, "8h"),
            (49 * 3600, "2d1h"),
            (8 * 86_400, "8d"),
            (2 * 365 * 86_400 + 86_400, "2y1d"),
            (9 * 365 * 86_400, "9y"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(human_duration(seconds), expected, "{seconds}");
        }
    }
}
