//! The project's own checks and chores: `cargo xtask tidy`, `cargo xtask sim`.

mod floors;
mod tidy;

use std::{
    path::PathBuf,
    process::{Command, ExitCode},
};

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

/// Checks and chores of the Capstan workspace.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Checks house rules that the compiler cannot: floors, file length, module docs, pure deciders.
    Tidy,
    /// Runs the simulator: whole lives of clusters under every fault. See `cargo xtask sim --help`.
    #[command(disable_help_flag = true)]
    Sim {
        /// What the simulator is asked.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

fn main() -> Result<ExitCode> {
    match Arguments::parse().command {
        Chore::Tidy => tidy::run(&root()?),
        Chore::Sim { arguments } => simulate(&arguments),
    }
}

/// Builds the simulator, apart from this program so that checks stay quick to build, and runs it. It is built with the
/// whole workspace's features, so that nothing is compiled twice.
fn simulate(arguments: &[String]) -> Result<ExitCode> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--quiet", "--workspace", "--bin", "sim"])
        .status()
        .context("failed to run cargo")?;
    if !built.success() {
        return Ok(ExitCode::FAILURE);
    }
    let own = std::env::current_exe().context("failed to find this program")?;
    let status = Command::new(own.with_file_name("sim"))
        .args(arguments)
        .status()
        .context("failed to run the simulator")?;
    let code = status.code().and_then(|it| u8::try_from(it).ok()).unwrap_or(1);
    Ok(ExitCode::from(code))
}

/// The workspace's root: the parent of this package.
fn root() -> Result<PathBuf> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent()
        .map(PathBuf::from)
        .context("xtask lies outside of a workspace")
}
