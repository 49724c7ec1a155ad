//! A plane on a real folder and a real port: started, refused, ended, started again.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use capstan_base::{SystemClock, SystemEntropy};
use capstan_manager::{Listen, Parts, Plane, Settings, StartError};
use capstan_pki::SystemKeys;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, Config, ResourceExt as _,
    api::ListParams,
    config::{KubeConfigOptions, Kubeconfig},
};

fn parts() -> Parts {
    let entropy = Arc::new(SystemEntropy);
    Parts::live(
        Arc::new(SystemClock),
        entropy.clone(),
        Arc::new(SystemKeys::new(entropy)),
    )
}

async fn start(folder: &Path, port: u16) -> Result<Plane, StartError> {
    let listen = Listen {
        address: ([127, 0, 0, 1], port).into(),
        advertise: None,
    };
    Plane::start(Settings {
        folder: folder.to_owned(),
        listen,
        parts: parts(),
    })
    .await
}

/// The installed definitions and the revision each was last written at.
async fn definitions(client: Client) -> BTreeMap<String, String> {
    let api = Api::<CustomResourceDefinition>::all(client);
    let list = api.list(&ListParams::default()).await.unwrap();
    list.items
        .iter()
        .map(|it| (it.name_any(), it.resource_version().unwrap()))
        .collect()
}

#[tokio::test]
async fn definitions_are_installed_once() {
    let folder = tempfile::tempdir().unwrap();
    let plane = start(folder.path(), 0).await.unwrap();
    let first = definitions(plane.client("test")).await;
    plane.stop().await;
    let plane = start(folder.path(), 0).await.unwrap();
    let second = definitions(plane.client("test")).await;
    plane.stop().await;
    assert!(first.contains_key("clusters.cluster.x-k8s.io"), "{first:?}");
    assert!(
        first.contains_key("devmachines.infrastructure.cluster.x-k8s.io"),
        "{first:?}"
    );
    assert_eq!(first, second);
}

#[tokio::test]
async fn the_kubeconfig_lets_the_administrator_in() {
    let folder = tempfile::tempdir().unwrap();
    let plane = start(folder.path(), 0).await.unwrap();
    let kubeconfig = Kubeconfig::read_from(plane.kubeconfig().unwrap()).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .unwrap();
    assert_eq!(
        config.cluster_url.to_string(),
        format!("{}/", plane.url().unwrap())
    );
    let outside = definitions(Client::try_from(config).unwrap()).await;
    assert_eq!(outside, definitions(plane.client("test")).await);
    plane.stop().await;
}

#[tokio::test]
async fn what_is_held_by_another_plane_is_refused_by_name() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let plane = start(one.path(), 0).await.unwrap();

    let error = start(one.path(), 0).await.unwrap_err();
    let StartError::Store(source) = error else {
        panic!("{error}")
    };
    assert_eq!(
        source.to_string(),
        format!(
            "failed to open the data folder {}: process {} has it open; stop that process or choose another folder",
            one.path().display(),
            std::process::id()
        )
    );

    let address = plane.address().unwrap();
    let error = start(other.path(), address.port()).await.unwrap_err();
    assert_eq!(error.to_string(), format!("failed to listen on {address}"));
    assert_eq!(
        error.hint().unwrap(),
        format!("another process listens on {address}: stop it, or choose another port with --listen")
    );
    plane.stop().await;
}
