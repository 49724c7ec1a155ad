//! The embedded plane of `up` and `demo`: live parts, where its data is, and its orderly end.

use std::{num::NonZeroUsize, path::PathBuf, sync::Arc};

use anyhow::Context as _;
use capstan_base::{SystemClock, SystemEntropy};
use capstan_manager::{Listen, Parts, Plane, Settings};
use capstan_pki::{KeyPool, KeySource, SystemKeys};

use crate::{arguments::DockerEngine, failure::Advised, signals::StopSignals};

/// RSA keys that are kept ready: as many as one new cluster needs at once.
const KEYS_AHEAD: NonZeroUsize = NonZeroUsize::new(4).expect("invariant: four is not zero");

/// Starts a plane on `folder`.
pub(crate) async fn start(folder: PathBuf, listen: Listen, docker: DockerEngine) -> anyhow::Result<Plane> {
    let entropy = Arc::new(SystemEntropy);
    let keys: Arc<dyn KeySource> = match KeyPool::start(entropy.clone(), KEYS_AHEAD) {
        Ok(pool) => Arc::new(pool),
        // Without a thread to spare, keys are made when they are needed.
        Err(_) => Arc::new(SystemKeys::new(entropy.clone())),
    };
    let parts = Parts {
        docker: Some(docker.settings()),
        ..Parts::live(Arc::new(SystemClock), entropy, keys)
    };
    let settings = Settings {
        folder,
        listen,
        parts,
    };
    Plane::start(settings)
        .await
        .context("failed to start the management plane")
}

/// Ends a plane in order, unless a second signal asks for haste.
pub(crate) async fn stop(plane: Plane, signals: &mut StopSignals) {
    tokio::select! {
        biased;
        () = plane.stop() => {}
        () = signals.wait() => {}
    }
}

/// The data folder: as told, else where the user's data belongs. Absolute, so that what is printed of it holds in every
/// folder.
pub(crate) fn data_folder(told: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    if let Some(folder) = told {
        let unusable = || format!("failed to find the data folder {}", folder.display());
        return std::path::absolute(&folder).with_context(unusable);
    }
    let data = std::env::var_os("XDG_DATA_HOME")
        .filter(|it| !it.is_empty())
        .map(PathBuf::from);
    let home = || std::env::home_dir().map(|it| it.join(".local/share"));
    let unknown = || {
        Advised::new(
            "there is no home folder to keep data in",
            "say where with --data-dir",
        )
    };
    Ok(data.or_else(home).ok_or_else(unknown)?.join("capstan"))
}
