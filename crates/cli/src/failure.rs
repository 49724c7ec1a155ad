//! Errors as people read them: what failed, why, and what to do about it.

use std::{error::Error, fmt};

use capstan_manager::StartError;

/// An error that knows what the user can do about it.
#[derive(Debug)]
pub(crate) struct Advised {
    message: String,
    hint: String,
}

impl Advised {
    /// An error with a hint.
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: hint.into(),
        }
    }
}

impl fmt::Display for Advised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Advised {}

/// The error, what caused it, and a hint if anything in the chain has one.
pub(crate) fn report(error: &anyhow::Error) -> String {
    let mut lines = vec![format!("error: {error}")];
    for cause in error.chain().skip(1) {
        // An API server's refusal says everything in its message; the rest of its chain is the same in a form for
        // machines.
        if let Some(kube::Error::Api(status)) = kube_error(cause) {
            lines.push(format!("  because: {}", status.message));
            break;
        }
        let cause = cause.to_string();
        // Some libraries repeat their source in their own text.
        if !lines.last().is_some_and(|it| it.ends_with(&cause)) {
            lines.push(format!("  because: {cause}"));
        }
    }
    let mut text = lines.join("\n") + "\n";
    if let Some(hint) = error.chain().find_map(hint) {
        text = format!("{text}hint: {hint}\n");
    }
    text
}

/// The client's error, which some errors keep in a box.
fn kube_error<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a kube::Error> {
    let boxed = || cause.downcast_ref::<Box<kube::Error>>().map(Box::as_ref);
    cause.downcast_ref().or_else(boxed)
}

fn hint(error: &(dyn Error + 'static)) -> Option<String> {
    let advised = error.downcast_ref::<Advised>().map(|it| it.hint.clone());
    advised.or_else(|| error.downcast_ref::<StartError>().and_then(StartError::hint))
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;
    use expect_test::expect;

    use super::*;

    #[test]
    fn an_error_is_a_chain_with_a_hint() {
        let error = Err::<(), _>(Advised::new("no file \"x\"", "make one"))
            .context("failed to apply x")
            .unwrap_err();
        expect![[r#"
            error: failed to apply x
              because: no file "x"
            hint: make one
        "#]]
        .assert_eq(&report(&error));
    }

    #[test]
    fn an_answer_of_the_server_is_told_by_its_message_alone() {
        let refused = || {
            let status = kube::core::Status::failure("the disk is full", "InternalError").with_code(500);
            kube::Error::Api(Box::new(status))
        };
        let boxed = StartError::Definition {
            name: "a.b.c".to_owned(),
            source: Box::new(refused()),
        };
        for (error, said) in [
            (
                anyhow::Error::new(refused()).context("failed to apply a"),
                "failed to apply a",
            ),
            (
                boxed.into(),
                "failed to install the CustomResourceDefinition a.b.c",
            ),
        ] {
            assert_eq!(
                report(&error),
                format!("error: {said}\n  because: the disk is full\n")
            );
        }
    }

    #[test]
    fn a_cause_is_not_said_twice() {
        let cause = anyhow::anyhow!("the disk is full");
        let error = cause.context("failed to write a: the disk is full");
        assert_eq!(report(&error), "error: failed to write a: the disk is full\n");
    }
}
