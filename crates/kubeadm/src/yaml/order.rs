//! The order of keys: letters after everything else, digits as numbers.

use std::cmp::Ordering;

/// Sorts entries by their keys. Odd sets of keys have no total order under [`compare`], which the standard library's
/// sort may answer with a panic; this one ends in any case. Such maps have few entries.
pub(super) fn sort<T>(entries: &mut [(&String, T)]) {
    for end in 1..entries.len() {
        let mut place = end;
        while place > 0 && compare(entries[place].0, entries[place - 1].0).is_lt() {
            entries.swap(place, place - 1);
            place -= 1;
        }
    }
}

/// Compares two keys as the encoder sorts them: `a2` before `a10`, `_` before letters.
fn compare(left: &str, right: &str) -> Ordering {
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
        let keys = ["b", "a10", "a2", "a", "A", "a-b", "ab", "_a", "a02", "10", "9"];
        let keys = keys.map(str::to_owned);
        let mut entries: Vec<(&String, ())> = keys.iter().map(|it| (it, ())).collect();
        sort(&mut entries);
        let sorted: Vec<&str> = entries.iter().map(|(key, ())| key.as_str()).collect();
        assert_eq!(
            sorted,
            ["_a", "9", "10", "A", "a", "a-b", "a2", "a02", "a10", "ab", "b"]
        );
    }
}
