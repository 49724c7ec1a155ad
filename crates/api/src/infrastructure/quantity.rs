//! Durations as Go writes them, and fractions as text.

use std::time::Duration;

/// A text that is no duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no duration; write it like 10s, 1m30s or 250ms")]
pub struct DurationError(pub String);

/// Reads a duration: numbers with the units h, m, s, ms, us and ns, in a row. Not negative. Empty is zero.
/// Source: Go `time.ParseDuration`.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    if text.is_empty() || text == "0" {
        return Ok(Duration::ZERO);
    }
    let bad = || DurationError(text.to_owned());
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest
            .find(|it: char| !it.is_ascii_digit() && it != '.')
            .ok_or_else(bad)?;
        let (number, tail) = rest.split_at(digits);
        let letters = tail
            .find(|it: char| it.is_ascii_digit() || it == '.')
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let seconds = match unit {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            "ns" => 1e-9,
            _ => return Err(bad()),
        };
        let number: f64 = number.parse().map_err(|_| bad())?;
        let part = Duration::try_from_secs_f64(number * seconds).map_err(|_| bad())?;
        total = total.checked_add(part).ok_or_else(bad)?;
        rest = tail;
    }
    Ok(total)
}

/// Reads a fraction. Empty is zero; negative ones count as zero, as upstream has it.
pub fn parse_jitter(text: &str) -> Option<f64> {
    if text.is_empty() {
        return Some(0.0);
    }
    text.parse::<f64>()
        .ok()
        .filter(|it| it.is_finite())
        .map(|it| it.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_writes_them() {
        let table = [
            ("", Some(0)),
            ("0", Some(0)),
            ("10s", Some(10_000)),
            ("1m30s", Some(90_000)),
            ("1.5s", Some(1_500)),
            ("250ms", Some(250)),
            ("2h0m0s", Some(7_200_000)),
            ("10", None),
            ("-3s", None),
            ("soon", None),
            ("1.2.3s", None),
        ];
        for (text, expected) in table {
            assert_eq!(
                parse_duration(text).ok().map(|it| it.as_millis()),
                expected,
                "{text:?}"
            );
        }
    }

    #[test]
    fn jitters_are_fractions_and_never_negative() {
        assert_eq!(parse_jitter("0.2"), Some(0.2));
        assert_eq!(parse_jitter(""), Some(0.0));
        assert_eq!(parse_jitter("-1"), Some(0.0));
        assert_eq!(parse_jitter("some"), None);
        assert_eq!(parse_jitter("NaN"), None);
    }
}
