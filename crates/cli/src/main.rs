//! The `capstan` binary: reads the command line, runs a verb, and reports errors as a chain with a hint.

mod apply;
mod arguments;
mod connect;
mod demo;
mod describe;
mod failure;
mod kubeconfig;
mod logging;
mod node_image;
mod plane;
mod signals;
mod terminal;
mod up;

use std::process::ExitCode;

use anyhow::Context as _;
use arguments::{Arguments, Describe, Get, NodeImage, Verb};
use clap::Parser as _;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(arguments.verb) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprint!("{}", failure::report(&error));
            ExitCode::FAILURE
        }
    }
}

fn run(verb: Verb) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("failed to start the runtime")?;
    runtime.block_on(async {
        match verb {
            Verb::Up(arguments) => up::up(arguments).await,
            Verb::Demo(arguments) => demo::demo(arguments).await,
            Verb::Describe(Describe::Cluster(arguments)) => describe::describe(arguments).await,
            Verb::Get(Get::Kubeconfig(arguments)) => kubeconfig::print(arguments).await,
            Verb::NodeImage(NodeImage::Build(arguments)) => node_image::build_image(arguments).await,
            Verb::Version => {
                println!("capstan {}", env!("CARGO_PKG_VERSION"));
                Ok(())
            }
        }
    })
}
