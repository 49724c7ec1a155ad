//! What a plain scalar would be read as: a string is left plain only if it would be read as the same string.

/// Words that are read as something else than a string.
const WORDS: &[&str] = &[
    "", "~", "null", "Null", "NULL", "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON",
    "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF", ".nan", ".NaN", ".NAN",
    ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF",
];

/// Whether `text` without quotes is read as a string.
pub(super) fn is_read_as_string(text: &str) -> bool {
    if WORDS.contains(&text) {
        return false;
    }
    match text.bytes().next() {
        Some(b'.') => !is_float(text),
        Some(b'+' | b'-' | b'0'..=b'9') => {
            let plain = text.replace('_', "");
            !(is_timestamp(text) || is_integer(&plain) || is_float(&plain) || is_sexagesimal(text))
        }
        _ => true,
    }
}

/// Decimal, or with a prefix: `0x`, `0o`, `0b`, or `0` for octal.
fn is_integer(text: &str) -> bool {
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, &lower[2..]),
        [b'0', b'o', ..] => (8, &lower[2..]),
        [b'0', b'b', ..] => (2, &lower[2..]),
        [b'0', _, ..] => (8, &lower[1..]),
        _ => (10, lower.as_str()),
    };
    let limit = if negative { 1 << 63 } else { u128::from(u64::MAX) };
    !digits.starts_with(['+', '-']) && u128::from_str_radix(digits, radix).is_ok_and(|it| it <= limit)
}

/// Digits with at most one point among them, and perhaps an exponent.
fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |it: &str| it.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mantissa_holds = digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty());
    let exponent_holds = exponent.is_none_or(|it| {
        let unsigned = it.strip_prefix(['+', '-']).unwrap_or(it);
        !unsigned.is_empty() && digits(unsigned)
    });
    mantissa_holds && exponent_holds
}

/// Numbers to the base 60, such as `190:20:30`: older readers take them for numbers.
fn is_sexagesimal(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let mut groups = whole.split(':');
    let first = groups.next().unwrap_or_default();
    let first_holds = first.starts_with(|it: char| it.is_ascii_digit())
        && first.bytes().all(|it| it.is_ascii_digit() || it == b'_');
    let rest: Vec<&str> = groups.collect();
    let rest_holds = !rest.is_empty()
        && rest.iter().all(|group| match group.as_bytes() {
            [one] => one.is_ascii_digit(),
            [tens, one] => (b'0'..=b'5').contains(tens) && one.is_ascii_digit(),
            _ => false,
        });
    first_holds && rest_holds && fraction.bytes().all(|it| it.is_ascii_digit() || it == b'_')
}

/// A date, alone or with a time behind `T`, `t` or a space; only the first two are followed by a zone.
fn is_timestamp(text: &str) -> bool {
    let Some((date, time)) = text
        .split_once(['T', 't', ' '])
        .map(|(date, time)| (date, Some(time)))
        .or(Some((text, None)))
    else {
        return false;
    };
    if !is_date(date) {
        return false;
    }
    match time {
        None => true,
        Some(time) if text.contains(' ') => is_time(time),
        Some(time) => zone_split(time).is_some_and(is_time),
    }
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else {
        return false;
    };
    year.len() == 4
        && in_range(year, 4, 0, 9999)
        && in_range(month, 2, 1, 12)
        && in_range(
            day,
            2,
            1,
            days_in(year.parse().unwrap_or(0), month.parse().unwrap_or(0)),
        )
}

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_time(text: &str) -> bool {
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (text, None),
    };
    let parts: Vec<&str> = clock.split(':').collect();
    let [hour, minute, second] = parts.as_slice() else {
        return false;
    };
    in_range(hour, 2, 0, 23)
        && in_range(minute, 2, 0, 59)
        && in_range(second, 2, 0, 59)
        && fraction.is_none_or(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The part in front of a zone: `Z`, or a sign with `hh:mm`.
fn zone_split(text: &str) -> Option<&str> {
    if let Some(clock) = text.strip_suffix('Z') {
        return Some(clock);
    }
    let (clock, zone) = text.rsplit_once(['+', '-'])?;
    let (hours, minutes) = zone.split_once(':')?;
    let holds =
        hours.len() == 2 && minutes.len() == 2 && in_range(hours, 2, 0, 24) && in_range(minutes, 2, 0, 60);
    holds.then_some(clock)
}

fn in_range(text: &str, longest: usize, low: u32, high: u32) -> bool {
    let digits = !text.is_empty() && text.len() <= longest && text.bytes().all(|it| it.is_ascii_digit());
    digits && text.parse::<u32>().is_ok_and(|it| (low..=high).contains(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_reads_back_as_a_string_is_a_string() {
        let strings = [
            "v1.33.2",
            "1.33.2",
            "10.0.0.1:6443",
            "0640x",
            "4m0s",
            "10.96.0.0/12",
            "hello",
            "-",
            "a: b",
            "0x",
            "1e",
            ".",
            "2026-13-01",
            "2026-1-2T3",
            "12:60",
            "nope",
            "08x",
            "node-1",
            "+",
            "1.2.3",
        ];
        for text in strings {
            assert!(is_read_as_string(text), "{text:?}");
        }
        let others = [
            "",
            "yes",
            "No",
            "on",
            "null",
            "~",
            "1",
            "-1",
            "+12",
            "0x1F",
            "0640",
            "089",
            "1_000",
            "1.5",
            ".5",
            "1.",
            "1e3",
            "-.inf",
            "2026-01-02",
            "2026-1-2",
            "2026-01-02T03:04:05Z",
            "2026-01-02 03:04:05.1",
            "1:30",
            "190:20:30.15",
            "18446744073709551615",
            "99999999999999999999",
        ];
        for text in others {
            assert!(!is_read_as_string(text), "{text:?}");
        }
    }
}
