//! `capstan get kubeconfig`: prints what lets the administrator into a workload cluster.

use std::io::{Write as _, stdout};

use anyhow::{Context as _, bail};
use capstan_api::core::Cluster;
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client};

use crate::{arguments::GetKubeconfig, connect, failure::Advised};

/// Prints the kubeconfig.
pub(crate) async fn print(arguments: GetKubeconfig) -> anyhow::Result<()> {
    let (client, namespace) = connect::connect(&arguments.place).await?;
    let kubeconfig = read(&client, &namespace, &arguments.name).await?;
    stdout()
        .write_all(&kubeconfig)
        .context("failed to print the kubeconfig")
}

/// The kubeconfig of a workload cluster, from the Secret that its control plane provider keeps it in.
pub(crate) async fn read(client: &Client, namespace: &str, name: &str) -> anyhow::Result<Vec<u8>> {
    let secrets = Api::<Secret>::namespaced(client.clone(), namespace);
    let secret = secrets
        .get_opt(&format!("{name}-kubeconfig"))
        .await
        .with_context(|| format!("failed to read the Secret {namespace}/{name}-kubeconfig"))?;
    if let Some(value) = secret.and_then(|it| it.data?.remove("value")) {
        return Ok(value.0);
    }
    let clusters = Api::<Cluster>::namespaced(client.clone(), namespace);
    let cluster = clusters
        .get_opt(name)
        .await
        .with_context(|| format!("failed to read the Cluster {namespace}/{name}"))?;
    bail!(match cluster {
        None => Advised::new(
            format!("there is no Cluster {namespace}/{name}"),
            "`kubectl get clusters --all-namespaces` shows those that exist",
        ),
        Some(_) => Advised::new(
            format!("the Cluster {namespace}/{name} has no kubeconfig yet"),
            format!(
                "its control plane is not that far: `capstan describe cluster {name} -n {namespace}` shows why"
            ),
        ),
    })
}
