//! Builds node images: for those who cannot pull one, and for Capstan's own tests.
//!
//! A node image is a Debian system with containerd and a given Kubernetes, whose component images are in it too. It
//! behaves as the images of kind do (entrypoint, `/kind/version`, `/kind/manifests/default-cni.yaml`). From the same
//! packages an image of the load balancer is made.
//!
//! ```text
//!   debootstrap ──► base.tar ──► Index ──┬── components ──► images.tar ──┐
//!   Kubernetes binaries ─────────────────┴── system ─────────────────────┴──► Engine: image import
//! ```

mod archive;
mod base;
mod component;
mod engine;
mod error;
mod packages;
mod system;

pub use engine::Engine;
pub use error::BuildError;

use std::path::{Path, PathBuf};

use component::Component;

/// The programs that the folder of binaries must hold.
pub const PROGRAMS: [&str; 14] = [
    "containerd",
    "containerd-shim-runc-v2",
    "coredns",
    "crictl",
    "ctr",
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-proxy",
    "kube-scheduler",
    "kubeadm",
    "kubectl",
    "kubelet",
    "pause",
];

/// What is built, from what.
#[derive(Debug, Clone)]
pub struct Recipe {
    /// The folder with [`PROGRAMS`].
    pub binaries: PathBuf,
    /// A Debian system as a tar archive that an earlier build left; made by debootstrap if it is not there.
    pub base: PathBuf,
    /// The Debian release.
    pub release: String,
    /// Where Debian's packages come from.
    pub mirror: String,
    /// The node image's name; `capstan/node:VERSION` if absent.
    pub tag: Option<String>,
    /// The load balancer image's name; none is built if absent.
    pub load_balancer_tag: Option<String>,
}

/// What was built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// The Kubernetes version.
    pub version: String,
    /// The node image.
    pub tag: String,
    /// The load balancer's image.
    pub load_balancer_tag: Option<String>,
}

/// Builds what `recipe` says and gives it to an Engine. `say` is told what is done, a line at a time.
pub async fn build(recipe: &Recipe, engine: &Engine, say: impl Fn(&str)) -> Result<Built, BuildError> {
    check_programs(&recipe.binaries)?;
    engine.ping().await?;
    let version = component::version(&recipe.binaries)?;
    if recipe.base.is_file() {
        say(&format!("base system: {} (made earlier)", recipe.base.display()));
    } else {
        say("base system: debootstrap, which takes minutes");
        base::make(&recipe.release, &recipe.mirror, &recipe.base)?;
    }
    let index = archive::Index::read(&recipe.base)?;
    let packages = packages::Packages::read(&index)?;
    let work = tempfile::tempdir().map_err(|it| BuildError::file("make", "a temporary folder", it))?;

    say(&format!("component images of Kubernetes {version}"));
    let components = component::all(&recipe.binaries, &version, &packages)?;
    let images = work.path().join("images.tar");
    component::write(&components, &index, work.path(), &images)?;

    let tag = recipe
        .tag
        .clone()
        .unwrap_or_else(|| format!("capstan/node:{}", version.replace('+', "_")));
    say(&format!("node image {tag}"));
    let system = work.path().join("system.tar");
    let parts = system::System {
        base: &recipe.base,
        binaries: &recipe.binaries,
        images: &images,
        version: &version,
        pause: named(&components, "pause")?,
        network: named(&components, "cni")?,
    };
    parts.write(&system)?;
    engine.import(&system, &tag, system::CHANGES).await?;

    if let Some(tag) = &recipe.load_balancer_tag {
        say(&format!("load balancer image {tag}"));
        let archive = work.path().join("load-balancer.tar");
        component::load_balancer(&packages, &index, &archive)?;
        engine
            .import(&archive, tag, component::LOAD_BALANCER_CHANGES)
            .await?;
    }
    Ok(Built {
        version,
        tag,
        load_balancer_tag: recipe.load_balancer_tag.clone(),
    })
}

/// The full name of the component image whose repository ends with `name`.
fn named<'a>(components: &'a [Component], name: &str) -> Result<&'a str, BuildError> {
    let found = components.iter().find(|it| it.program == name);
    found
        .map(|it| it.image.as_str())
        .ok_or_else(|| BuildError::Component(name.to_owned()))
}

fn check_programs(folder: &Path) -> Result<(), BuildError> {
    let missing: Vec<&str> = PROGRAMS
        .into_iter()
        .filter(|it| !folder.join(it).is_file())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(BuildError::Programs {
        folder: folder.to_owned(),
        missing: missing.join(", "),
    })
}
