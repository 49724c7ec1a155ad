//! Caches against a real API server in process: objects that cannot be read, and the end of feeds.

use std::{borrow::Cow, sync::Arc, time::Duration};

use capstan_apiserver::{Identity, Server};
use capstan_base::{SeededEntropy, Timestamp};
use capstan_engine::{Cache, ObjectKey, RuntimeClock, Source};
use capstan_store::{Options, Store};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{
    Api, Client, Resource, ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde::Deserialize;
use serde_json::json;

/// A ConfigMap whose data are numbers as far as this reader knows.
#[derive(Debug, Clone, Deserialize)]
struct Colour {
    metadata: ObjectMeta,
    #[expect(dead_code, reason = "what is to be read")]
    data: Data,
}

#[derive(Debug, Clone, Deserialize)]
struct Data {
    #[expect(dead_code, reason = "what is to be read")]
    colour: Known,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Known {
    Red,
    Green,
}

impl Resource for Colour {
    type DynamicType = ();
    type Scope = k8s_openapi::NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        "ConfigMap".into()
    }

    fn group((): &()) -> Cow<'_, str> {
        "".into()
    }

    fn version((): &()) -> Cow<'_, str> {
        "v1".into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        "configmaps".into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

struct World {
    server: Server,
    maps: Api<ConfigMap>,
    cache: Cache<Colour>,
}

async fn world(colours: &[(&str, &str)]) -> World {
    let start: Timestamp = "2026-01-02T03:04:05Z".parse().expect("a time");
    let clock = Arc::new(RuntimeClock::starting_at(start));
    let store = Store::memory(Options::new(clock.clone()));
    let server = Server::builder(store, clock, Arc::new(SeededEntropy::new(1)))
        .build()
        .await
        .expect("a server");
    let client = Client::new(server.service(Identity::internal("test")), "default");
    let maps = Api::namespaced(client.clone(), "default");
    for (name, colour) in colours {
        create(&maps, name, colour).await;
    }
    let cache = Cache::<Colour>::new((), Source::default());
    cache.start(&client);
    World { server, maps, cache }
}

async fn create(maps: &Api<ConfigMap>, name: &str, colour: &str) {
    let map = json!({ "metadata": { "name": name }, "data": { "colour": colour } });
    let map: ConfigMap = serde_json::from_value(map).expect("a ConfigMap");
    maps.create(&PostParams::default(), &map).await.expect("created");
}

async fn names(cache: &Cache<Colour>) -> String {
    tokio::time::sleep(Duration::from_secs(30)).await;
    let names: Vec<String> = cache.all().iter().map(|it| it.name_any()).collect();
    names.join(" ")
}

#[tokio::test(start_paused = true)]
async fn an_object_that_cannot_be_read_is_left_out_and_the_others_go_on() {
    let world = world(&[("a", "red"), ("b", "ultraviolet")]).await;
    assert_eq!(names(&world.cache).await, "a");
    create(&world.maps, "c", "green").await;
    create(&world.maps, "d", "infrared").await;
    create(&world.maps, "e", "red").await;
    assert_eq!(names(&world.cache).await, "a c e");
    let red = json!({ "data": { "colour": "red" } });
    let patched = world
        .maps
        .patch("d", &PatchParams::default(), &Patch::Merge(&red))
        .await;
    patched.expect("patched");
    world
        .maps
        .delete("b", &DeleteParams::default())
        .await
        .expect("deleted");
    assert_eq!(names(&world.cache).await, "a c d e");
}

#[tokio::test(start_paused = true)]
async fn a_stopped_cache_stays_readable_and_hears_nothing_more() {
    let world = world(&[("a", "red")]).await;
    assert_eq!(names(&world.cache).await, "a");
    world.cache.stop();
    create(&world.maps, "b", "red").await;
    assert_eq!(names(&world.cache).await, "a");
    assert!(world.cache.get(&ObjectKey::new("default", "a")).is_some());
    world.server.shut_down();
}
