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
        if let Some(kube::Error::Api(status)) = cause.downcast_ref() {
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
    fn a_cause_is_not_said_twice() {
        let cause = anyhow::anyhow!("the disk is full");
        let error = cause.context("failed to write a: the disk is full");
        assert_eq!(report(&error), "error: failed to write a: the disk is full\n");
    }
}
