//! `capstan describe cluster`: fetch everything that belongs to a cluster, build a tree of it, render the tree.
//!
//! Parity: upstream `cmd/clusterctl/client/tree` and `internal/util/tree`; the same tree, table and flags.

mod build;
mod fetch;
mod item;
mod render;
mod select;
#[cfg(test)]
mod tests;
mod tree;

use std::io::{Write as _, stdout};

use anyhow::Context as _;
use capstan_base::{Clock as _, SystemClock};

use crate::{arguments::DescribeCluster, connect, terminal};
use tree::Options;

/// Prints the cluster as a tree.
pub(crate) async fn describe(arguments: DescribeCluster) -> anyhow::Result<()> {
    let (client, namespace) = connect::connect(&arguments.place).await?;
    let facts = fetch::fetch(&client, &namespace, &arguments.name, arguments.show_resourcesets).await?;
    let options = Options {
        show_conditions: arguments.show_conditions,
        show_machine_sets: arguments.show_machinesets,
        show_templates: arguments.show_templates,
        echo: arguments.echo,
        grouping: arguments.grouping,
    };
    let tree = build::build(&facts, &options);
    let text = render::render(&tree, SystemClock.now(), terminal::colors(arguments.color));
    stdout()
        .write_all(text.as_bytes())
        .context("failed to print the tree")
}
