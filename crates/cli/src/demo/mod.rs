//! `capstan demo`: an embedded plane, a cluster from a manifest, and a live view of it until it runs.

mod view;

use std::{
    fs,
    io::{IsTerminal as _, Write as _, stdout},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, bail};
use capstan_api::{
    controlplane::KubeadmControlPlane,
    core::{Cluster, Machine, MachineDeployment},
};
use capstan_base::{Clock as _, SystemClock, Timestamp};
use capstan_engine::{Cache, Engine, ObjectKey};
use capstan_manager::{Listen, Plane};
use kube::{ResourceExt as _, api::DynamicObject};
use tokio::time;

use crate::{
    apply,
    arguments::{Demo, LogFormat},
    failure::Advised,
    logging, plane,
    signals::StopSignals,
    terminal::{Screen, colors},
};
use view::{Facts, View};

/// The manifest that is applied if none is named.
const MANIFEST: &str = include_str!("../../../../examples/cluster.yaml");
/// How often the view is drawn: often enough to look alive.
const FRAME: Duration = Duration::from_millis(200);
/// How long the cluster may take. The machines of the example need a few seconds; real ones need minutes.
const LIMIT: Duration = Duration::from_secs(10 * 60);

/// Brings a cluster to Running, and shows how.
pub(crate) async fn demo(arguments: Demo) -> anyhow::Result<()> {
    // The view is what people watch here: of the log only what went wrong.
    logging::start(LogFormat::Human, "error")?;
    let mut signals = StopSignals::catch()?;
    let (manifest, source) = manifest(arguments.file.as_deref())?;
    let objects = apply::parse(&manifest, &source)?;
    let cluster = cluster_of(&objects, &source)?;
    let folder = Folder::new(arguments.data_dir)?;
    let listen = Listen {
        address: arguments.listen,
        advertise: None,
    };
    let plane = plane::start(folder.path().to_owned(), listen, arguments.docker.clone()).await?;

    let outcome = tokio::select! {
        biased;
        () = signals.wait() => Err(anyhow::anyhow!("stopped before {cluster} was running")),
        outcome = bring_up(&plane, &objects, &source, &cluster) => outcome,
    };
    if outcome.is_ok() {
        print!("{}", next_commands(&plane, &folder, &cluster, arguments.keep));
        if arguments.keep {
            signals.wait().await;
        }
    }
    plane::stop(plane, &mut signals).await;
    outcome
}

fn manifest(file: Option<&Path>) -> anyhow::Result<(String, String)> {
    let Some(file) = file else {
        return Ok((MANIFEST.to_owned(), "examples/cluster.yaml".to_owned()));
    };
    let text = fs::read_to_string(file).with_context(|| format!("failed to read {}", file.display()))?;
    Ok((text, file.display().to_string()))
}

/// The cluster that the demo is about: the only one of the manifest.
fn cluster_of(objects: &[DynamicObject], source: &str) -> anyhow::Result<ObjectKey> {
    let is_cluster = |it: &&DynamicObject| {
        let types = it.types.as_ref();
        types.is_some_and(|it| it.kind == Cluster::KIND && it.api_version.starts_with("cluster.x-k8s.io/"))
    };
    let mut clusters = objects.iter().filter(is_cluster);
    match (clusters.next(), clusters.next()) {
        (Some(cluster), None) => {
            let namespace = cluster.namespace().unwrap_or_else(|| "default".to_owned());
            Ok(ObjectKey::new(namespace, cluster.name_any()))
        }
        _ => bail!(Advised::new(
            format!("{source} does not have exactly one Cluster"),
            "the demo shows one cluster; for more, use `capstan up` and `kubectl apply`",
        )),
    }
}

/// The data folder: one that goes with the demo, or one that stays.
enum Folder {
    Temporary(tempfile::TempDir),
    Kept(PathBuf),
}

impl Folder {
    fn new(told: Option<PathBuf>) -> anyhow::Result<Self> {
        match told {
            Some(folder) => Ok(Self::Kept(folder)),
            None => tempfile::Builder::new()
                .prefix("capstan-demo-")
                .tempdir()
                .map(Self::Temporary)
                .context("failed to create a temporary folder"),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Temporary(folder) => folder.path(),
            Self::Kept(folder) => folder,
        }
    }
}

