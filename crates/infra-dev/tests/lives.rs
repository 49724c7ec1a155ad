//! Lives of workload clusters inside the dev provider, from the first machine to the last, under virtual time.

mod world;

use capstan_api::{
    condition,
    core::Conditioned as _,
    infrastructure::{DevCluster, DevMachine},
};
use capstan_workload::{LiveConnector, etcd};
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, PostParams},
};
use world::{NAMESPACE, TOKEN, World, init, join, key};

async fn names<K>(api: Api<K>) -> String
where
    K: kube::Resource + Clone + serde::de::DeserializeOwned + std::fmt::Debug,
{
    let list = api.list(&ListParams::default()).await.expect("listed");
    list.items
        .iter()
        .map(ResourceExt::name_any)
        .collect::<Vec<_>>()
        .join(" ")
}

async fn members(world: &World, through: &str) -> String {
    let client = etcd::Client::connect(
        &world.workload().await,
        through,
        &world.etcd_credentials(),
        etcd::Limits::default(),
    )
    .await
    .expect("connected to etcd");
    let status = client.status().await.expect("a status");
    let members = client.members().await.expect("members");
    let mut shown: Vec<String> = members
        .members
        .iter()
        .map(|it| {
            format!(
                "{}{}",
                it.name,
                if status.leader == Some(it.id) { "*" } else { "" }
            )
        })
        .collect();
    shown.sort();
    shown.join(" ")
}

#[tokio::test(start_paused = true)]
async fn a_control_plane_machine_boots_on_its_timings_into_a_cluster_that_answers() {
    let world = World::new().await;
    world.cluster().await;
    world.machine("cp1", true, &init()).await;
    assert_eq!(world.ready("cp1").await, 16, "VM 10 s, node 2 s, API server 4 s");

    let machine = world.get::<DevMachine>("cp1").await.expect("the machine");
    assert_eq!(machine.spec.provider_id.as_deref(), Some("in-memory://cp1"));
    let workload = world.workload().await;
    assert_eq!(names::<Node>(Api::all(workload.clone())).await, "cp1");
    assert_eq!(
        names::<Pod>(Api::namespaced(workload.clone(), "kube-system")).await,
        "etcd-cp1 kube-apiserver-cp1 kube-controller-manager-cp1 kube-scheduler-cp1"
    );
    let maps: Api<ConfigMap> = Api::namespaced(workload, "kube-system");
    let config = maps
        .get("kubeadm-config")
        .await
        .expect("kubeadm-config")
        .data
        .expect("data");
    assert_eq!(
        config["ClusterConfiguration"],
        "kind: ClusterConfiguration\nclusterName: c1\n"
    );
    assert_eq!(members(&world, "cp1").await, "cp1*");
}

#[tokio::test(start_paused = true)]
async fn a_machine_joins_with_a_valid_token_and_not_with_another() {
    let world = World::new().await;
    world.cluster().await;
    world.machine("cp1", true, &init()).await;
    world.ready("cp1").await;
    world.machine("worker", false, &join(TOKEN)).await;
    world
        .machine("stranger", false, &join("zzzzzz.0123456789abcdef"))
        .await;
    assert_eq!(world.ready("worker").await, 12);
    world
        .eventually("the stranger is refused", async || {
            world
                .has("stranger", "NodeProvisioned", "False", "BootstrapFailed")
                .await
        })
        .await;
    assert_eq!(
        names::<Node>(Api::all(world.workload().await)).await,
        "cp1 worker"
    );
    let stranger = world.get::<DevMachine>("stranger").await.expect("the machine");
    assert_eq!(
        condition::find(stranger.conditions(), "NodeProvisioned").map(|it| it.message.as_str()),
        Some("kubeadm join failed: bootstrap token zzzzzz does not exist")
    );
}

