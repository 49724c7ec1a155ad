//! Durations as Go writes them (`1h30m0s`), which is how v1beta1 and kubeadm write theirs.

use jiff::SignedDuration;

/// A text that is no duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a duration like 1h30m or 10s")]
pub struct ParseDurationError {
    text: String,
}

/// Nanoseconds in each unit. A unit that begins with another one stands before it.
const UNITS: [(&str, i128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Reads a duration: an optional sign and numbers, whole or with a fraction, each with its unit.
// Parity: Go time.ParseDuration
pub fn parse(text: &str) -> Result<SignedDuration, ParseDurationError> {
    let error = || ParseDurationError {
        text: text.to_owned(),
    };
    let (negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(SignedDuration::ZERO);
    }
    if rest.is_empty() {
        return Err(error());
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let end = rest
            .find(|it: char| !it.is_ascii_digit() && it != '.')
            .ok_or_else(error)?;
        let (number, after) = rest.split_at(end);
        let (unit, nanoseconds) = UNITS
            .iter()
            .copied()
            .find(|(unit, _)| after.starts_with(unit))
            .ok_or_else(error)?;
        total = total
            .checked_add(scaled(number, nanoseconds).ok_or_else(error)?)
            .ok_or_else(error)?;
        rest = &after[unit.len()..];
    }
    // Go's durations are nanoseconds in 64 bits.
    let signed = i64::try_from(if negative { -total } else { total }).map_err(|_| error())?;
    Ok(SignedDuration::from_nanos(signed))
}

/// `number`, which may have a fraction, times `unit`; what is less than a nanosecond is dropped.
fn scaled(number: &str, unit: i128) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut value = whole.checked_mul(unit)?;
    let mut scale = unit;
    for digit in fraction.bytes() {
        scale /= 10;
        value = value.checked_add(scale * i128::from(digit - b'0'))?;
    }
    Some(value)
}

/// Writes a duration: `0s`, `1.5s`, `10m0s`, `1h30m0s`; below a second `1.5ms`, `2µs`, `3ns`.
// Parity: Go time.Duration.String
pub fn format(duration: SignedDuration) -> String {
    let nanoseconds = duration.as_nanos();
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let absolute = nanoseconds.unsigned_abs();
    match absolute {
        0 => "0s".to_owned(),
        1..1_000 => format!("{sign}{absolute}ns"),
        1_000..1_000_000 => format!("{sign}{}\u{b5}s", fraction(absolute, 1_000)),
        1_000_000..1_000_000_000 => format!("{sign}{}ms", fraction(absolute, 1_000_000)),
        _ => {
            let minutes = absolute / 60_000_000_000;
            let seconds = fraction(absolute % 60_000_000_000, 1_000_000_000);
            match (minutes / 60, minutes % 60) {
                (0, 0) => format!("{sign}{seconds}s"),
                (0, minutes) => format!("{sign}{minutes}m{seconds}s"),
                (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}s"),
            }
        }
    }
}

/// `value / unit` with as many decimal places as it needs. `unit` is a power of ten.
fn fraction(value: u128, unit: u128) -> String {
    let rest = value % unit;
    if rest == 0 {
        return (value / unit).to_string();
    }
    let width = unit.to_string().len() - 1;
    let decimals = format!("{rest:0width$}");
    format!("{}.{}", value / unit, decimals.trim_end_matches('0'))
}

/// Reads a duration as whole seconds; what is less than a second is dropped.
pub fn parse_seconds(text: &str) -> Result<i64, ParseDurationError> {
    parse(text).map(|it| it.as_secs())
}

/// Writes whole seconds as a duration.
pub fn format_seconds(seconds: i64) -> String {
    format(SignedDuration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_read_and_write_like_go() {
        for (text, written) in [
            ("0", "0s"),
            ("10s", "10s"),
            ("90m", "1h30m0s"),
            ("1h", "1h0m0s"),
            ("1.5h", "1h30m0s"),
            (".5s", "500ms"),
            ("1.5ms", "1.5ms"),
            ("2us", "2\u{b5}s"),
            ("3ns", "3ns"),
            ("-1m0.25s", "-1m0.25s"),
            ("+5m", "5m0s"),
        ] {
            assert_eq!(parse(text).map(format), Ok(written.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in ["", "-", "10", "s", "1..2s", "1d", "1h 2m", "9999999999h", "."] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!(
            parse("1d").expect_err("no days").to_string(),
            "\"1d\" is not a duration like 1h30m or 10s"
        );
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(nanoseconds in any::<i64>()) {
            let duration = SignedDuration::from_nanos(nanoseconds);
            prop_assert_eq!(parse(&format(duration)), Ok(duration));
        }

        #[test]
        fn whole_seconds_are_kept(seconds in -1_000_000_000_i64..1_000_000_000) {
            prop_assert_eq!(parse_seconds(&format_seconds(seconds)), Ok(seconds));
        }
    }
}