async fn bring_up(
    plane: &Plane,
    objects: &[DynamicObject],
    source: &str,
    cluster: &ObjectKey,
) -> anyhow::Result<()> {
    let begin = SystemClock.now();
    println!(
        "Management plane up at {}, data in {}.",
        plane.url().unwrap_or_default(),
        folder_of(plane)
    );
    apply::apply(&plane.client("capstan-demo"), objects, |_| ()).await?;
    println!(
        "Applied {source}: {} objects. Now the controllers bring {cluster} up.\n",
        objects.len()
    );
    watch(&Sources::new(plane.engine(), cluster), begin).await?;
    let seconds = SystemClock.now().duration_since(begin).as_secs_f64();
    println!("\n{cluster} is available and all its machines run, {seconds:.1} s after it was applied.");
    Ok(())
}

fn folder_of(plane: &Plane) -> String {
    let folder = plane.kubeconfig().and_then(Path::parent);
    folder.map(|it| it.display().to_string()).unwrap_or_default()
}

/// The controllers' own caches: watching costs no request.
struct Sources {
    key: ObjectKey,
    clusters: Cache<Cluster>,
    control_planes: Cache<KubeadmControlPlane>,
    machine_deployments: Cache<MachineDeployment>,
    machines: Cache<Machine>,
}

impl Sources {
    fn new(engine: &Engine, cluster: &ObjectKey) -> Self {
        Self {
            key: cluster.clone(),
            clusters: engine.cache(),
            control_planes: engine.cache(),
            machine_deployments: engine.cache(),
            machines: engine.cache(),
        }
    }

    fn facts(&self) -> Facts {
        let ObjectKey { namespace, name } = &self.key;
        let mut facts = Facts {
            cluster: self.clusters.get(&self.key),
            control_plane: None,
            machine_deployments: self.machine_deployments.in_namespace(namespace),
            machines: self.machines.in_namespace(namespace),
        };
        facts
            .machine_deployments
            .retain(|it| it.spec.cluster_name == *name);
        facts.machines.retain(|it| it.spec.cluster_name == *name);
        let reference = facts
            .cluster
            .as_ref()
            .and_then(|it| it.spec.control_plane_ref.as_ref());
        facts.control_plane = reference.and_then(|it| {
            self.control_planes
                .get(&ObjectKey::new(namespace.as_str(), it.name.as_str()))
        });
        facts
    }
}

/// Shows the cluster until it runs. On a terminal the tree is drawn in place; elsewhere each change is a line.
async fn watch(sources: &Sources, begin: Timestamp) -> anyhow::Result<()> {
    let (is_terminal, colors) = (stdout().is_terminal(), colors(None));
    let mut screen = Screen::default();
    let mut before = View::default();
    let mut frames = time::interval(FRAME);
    loop {
        frames.tick().await;
        let view = View::of(&sources.facts());
        let elapsed = SystemClock.now().duration_since(begin);
        let mut out = stdout().lock();
        if is_terminal {
            screen.draw(&mut out, &view.tree(elapsed.as_secs(), colors))?;
        } else {
            for line in view.changes(&before) {
                writeln!(out, "{:6.1}s  {line}", elapsed.as_secs_f64())?;
            }
            out.flush()?;
        }
        drop(out);
        if view.is_done {
            return Ok(());
        }
        if elapsed.unsigned_abs() > LIMIT {
            bail!(Advised::new(
                format!(
                    "{} is not running after {} minutes:\n{}",
                    sources.key,
                    LIMIT.as_secs() / 60,
                    view.obstacles()
                ),
                "run it again with --data-dir and --keep, and look with `capstan describe cluster`",
            ));
        }
        before = view;
    }
}

/// What to try next.
fn next_commands(plane: &Plane, folder: &Folder, cluster: &ObjectKey, keep: bool) -> String {
    let kubeconfig = plane
        .kubeconfig()
        .unwrap_or(Path::new("kubeconfig"))
        .display()
        .to_string();
    let name = &cluster.name;
    let commands = format!(
        "  export KUBECONFIG={kubeconfig}\n  kubectl get clusters,machines\n  capstan describe cluster {name}\n  \
         capstan get kubeconfig {name} > {name}.kubeconfig\n  kubectl --kubeconfig {name}.kubeconfig get nodes\n"
    );
    match (keep, folder) {
        (true, _) => format!("\nThe plane stays up; Ctrl-C ends it. Try in another terminal:\n{commands}"),
        (false, Folder::Kept(folder)) => format!(
            "\nGo on where the demo ends:\n  capstan up --data-dir {} &\n{commands}",
            folder.display()
        ),
        (false, Folder::Temporary(_)) => {
            "\nTry next:\n  capstan demo --keep     # the same, and stays up for kubectl\n  \
             capstan up              # a management plane that lasts\n"
                .to_owned()
        }
    }
}
