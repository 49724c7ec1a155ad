//! A number of things or a percentage of them: surge, unavailability, repairs in flight.

use std::{fmt, str::FromStr};

/// A number, or a percentage of a total that is known later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntOrPercent {
    /// That many.
    Int(i32),
    /// So many of a hundred.
    Percent(i32),
}

/// Which way a percentage of a total goes that is not whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// To the next higher number: what may be too many.
    Up,
    /// To the next lower number: what may be missing.
    Down,
}

/// A text that is no percentage.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParsePercentError {
    /// It does not end in `%`.
    #[error("invalid type: string is not a percentage")]
    NoPercentage,
    /// What stands before the `%` is no number.
    #[error("invalid value {text:?}: {number:?} is not a number")]
    NoNumber {
        /// The whole text.
        text: String,
        /// What stands before the `%`.
        number: String,
    },
}

impl IntOrPercent {
    /// How many that is of `total`.
    // Parity: apimachinery util/intstr:GetScaledValueFromIntOrPercent
    pub fn of(self, total: i32, rounding: Rounding) -> i32 {
        match self {
            Self::Int(number) => number,
            Self::Percent(percent) => {
                let product = i64::from(percent) * i64::from(total);
                let floor = product.div_euclid(100);
                let whole = product.rem_euclid(100) == 0;
                let scaled = if rounding == Rounding::Down || whole {
                    floor
                } else {
                    floor + 1
                };
                i32::try_from(scaled).unwrap_or(if scaled < 0 { i32::MIN } else { i32::MAX })
            }
        }
    }
}

impl FromStr for IntOrPercent {
    type Err = ParsePercentError;

    /// Reads a percentage. A plain number is no text on the wire and therefore refused.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_suffix('%').ok_or(ParsePercentError::NoPercentage)?;
        number
            .parse()
            .map(Self::Percent)
            .map_err(|_| ParsePercentError::NoNumber {
                text: text.to_owned(),
                number: number.to_owned(),
            })
    }
}

impl fmt::Display for IntOrPercent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(number) => write!(f, "{number}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surge_rounds_up_and_unavailability_down() {
        for (value, total, up, down) in [
            (IntOrPercent::Int(3), 10, 3, 3),
            (IntOrPercent::Percent(25), 10, 3, 2),
            (IntOrPercent::Percent(50), 10, 5, 5),
            (IntOrPercent::Percent(0), 10, 0, 0),
            (IntOrPercent::Percent(1), 1, 1, 0),
            (IntOrPercent::Percent(-25), 10, -2, -3),
            (IntOrPercent::Percent(i32::MAX), i32::MAX, i32::MAX, i32::MAX),
        ] {
            assert_eq!(
                (value.of(total, Rounding::Up), value.of(total, Rounding::Down)),
                (up, down),
                "{value}"
            );
        }
    }

    #[test]
    fn only_percentages_are_texts() {
        assert_eq!("30%".parse(), Ok(IntOrPercent::Percent(30)));
        for (text, error) in [
            ("30", "invalid type: string is not a percentage"),
            ("a%", "invalid value \"a%\": \"a\" is not a number"),
        ] {
            assert_eq!(
                text.parse::<IntOrPercent>().map_err(|it| it.to_string()),
                Err(error.to_owned())
            );
        }
    }
}