#[tokio::test(start_paused = true)]
async fn etcd_grows_moves_its_leader_and_shrinks_through_the_port_forward() {
    let world = World::new().await;
    world.cluster().await;
    world.machine("cp1", true, &init()).await;
    world.ready("cp1").await;
    for name in ["cp2", "cp3"] {
        world.machine(name, true, &join(TOKEN)).await;
    }
    world.ready("cp2").await;
    world.ready("cp3").await;
    assert_eq!(members(&world, "cp2").await, "cp1* cp2 cp3");

    let credentials = world.etcd_credentials();
    let leader = etcd::Client::connect(
        &world.workload().await,
        "cp1",
        &credentials,
        etcd::Limits::default(),
    )
    .await
    .expect("connected");
    let known = leader.members().await.expect("members");
    let id = |name: &str| known.named(name).expect("a member").id;
    leader.move_leader(id("cp2")).await.expect("moved");
    assert_eq!(members(&world, "cp1").await, "cp1 cp2* cp3");
    leader.remove_member(id("cp1")).await.expect("removed");
    assert_eq!(members(&world, "cp3").await, "cp2* cp3");
    assert!(leader.alarms().await.expect("alarms").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_cluster_without_quorum_does_not_answer_until_power_is_back() {
    let world = World::new().await;
    world.cluster().await;
    world.machine("cp1", true, &init()).await;
    world.ready("cp1").await;
    world.backend.power_off(&key(), "cp1").await.expect("off");
    let nodes: Api<Node> = Api::all(world.workload().await);
    assert!(
        nodes.list(&ListParams::default()).await.is_err(),
        "nobody answers"
    );
    world.backend.power_on(&key(), "cp1").await.expect("on");
    assert_eq!(names::<Node>(Api::all(world.workload().await)).await, "cp1");
    assert_eq!(members(&world, "cp1").await, "cp1*");
}

#[tokio::test(start_paused = true)]
async fn everything_that_ran_runs_again_after_a_restart() {
    let mut world = World::new().await;
    world.cluster().await;
    world.machine("cp1", true, &init()).await;
    world.ready("cp1").await;
    world.machine("worker", false, &join(TOKEN)).await;
    world.ready("worker").await;
    let before = world.backend.ledger().all();
    world.restart().await;
    let took = world
        .eventually("both VMs are back", async || {
            world.backend.ledger().all().len() == 2
        })
        .await;
    assert!(took < 2, "took {took} s");
    assert_eq!(
        world.backend.ledger().all().keys().collect::<Vec<_>>(),
        before.keys().collect::<Vec<_>>()
    );
    world
        .eventually("the cluster answers", async || {
            let nodes: Api<Node> = Api::all(world.workload().await);
            nodes
                .list(&ListParams::default())
                .await
                .is_ok_and(|it| it.items.len() == 2)
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn deleting_takes_away_the_node_the_vm_and_at_last_the_cluster() {
    let world = World::new().await;
    world.cluster().await;
    world.machine("cp1", true, &init()).await;
    world.ready("cp1").await;
    world.machine("worker", false, &join(TOKEN)).await;
    world.ready("worker").await;

    let machines: Api<DevMachine> = world.api();
    machines
        .delete("worker", &DeleteParams::default())
        .await
        .expect("deleted");
    world
        .eventually("the worker is gone", async || {
            world.get::<DevMachine>("worker").await.is_none()
        })
        .await;
    assert_eq!(names::<Node>(Api::all(world.workload().await)).await, "cp1");
    assert_eq!(world.backend.ledger().all().len(), 1);

    machines
        .delete("cp1", &DeleteParams::default())
        .await
        .expect("deleted");
    world
        .eventually("the last machine is gone", async || {
            world.get::<DevMachine>("cp1").await.is_none()
        })
        .await;
    let clusters: Api<DevCluster> = Api::namespaced(world.client.clone(), NAMESPACE);
    clusters
        .delete("c1", &DeleteParams::default())
        .await
        .expect("deleted");
    world
        .eventually("the DevCluster is gone", async || {
            world.get::<DevCluster>("c1").await.is_none()
        })
        .await;
    assert!(world.backend.ledger().all().is_empty());
}

#[tokio::test]
async fn over_sockets_a_kubeconfig_works_and_users_objects_outlive_the_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut world = World::live(folder.path().to_owned()).await;
    world.cluster().await;
    world.machine("cp1", true, &init()).await;
    world.ready("cp1").await;
    let maps = |client| -> Api<ConfigMap> { Api::namespaced(client, NAMESPACE) };
    let mine = ConfigMap {
        metadata: kube::core::ObjectMeta {
            name: Some("mine".to_owned()),
            ..Default::default()
        },
        ..Default::default()
    };
    let client = world.workload_through(LiveConnector).await;
    maps(client)
        .create(&PostParams::default(), &mine)
        .await
        .expect("created over TLS");

    world.restart().await;
    world
        .eventually("the object is still there", async || {
            let client = world.workload_through(LiveConnector).await;
            maps(client).get_opt("mine").await.is_ok_and(|it| it.is_some())
        })
        .await;
    world
        .eventually("etcd runs again", async || {
            let client = world.workload_through(LiveConnector).await;
            let credentials = world.etcd_credentials();
            let etcd = etcd::Client::connect(&client, "cp1", &credentials, etcd::Limits::default()).await;
            match etcd {
                Ok(etcd) => etcd.members().await.is_ok_and(|it| it.members.len() == 1),
                Err(_) => false,
            }
        })
        .await;
}
