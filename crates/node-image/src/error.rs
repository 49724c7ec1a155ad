//! What can go wrong while an image is built, said with the fix.

use std::path::PathBuf;

/// Why an image could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Programs are missing.
    #[error("{folder} lacks {missing}: put static builds of them there", folder = .folder.display())]
    Programs {
        /// The folder of binaries.
        folder: PathBuf,
        /// Their names.
        missing: String,
    },
    /// A program could not be run, or failed.
    #[error("{program} failed: {message}")]
    Program {
        /// The program.
        program: String,
        /// What it said.
        message: String,
    },
    /// A package is not in the base system.
    #[error("the base system has no package {0}: remove the base archive, and it is made anew")]
    Package(String),
    /// kubeadm asks for an image that is not known here.
    #[error("nobody knows how to make the image of {0}")]
    Component(String),
    /// A file could not be read or written.
    #[error("failed to {operation} {path}: {source}")]
    File {
        /// What was tried, as a verb.
        operation: &'static str,
        /// On what.
        path: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// The Engine refused, or does not answer.
    #[error("failed to {operation} at {address}: {source}")]
    Engine {
        /// What was tried, as a verb.
        operation: String,
        /// The Engine's address.
        address: String,
        /// Why it failed.
        source: bollard::errors::Error,
    },
}

impl BuildError {
    pub(crate) fn file(
        operation: &'static str,
        path: impl AsRef<std::path::Path>,
        source: std::io::Error,
    ) -> Self {
        Self::File {
            operation,
            path: path.as_ref().display().to_string(),
            source,
        }
    }

    pub(crate) fn program(program: &str, message: impl Into<String>) -> Self {
        Self::Program {
            program: program.to_owned(),
            message: message.into(),
        }
    }
}
