//! `capstan node-image build`: makes a node image where none can be pulled.

use std::path::{Path, PathBuf};

use capstan_node_image::{Engine, Recipe, build};

use crate::arguments::BuildNodeImage;

/// Builds an image, telling what it does.
pub(crate) async fn build_image(arguments: BuildNodeImage) -> anyhow::Result<()> {
    let recipe = Recipe {
        base: arguments
            .base
            .unwrap_or_else(|| base(&cache(), &arguments.debian_release)),
        binaries: arguments.kubernetes_binaries,
        release: arguments.debian_release,
        mirror: arguments.debian_mirror,
        tag: arguments.tag,
        load_balancer_tag: arguments.load_balancer_tag,
    };
    let engine = Engine::at(arguments.docker_host);
    let built = build(&recipe, &engine, |line| eprintln!("{line}")).await?;
    println!("{}", built.tag);
    if let Some(tag) = built.load_balancer_tag {
        println!("{tag}");
    }
    Ok(())
}

/// Where the base system is kept for the next build.
fn base(cache: &Path, release: &str) -> PathBuf {
    cache.join(format!("node-image/base-{release}.tar"))
}

fn cache() -> PathBuf {
    let told = std::env::var_os("CAPSTAN_CACHE").map(PathBuf::from);
    let home = || std::env::home_dir().map(|it| it.join(".cache/capstan"));
    told.or_else(home).unwrap_or_else(std::env::temp_dir)
}
