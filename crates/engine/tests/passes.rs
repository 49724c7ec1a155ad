//! Whole passes against a real API server in process, on a paused clock: gates, barrier, one status patch, conflicts.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use capstan_apiserver::{Identity, Server};
use capstan_base::{SeededEntropy, Timestamp};
use capstan_engine::{
    Classified, ConditionList, Context, Engine, EngineSettings, ObjectKey, Pause, Plan, Reconciler, Retry,
    RuntimeClock, Seeded, Settings, Trail, Why, WriteError,
};
use capstan_store::{Options, Store};
use k8s_openapi::api::apps::v1::Deployment;
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

/// A controller that labels its object once, and says so in a condition.
struct Labeller {
    passes: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct View {
    deployment: Arc<Deployment>,
}

#[derive(Debug)]
enum Action {
    Label(ObjectKey),
}

#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct Failure(#[from] WriteError);

impl Classified for Failure {
    fn retry(&self) -> Retry {
        self.0.retry()
    }
}

impl Reconciler for Labeller {
    const NAME: &'static str = "labeller";
    type Object = Deployment;
    type View = View;
    type Action = Action;
    type Status = Value;
    type Error = Failure;

    fn settings(&self) -> Settings {
        Settings {
            finalizer: Some("example.com/labeller"),
            conditions: &[ConditionList {
                pointer: "/status/conditions",
                owned: &["Labelled", "Paused"],
            }],
            ..Settings::default()
        }
    }

    fn pause(&self, deployment: &Deployment) -> Pause {
        match deployment.annotations().get("paused") {
            Some(why) => Pause::Paused(why.clone()),
            None => Pause::Running,
        }
    }

    async fn observe(&self, deployment: Arc<Deployment>, _context: &Context) -> Result<View, Failure> {
        self.passes.fetch_add(1, Ordering::SeqCst);
        Ok(View { deployment })
    }

    fn decide(view: &View) -> Plan<Action> {
        if view.deployment.metadata.deletion_timestamp.is_some() {
            return Plan::finalized();
        }
        assert!(
            !view.deployment.annotations().contains_key("panic"),
            "asked to panic"
        );
        let mut plan = Plan::default();
        if !view.deployment.labels().contains_key("labelled") {
            plan.step(
                Action::Label(ObjectKey::of(&*view.deployment)),
                Why::new("Label", "it has no label"),
            );
        }
        plan
    }

    async fn act(&self, _view: &View, action: &Action, context: &Context) -> Result<(), Failure> {
        let Action::Label(key) = action;
        let patch = json!({ "metadata": { "labels": { "labelled": "yes" } } });
        context.writer.merge_patch::<Deployment>(&(), key, &patch).await?;
        Ok(())
    }

