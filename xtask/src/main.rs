//! The project's own checks and chores: `cargo xtask tidy`.

mod floors;
mod tidy;

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

/// Checks and chores of the Capstan workspace.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Checks house rules that the compiler cannot: floors, file length, module docs, pure deciders.
    Tidy,
}

fn main() -> Result<ExitCode> {
    match Arguments::parse().command {
        Command::Tidy => tidy::run(&root()?),
    }
}

/// The workspace's root: the parent of this package.
fn root() -> Result<PathBuf> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent()
        .map(PathBuf::from)
        .context("xtask lies outside of a workspace")
}
