//! A provider's own condition as the core's objects show it.

use capstan_api::condition::{Draft, Fallback, Mirror, Reason, Status, Type, foreign_conditions};
use capstan_contract::External;
use capstan_engine::ReadFailure;

/// The object's `Ready` condition under another type. Where the object has none, the contract's flag says it: `field`
/// names the flag in the message, `reasons` are those of a flag that is set and of one that is not.
pub(crate) fn ready(
    external: &External,
    target: Type,
    flag: bool,
    reasons: (Reason, Reason),
    field: &str,
) -> Draft {
    of(external, Type::Ready, target, flag, reasons, field)
}

/// What is said of an object that cannot be read: not whether it is well, but why nobody knows.
// Differs: upstream sends its readers to the controller's log.
pub(crate) fn unreadable(target: Type, why: &ReadFailure) -> Draft {
    Draft::new(target, Status::Unknown, Reason::InternalError, why.to_string())
}

/// A condition of the object under another type. See [`ready`].
pub(crate) fn of(
    external: &External,
    source: Type,
    target: Type,
    flag: bool,
    reasons: (Reason, Reason),
    field: &str,
) -> Draft {
    let conditions = match foreign_conditions(&external.object.data) {
        Ok(conditions) => conditions,
        Err(error) => {
            return Draft::new(
                target,
                Status::Unknown,
                Reason::InvalidConditionReported,
                error.to_string(),
            );
        }
    };
    let message = if flag {
        String::new()
    } else {
        format!("{} {field} is false", external.kind.kind)
    };
    let reason = if flag { reasons.0 } else { reasons.1 };
    let mirror = Mirror {
        source: source.as_str(),
        target: target.as_str(),
        fallback: Some(Fallback {
            status: flag.into(),
            reason,
            message,
        }),
    };
    let mut draft = mirror.of(&conditions);
    if draft.reason == Reason::NoReasonReported.as_str() && draft.status == Status::True {
        reasons.0.as_str().clone_into(&mut draft.reason);
    }
    draft
}