    fn report(view: &View, _plan: &Plan<Action>, trail: &Trail<Failure>) -> Value {
        let before =
            serde_json::to_value(view.deployment.status.clone().unwrap_or_default()).unwrap_or_default();
        let mut status = before;
        let good = if trail.is_clean() { "True" } else { "False" };
        status["conditions"] =
            json!([{ "type": "Labelled", "status": good, "reason": "Labelled", "message": "" }]);
        status
    }
}

struct World {
    _server: Server,
    engine: Engine,
    deployments: Api<Deployment>,
    passes: Arc<AtomicUsize>,
}

async fn world() -> World {
    let start: Timestamp = "2026-01-02T03:04:05Z".parse().expect("a time");
    let clock = Arc::new(RuntimeClock::starting_at(start));
    let store = Store::memory(Options::new(clock.clone()));
    let entropy = Arc::new(SeededEntropy::new(1));
    let server = Server::builder(store, clock.clone(), entropy.clone())
        .build()
        .await
        .expect("a server");
    let client = Client::new(server.service(Identity::internal("test")), "default");
    let settings = EngineSettings {
        client: client.clone(),
        clock,
        entropy,
        chooser: Arc::new(Seeded::new(7)),
    };
    let engine = Engine::new(settings);
    let passes = Arc::new(AtomicUsize::new(0));
    engine
        .controller(Labeller {
            passes: Arc::clone(&passes),
        })
        .start();
    World {
        _server: server,
        engine,
        deployments: Api::namespaced(client, "default"),
        passes,
    }
}

fn deployment(name: &str, annotations: &Value) -> Deployment {
    serde_json::from_value(json!({
        "metadata": { "name": name, "annotations": annotations },
        "spec": { "selector": { "matchLabels": { "a": "b" } }, "template": {
            "metadata": { "labels": { "a": "b" } }, "spec": { "containers": [{ "name": "c", "image": "i" }] } } }
    }))
    .expect("a deployment")
}

fn conditions(deployment: &Deployment) -> String {
    let list = deployment
        .status
        .clone()
        .unwrap_or_default()
        .conditions
        .unwrap_or_default();
    list.iter()
        .map(|it| format!("{}={}", it.type_, it.status))
        .collect::<Vec<_>>()
        .join(" ")
}

async fn settle() {
    tokio::time::sleep(std::time::Duration::from_secs(30)).await;
}

#[tokio::test(start_paused = true)]
async fn an_object_gets_its_finalizer_its_label_and_one_status_and_then_silence() {
    let world = world().await;
    world
        .deployments
        .create(&PostParams::default(), &deployment("a", &json!({})))
        .await
        .expect("created");
    settle().await;
    let found = world.deployments.get("a").await.expect("found");
    assert_eq!(found.finalizers(), ["example.com/labeller"]);
    assert_eq!(found.labels().get("labelled").map(String::as_str), Some("yes"));
    assert_eq!(conditions(&found), "Labelled=True Paused=False");
    let (revision, passes) = (found.resource_version(), world.passes.load(Ordering::SeqCst));
    settle().await;
    assert_eq!(
        world
            .deployments
            .get("a")
            .await
            .expect("found")
            .resource_version(),
        revision
    );
    assert_eq!(world.passes.load(Ordering::SeqCst), passes);
    world.engine.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_pass_that_panics_leaves_the_other_objects_alone_and_is_tried_again() {
    let world = world().await;
    let create = async |name: &str, annotations: Value| {
        let made = deployment(name, &annotations);
        let created = world.deployments.create(&PostParams::default(), &made).await;
        created.expect("created");
    };
    // More than there are workers.
    for number in 0..12 {
        create(&format!("bad-{number}"), json!({ "panic": "yes" })).await;
    }
    settle().await;
    create("good", json!({})).await;
    let heal = json!({ "metadata": { "annotations": { "panic": null } } });
    let patched = world
        .deployments
        .patch("bad-0", &PatchParams::default(), &Patch::Merge(&heal))
        .await;
    patched.expect("patched");
    for _ in 0..40 {
        settle().await;
    }
    for (name, labelled) in [("good", true), ("bad-0", true), ("bad-1", false)] {
        let found = world.deployments.get(name).await.expect("found");
        assert_eq!(found.labels().contains_key("labelled"), labelled, "{name}");
    }
    world.engine.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_paused_object_says_why_and_is_otherwise_left_alone() {
    let world = world().await;
    let paused = deployment("a", &json!({ "paused": "because" }));
    world
        .deployments
        .create(&PostParams::default(), &paused)
        .await
        .expect("created");
    settle().await;
    let found = world.deployments.get("a").await.expect("found");
    assert_eq!(
        (
            conditions(&found).as_str(),
            found.labels().contains_key("labelled")
        ),
        ("Paused=True", false)
    );
    let go = json!({ "metadata": { "annotations": { "paused": null } } });
    world
        .deployments
        .patch("a", &PatchParams::default(), &Patch::Merge(&go))
        .await
        .expect("patched");
    settle().await;
    assert_eq!(
        conditions(&world.deployments.get("a").await.expect("found")),
        "Labelled=True Paused=False"
    );
    world.engine.close().await;
}

#[tokio::test(start_paused = true)]
async fn conditions_of_others_survive_and_deletion_releases_the_object() {
    let world = world().await;
    world
        .deployments
        .create(&PostParams::default(), &deployment("a", &json!({})))
        .await
        .expect("created");
    settle().await;
    let found = world.deployments.get("a").await.expect("found");
    let mut list = serde_json::to_value(found.status.unwrap_or_default().conditions).expect("json");
    list.as_array_mut()
        .expect("a list")
        .push(json!({ "type": "Others", "status": "True", "reason": "R" }));
    let patch = json!({ "status": { "conditions": list } });
    world
        .deployments
        .patch_status("a", &PatchParams::default(), &Patch::Merge(&patch))
        .await
        .expect("patched");
    let touch = json!({ "metadata": { "labels": { "labelled": null } } });
    world
        .deployments
        .patch("a", &PatchParams::default(), &Patch::Merge(&touch))
        .await
        .expect("patched");
    settle().await;
    let found = world.deployments.get("a").await.expect("found");
    assert_eq!(conditions(&found), "Labelled=True Paused=False Others=True");
    world
        .deployments
        .delete("a", &DeleteParams::default())
        .await
        .expect("deleted");
    settle().await;
    assert!(world.deployments.get_opt("a").await.expect("read").is_none());
    world.engine.close().await;
}
