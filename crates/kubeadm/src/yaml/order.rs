//! The order of keys: letters after everything else, digits as numbers.

use std::cmp::Ordering;

/// Compares two keys as the encoder sorts them: `a2` before `a10`, `_` before letters.
pub(super) fn compare(left: &str, right: &str) -> Ordering {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let Some(place) = left.iter().zip(&right).position(|(l, r)| l != r) else {
        return left.len().cmp(&right.len());
    };
    let (l, r) = (left[place], right[place]);
    match (l.is_alphabetic(), r.is_alphabetic()) {
        (true, true) => l.cmp(&r),
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => {
            // Digits in front of the difference belong to the number unless they are leading zeros.
            let started = (l == '0' || r == '0')
                && left[..place]
                    .iter()
                    .rev()
                    .take_while(|it| it.is_ascii_digit())
                    .any(|it| *it != '0');
            let (left_value, left_length) = number(&left[place..], started);
            let (right_value, right_length) = number(&right[place..], started);
            left_value
                .cmp(&right_value)
                .then(left_length.cmp(&right_length))
                .then(l.cmp(&r))
        }
    }
}

/// The number at the start of `text` and how many digits it has. `started` says that digits went before.
fn number(text: &[char], started: bool) -> (u128, usize) {
    let digits = text.iter().map_while(|it| it.to_digit(10)).map(u128::from);
    digits.fold((u128::from(started), 0), |(value, length), digit| {
        (value.saturating_mul(10).saturating_add(digit), length + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_by_people_not_by_bytes() {
        let mut keys = ["b", "a10", "a2", "a", "A", "a-b", "ab", "_a", "a02", "10", "9"];
        keys.sort_by(|left, right| compare(left, right));
        assert_eq!(
            keys,
            ["9", "10", "_a", "A", "a", "a-b", "a02", "a2", "a10", "ab", "b"]
        );
    }
}
