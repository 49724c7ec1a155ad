//! The way to the management plane: as kubectl finds it, or as the flags say.

use anyhow::Context as _;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};

use crate::{arguments::Place, failure::Advised};

/// A client of the management plane, and the namespace that was asked for.
pub(crate) async fn connect(place: &Place) -> anyhow::Result<(Client, String)> {
    let options = KubeConfigOptions {
        context: place.kubeconfig_context.clone(),
        ..KubeConfigOptions::default()
    };
    let config = match &place.kubeconfig {
        Some(file) => {
            let read = || format!("failed to read the kubeconfig {}", file.display());
            let kubeconfig = Kubeconfig::read_from(file).with_context(read)?;
            Config::from_custom_kubeconfig(kubeconfig, &options).await.with_context(read)?
        }
        None => Config::from_kubeconfig(&options).await.map_err(|error| {
            anyhow::Error::new(error).context(Advised::new(
                "failed to find the management plane",
                "set KUBECONFIG, or say which one with --kubeconfig; `capstan up` prints where it wrote its own",
            ))
        })?,
    };
    let namespace = place
        .namespace
        .clone()
        .unwrap_or_else(|| config.default_namespace.clone());
    let client =
        Client::try_from(config).context("failed to set up the connection to the management plane")?;
    Ok((client, namespace))
}
