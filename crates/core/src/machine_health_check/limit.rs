//! May anything be repaired at all? Where too much is unhealthy at once, the cause is somewhere else, and repairs would
//! make it worse.
// Parity: upstream core/reconcilers/machinehealthcheck/machinehealthcheck_controller.go:isAllowedRemediation

use capstan_api::{IntOrString, core::RemediationTrigger};
use capstan_base::int_or_percent::{IntOrPercent, Rounding};

/// Whether repairs are allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Limit {
    /// They are; so many more Machines may become unhealthy before they are not.
    Allowed(i32),
    /// They are not, and why.
    Forbidden(String),
}

/// Judges `unhealthy` of `total` Machines.
pub(super) fn limit(trigger: &RemediationTrigger, total: i32, unhealthy: i32) -> Limit {
    let forbidden = |what: &str, name: &str, limit: &str| {
        Limit::Forbidden(format!(
            "Remediation is not allowed, the number of not started or unhealthy machines {what} (total: {total}, \
             unhealthy: {unhealthy}, {name}: {limit})"
        ))
    };
    if let Some(range) = trigger.unhealthy_in_range.as_deref().filter(|it| !it.is_empty()) {
        return match parse_range(range) {
            Some((least, most)) if (least..=most).contains(&unhealthy) => Limit::Allowed(most - unhealthy),
            _ => forbidden("does not fall within the range", "unhealthyRange", range),
        };
    }
    let most = trigger.unhealthy_less_than_or_equal_to.clone();
    let most = most.unwrap_or_else(|| IntOrString::String("100%".to_owned()));
    let (text, number) = match &most {
        IntOrString::Int(number) => (number.to_string(), Some(*number)),
        IntOrString::String(text) => {
            let parsed = text.parse::<IntOrPercent>().ok();
            (text.clone(), parsed.map(|it| it.of(total, Rounding::Down)))
        }
    };
    match number {
        Some(most) if unhealthy <= most => Limit::Allowed(most - unhealthy),
        _ => forbidden("exceeds maxUnhealthy", "maxUnhealthy", &text),
    }
}

/// `[3-5]`, both ends included.
fn parse_range(text: &str) -> Option<(i32, i32)> {
    let (least, most) = text.strip_prefix('[')?.strip_suffix(']')?.split_once('-')?;
    Some((least.parse().ok()?, most.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repairs_are_allowed_within_their_limit() {
        let most = |it: IntOrString| RemediationTrigger {
            unhealthy_less_than_or_equal_to: Some(it),
            unhealthy_in_range: None,
        };
        let range = |it: &str| RemediationTrigger {
            unhealthy_in_range: Some(it.to_owned()),
            ..most(IntOrString::Int(0))
        };
        let percent = |it: &str| most(IntOrString::String(it.to_owned()));
        for (name, trigger, total, unhealthy, allowed) in [
            ("no limit", RemediationTrigger::default(), 3, 3, Some(0)),
            ("a number", most(IntOrString::Int(2)), 5, 1, Some(1)),
            ("a number exceeded", most(IntOrString::Int(2)), 5, 3, None),
            ("a percentage is rounded down", percent("40%"), 4, 1, Some(0)),
            ("a percentage exceeded", percent("40%"), 4, 2, None),
            ("nonsense allows nothing", percent("many"), 4, 0, None),
            ("in the range", range("[1-3]"), 9, 1, Some(2)),
            ("below the range", range("[2-3]"), 9, 1, None),
            ("above the range", range("[1-3]"), 9, 4, None),
            ("a range the wrong way round", range("[3-1]"), 9, 2, None),
        ] {
            let found = match limit(&trigger, total, unhealthy) {
                Limit::Allowed(more) => Some(more),
                Limit::Forbidden(_) => None,
            };
            assert_eq!(found, allowed, "{name}");
        }
    }

    #[test]
    fn a_limit_that_is_exceeded_is_named() {
        let trigger = RemediationTrigger {
            unhealthy_less_than_or_equal_to: Some(IntOrString::String("40%".to_owned())),
            unhealthy_in_range: None,
        };
        let expected = "Remediation is not allowed, the number of not started or unhealthy machines exceeds maxUnhealthy \
                        (total: 4, unhealthy: 2, maxUnhealthy: 40%)";
        assert_eq!(limit(&trigger, 4, 2), Limit::Forbidden(expected.to_owned()));
    }
}
