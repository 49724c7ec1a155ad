//! A condition of one object, mirrored in another.

use super::{Draft, Reason, Status};

/// What is said if the mirrored condition is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fallback {
    /// The status.
    pub status: Status,
    /// The reason.
    pub reason: Reason,
    /// The message.
    pub message: String,
}

/// How a condition is mirrored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirror<'a> {
    /// The type of the mirrored condition.
    pub source: &'a str,
    /// The type of the mirror.
    pub target: &'a str,
    /// What is said if the mirrored condition is not there; without it, that nothing was reported yet.
    pub fallback: Option<Fallback>,
}

impl Mirror<'_> {
    /// The mirror of what `conditions` say. It keeps the time at which the mirrored status changed.
    // Parity: cluster-api util/conditions/mirror.go:NewMirrorCondition
    pub fn of(&self, conditions: &[Draft]) -> Draft {
        if let Some(found) = conditions.iter().find(|it| it.type_ == self.source) {
            return Draft {
                type_: self.target.to_owned(),
                ..found.clone()
            };
        }
        if let Some(it) = &self.fallback {
            return Draft::new(self.target, it.status, it.reason, it.message.clone());
        }
        let message = format!("Condition {} not yet reported", self.source);
        Draft::new(self.target, Status::Unknown, Reason::NotYetReported, message)
    }
}

impl From<bool> for Status {
    fn from(claim: bool) -> Self {
        if claim { Self::True } else { Self::False }
    }
}

#[cfg(test)]
mod tests {
    use capstan_base::Timestamp;

    use super::*;

    #[test]
    fn a_mirror_keeps_the_time_and_falls_back() {
        let mirror = Mirror {
            source: "Ready",
            target: "InfrastructureReady",
            fallback: None,
        };
        let ready = Draft::new("Ready", Status::False, "Waiting", "m").since(Timestamp::UNIX_EPOCH);
        assert_eq!(
            mirror.of(&[ready]),
            Draft::new("InfrastructureReady", Status::False, "Waiting", "m").since(Timestamp::UNIX_EPOCH)
        );
        assert_eq!(
            mirror.of(&[]),
            Draft::new(
                "InfrastructureReady",
                Status::Unknown,
                "NotYetReported",
                "Condition Ready not yet reported"
            )
        );
        let message = "status.initialization.provisioned is false".to_owned();
        let fallback = Fallback {
            status: false.into(),
            reason: Reason::NotReady,
            message: message.clone(),
        };
        assert_eq!(
            Mirror {
                fallback: Some(fallback),
                ..mirror
            }
            .of(&[]),
            Draft::new("InfrastructureReady", Status::False, "NotReady", message)
        );
    }
}
