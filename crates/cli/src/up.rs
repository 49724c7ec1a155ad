//! `capstan up`: the management plane in the foreground, until it is told to stop.

use std::{
    io::{Write as _, stdout},
    path::Path,
};

use capstan_base::{Clock as _, SystemClock};
use capstan_manager::Listen;

use crate::{arguments::Up, logging, plane, signals::StopSignals};

/// Runs the plane until a signal.
pub(crate) async fn up(arguments: Up) -> anyhow::Result<()> {
    let begin = SystemClock.now();
    logging::start(arguments.log_format, &arguments.log_level)?;
    let mut signals = StopSignals::catch()?;
    let folder = plane::data_folder(arguments.data_dir)?;
    let listen = Listen {
        address: arguments.listen,
        advertise: arguments.advertise,
    };
    let plane = plane::start(folder.clone(), listen, arguments.docker).await?;

    let took = SystemClock.now().duration_since(begin).as_millis();
    let url = plane.url().unwrap_or_default().to_owned();
    let kubeconfig = plane.kubeconfig().unwrap_or(&folder).to_owned();
    // The log goes to standard error, so whoever reads that one alone learns it there too.
    if !logging::is_human(arguments.log_format) {
        tracing::info!(
            url,
            folder = %folder.display(),
            kubeconfig = %kubeconfig.display(),
            milliseconds = i64::try_from(took).unwrap_or(i64::MAX),
            "the management plane is up"
        );
    }
    let text = greeting(took, &url, &folder, &kubeconfig);
    // A reader that closed standard output does not end the plane.
    let _ = stdout()
        .write_all(text.as_bytes())
        .and_then(|()| stdout().flush());
    signals.wait().await;
    tracing::info!("stopping");
    plane::stop(plane, &mut signals).await;
    tracing::info!("stopped");
    Ok(())
}

/// What was done, and how to go on.
fn greeting(milliseconds: i128, url: &str, folder: &Path, kubeconfig: &Path) -> String {
    let (folder, kubeconfig) = (folder.display(), kubeconfig.display());
    format!(
        "\
Capstan is up after {milliseconds} ms.
  API server   {url}
  data         {folder}
  kubeconfig   {kubeconfig}

Go on in another terminal:
  export KUBECONFIG={kubeconfig}
  kubectl apply -f examples/cluster.yaml     # a cluster of 3 + 3 machines in memory
  kubectl get clusters,machines
  capstan describe cluster demo
  capstan get kubeconfig demo > demo.kubeconfig

Ctrl-C stops the plane; the next `capstan up` goes on where it was.
"
    )
}
