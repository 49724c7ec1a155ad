//! Printer columns of the built-in kinds.
//! Source: kubernetes `pkg/printers/internalversion/printers.go`.

use capstan_base::Timestamp;
use capstan_schema::jsonpath;
use serde_json::{Value, json};

use crate::resource::{Cell, Column};

type Compute = fn(&Value, Timestamp) -> Value;

/// The columns after `Name` of a built-in resource.
pub fn built_in_columns(group: &str, plural: &str) -> Vec<Column> {
    core(group, plural)
        .or_else(|| events(group, plural))
        .or_else(|| workloads(group, plural))
        .or_else(|| storage(group, plural))
        .or_else(|| administration(group, plural))
        .unwrap_or_else(|| vec![age()])
}

/// A column of text at a path.
fn path(name: &str, path: &str) -> Column {
    column(name, "string", 0, text_at(path))
}

/// A column of text at a path that only wide output shows.
fn wide_path(name: &str, path: &str) -> Column {
    column(name, "string", 1, text_at(path))
}

/// A column of text that is computed.
fn text(name: &str, compute: Compute) -> Column {
    column(name, "string", 0, Cell::Computed(compute))
}

/// A column of text that is computed and that only wide output shows.
fn wide(name: &str, compute: Compute) -> Column {
    column(name, "string", 1, Cell::Computed(compute))
}

/// A column of numbers.
fn number(name: &str, compute: Compute) -> Column {
    column(name, "integer", 0, Cell::Computed(compute))
}

/// The column of ages.
fn age() -> Column {
    let path = jsonpath_column(jsonpath::ColumnType::Date, ".metadata.creationTimestamp");
    column("Age", "date", 0, Cell::Path(path))
}

/// Namespaces, secrets, nodes, pods and what else is at the core.
fn core(group: &str, plural: &str) -> Option<Vec<Column>> {
    let columns = match (group, plural) {
        ("", "namespaces") => vec![path("Status", ".status.phase"), age()],
        ("", "secrets") => vec![path("Type", ".type"), number("Data", data_count), age()],
        ("", "configmaps") => vec![number("Data", data_count), age()],
        ("", "nodes") => vec![
            text("Status", node_status),
            text("Roles", node_roles),
            age(),
            path("Version", ".status.nodeInfo.kubeletVersion"),
            wide("Internal-IP", |node, _| node_address(node, "InternalIP")),
            wide("External-IP", |node, _| node_address(node, "ExternalIP")),
            wide_path("OS-Image", ".status.nodeInfo.osImage"),
            wide_path("Kernel-Version", ".status.nodeInfo.kernelVersion"),
            wide_path("Container-Runtime", ".status.nodeInfo.containerRuntimeVersion"),
        ],
        ("", "pods") => vec![
            text("Ready", pod_ready),
            text("Status", pod_status),
            text("Restarts", pod_restarts),
            age(),
            wide_path("IP", ".status.podIP"),
            wide_path("Node", ".spec.nodeName"),
        ],
        ("", "services") => vec![
            path("Type", ".spec.type"),
            path("Cluster-IP", ".spec.clusterIP"),
            text("External-IP", |_, _| json!("<none>")),
            text("Port(s)", service_ports),
            age(),
            wide("Selector", |service, _| {
                json!(pairs(&service["spec"]["selector"]))
            }),
        ],
        _ => return None,
    };
    Some(columns)
}

/// Events of both groups.
fn events(group: &str, plural: &str) -> Option<Vec<Column>> {
    let columns = match (group, plural) {
        ("", "events") => event_columns(
            text("Object", |event, _| json!(object_name(&event["involvedObject"]))),
            ".source.component",
            ".message",
        ),
        ("events.k8s.io", "events") => event_columns(
            text("Object", |event, _| json!(object_name(&event["regarding"]))),
            ".reportingController",
            ".note",
        ),
        _ => return None,
    };
    Some(columns)
}

/// What runs pods.
fn workloads(group: &str, plural: &str) -> Option<Vec<Column>> {
    let columns = match (group, plural) {
        ("apps", "deployments") => vec![
            text("Ready", |it, _| {
                ready_of(&it["status"]["readyReplicas"], &it["spec"]["replicas"])
            }),
            number("Up-to-date", |it, _| count(&it["status"]["updatedReplicas"])),
            number("Available", |it, _| count(&it["status"]["availableReplicas"])),
            age(),
            wide("Containers", |it, _| containers(it, "name")),
            wide("Images", |it, _| containers(it, "image")),
            wide("Selector", |it, _| {
                json!(pairs(&it["spec"]["selector"]["matchLabels"]))
            }),
        ],
        ("apps", "replicasets") => vec![
            number("Desired", |it, _| count(&it["spec"]["replicas"])),
            number("Current", |it, _| count(&it["status"]["replicas"])),
            number("Ready", |it, _| count(&it["status"]["readyReplicas"])),
            age(),
        ],
        ("apps", "statefulsets") => {
            vec![
                text("Ready", |it, _| {
                    ready_of(&it["status"]["readyReplicas"], &it["spec"]["replicas"])
                }),
                age(),
            ]
        }
        ("apps", "daemonsets") => vec![
            number("Desired", |it, _| count(&it["status"]["desiredNumberScheduled"])),
            number("Current", |it, _| count(&it["status"]["currentNumberScheduled"])),
            number("Ready", |it, _| count(&it["status"]["numberReady"])),
            number("Up-to-date", |it, _| {
                count(&it["status"]["updatedNumberScheduled"])
            }),
            number("Available", |it, _| count(&it["status"]["numberAvailable"])),
            text("Node Selector", |it, _| {
                json!(pairs(&it["spec"]["template"]["spec"]["nodeSelector"]))
            }),
            age(),
        ],
        ("batch", "jobs") => vec![
            text("Status", job_status),
            text("Completions", |it, _| {
                ready_of(&it["status"]["succeeded"], &it["spec"]["completions"])
            }),
            age(),
        ],
        ("policy", "poddisruptionbudgets") => vec![
            text("Min Available", |it, _| {
                scalar_or(&it["spec"]["minAvailable"], "N/A")
            }),
            text("Max Unavailable", |it, _| {
                scalar_or(&it["spec"]["maxUnavailable"], "N/A")
            }),
            number("Allowed Disruptions", |it, _| {
                count(&it["status"]["disruptionsAllowed"])
            }),
            age(),
        ],
        _ => return None,
    };
    Some(columns)
}

/// Volumes and their classes.
fn storage(group: &str, plural: &str) -> Option<Vec<Column>> {
    let columns = match (group, plural) {
        ("storage.k8s.io", "storageclasses") => vec![
            path("Provisioner", ".provisioner"),
            path("ReclaimPolicy", ".reclaimPolicy"),
            path("VolumeBindingMode", ".volumeBindingMode"),
            text("AllowVolumeExpansion", |it, _| {
                json!(it["allowVolumeExpansion"] == json!(true))
            }),
            age(),
        ],
        ("storage.k8s.io", "volumeattachments") => vec![
            path("Attacher", ".spec.attacher"),
            path("PV", ".spec.source.persistentVolumeName"),
            path("Node", ".spec.nodeName"),
            text("Attached", |it, _| json!(it["status"]["attached"] == json!(true))),
            age(),
        ],
        ("", "persistentvolumeclaims") => vec![
            path("Status", ".status.phase"),
            path("Volume", ".spec.volumeName"),
            path("Capacity", ".status.capacity.storage"),
            text("Access Modes", |it, _| access_modes(&it["status"]["accessModes"])),
            path("StorageClass", ".spec.storageClassName"),
            age(),
        ],
        ("", "persistentvolumes") => vec![
            path("Capacity", ".spec.capacity.storage"),
            text("Access Modes", |it, _| access_modes(&it["spec"]["accessModes"])),
            path("Reclaim Policy", ".spec.persistentVolumeReclaimPolicy"),
            path("Status", ".status.phase"),
            path("StorageClass", ".spec.storageClassName"),
            age(),
        ],
        _ => return None,
    };
    Some(columns)
}

/// Access, admission, leases, API services, definitions.
fn administration(group: &str, plural: &str) -> Option<Vec<Column>> {
    let columns = match (group, plural) {
        ("rbac.authorization.k8s.io", "clusterroles" | "roles")
        | ("apiextensions.k8s.io", "customresourcedefinitions") => {
            vec![column("Created At", "date", 0, Cell::Computed(created_at))]
        }
        ("rbac.authorization.k8s.io", "clusterrolebindings" | "rolebindings") => vec![
            text("Role", |it, _| {
                let role = &it["roleRef"];
                json!(format!("{}/{}", plain(&role["kind"]), plain(&role["name"])))
            }),
            age(),
        ],
        ("coordination.k8s.io", "leases") => vec![path("Holder", ".spec.holderIdentity"), age()],
        (
            "admissionregistration.k8s.io",
            "validatingwebhookconfigurations" | "mutatingwebhookconfigurations",
        ) => vec![
            number("Webhooks", |it, _| {
                json!(it["webhooks"].as_array().map_or(0, Vec::len))
            }),
            age(),
        ],
        ("apiregistration.k8s.io", "apiservices") => vec![
            text("Service", api_service_target),
            text("Available", |it, _| condition(it, "Available")),
            age(),
        ],
        _ => return None,
    };
    Some(columns)
}

fn column(name: &str, kind: &str, priority: i32, cell: Cell) -> Column {
    let name = name.to_owned();
    Column {
        name,
        kind: kind.to_owned(),
        format: String::new(),
        description: String::new(),
        priority,
        cell,
    }
}

fn text_at(path: &str) -> Cell {
    Cell::Path(jsonpath_column(jsonpath::ColumnType::String, path))
}

fn jsonpath_column(kind: jsonpath::ColumnType, path: &str) -> jsonpath::Column {
    jsonpath::Column::new(kind, path).expect("invariant: the paths of built-in columns parse")
}

/// How long ago a time (RFC 3339) was.
fn time_since(since: &str, now: Timestamp) -> String {
    match since.parse::<Timestamp>() {
        Ok(since) => jsonpath::human_duration(now.as_second() - since.as_second()),
        Err(_) => "<unknown>".to_owned(),
    }
}

fn event_columns(object: Column, source: &str, message: &str) -> Vec<Column> {
    vec![
        text("Last Seen", last_seen),
        path("Type", ".type"),
        path("Reason", ".reason"),
        object,
        wide_path("Source", source),
        path("Message", message),
        column("Count", "integer", 1, Cell::Computed(event_count)),
        wide_path("Name", ".metadata.name"),
    ]
}

fn plain(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn count(value: &Value) -> Value {
    json!(value.as_i64().unwrap_or(0))
}

fn ready_of(ready: &Value, wanted: &Value) -> Value {
    json!(format!(
        "{}/{}",
        ready.as_i64().unwrap_or(0),
        wanted.as_i64().unwrap_or(1)
    ))
}

fn scalar_or(value: &Value, absent: &str) -> Value {
    match value {
        Value::String(text) => json!(text),
        Value::Number(number) => json!(number.to_string()),
        _ => json!(absent),
    }
}

/// A map as `a=1,b=2`; `<none>` if it is empty.
fn pairs(map: &Value) -> String {
    let joined: Vec<String> = map
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", plain(value)))
        .collect();
    if joined.is_empty() {
        "<none>".to_owned()
    } else {
        joined.join(",")
    }
}

fn data_count(object: &Value, _: Timestamp) -> Value {
    let entries = |field: &str| object[field].as_object().map_or(0, serde_json::Map::len);
    json!(entries("data") + entries("binaryData"))
}

fn condition(object: &Value, kind: &str) -> Value {
    let conditions = object["status"]["conditions"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let status = conditions
        .iter()
        .find(|it| it["type"] == kind)
        .map(|it| plain(&it["status"]));
    json!(status.unwrap_or("Unknown"))
}

fn created_at(object: &Value, _: Timestamp) -> Value {
    object["metadata"]["creationTimestamp"].clone()
}

fn object_name(reference: &Value) -> String {
    format!(
        "{}/{}",
        plain(&reference["kind"]).to_ascii_lowercase(),
        plain(&reference["name"])
    )
}

fn last_seen(event: &Value, now: Timestamp) -> Value {
    let candidates = [
        &event["series"]["lastObservedTime"],
        &event["lastTimestamp"],
        &event["deprecatedLastTimestamp"],
        &event["eventTime"],
        &event["metadata"]["creationTimestamp"],
    ];
    let last = candidates.into_iter().find_map(Value::as_str).unwrap_or_default();
    json!(time_since(last, now))
}

fn event_count(event: &Value, _: Timestamp) -> Value {
    let candidates = [
        &event["series"]["count"],
        &event["count"],
        &event["deprecatedCount"],
    ];
    json!(candidates.into_iter().find_map(Value::as_i64).unwrap_or(1))
}

fn node_status(node: &Value, _: Timestamp) -> Value {
    let ready = match condition(node, "Ready").as_str() {
        Some("True") => "Ready",
        Some("False") => "NotReady",
        _ => "Unknown",
    };
    if node["spec"]["unschedulable"] == json!(true) {
        json!(format!("{ready},SchedulingDisabled"))
    } else {
        json!(ready)
    }
}

fn node_roles(node: &Value, _: Timestamp) -> Value {
    let labels = node["metadata"]["labels"].as_object();
    let mut roles: Vec<&str> = labels
        .into_iter()
        .flatten()
        .filter_map(
            |(key, value)| match key.strip_prefix("node-role.kubernetes.io/") {
                Some(role) => Some(role),
                None if key == "kubernetes.io/role" => value.as_str(),
                None => None,
            },
        )
        .filter(|role| !role.is_empty())
        .collect();
    roles.sort_unstable();
    json!(if roles.is_empty() {
        "<none>".to_owned()
    } else {
        roles.join(",")
    })
}

fn node_address(node: &Value, kind: &str) -> Value {
    let addresses = node["status"]["addresses"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let found = addresses
        .iter()
        .find(|it| it["type"] == kind)
        .and_then(|it| it["address"].as_str());
    json!(found.unwrap_or("<none>"))
}

fn container_statuses(pod: &Value) -> &[Value] {
    pod["status"]["containerStatuses"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
}

fn pod_ready(pod: &Value, _: Timestamp) -> Value {
    let wanted = pod["spec"]["containers"].as_array().map_or(0, Vec::len);
    let ready = container_statuses(pod)
        .iter()
        .filter(|it| it["ready"] == json!(true))
        .count();
    json!(format!("{ready}/{wanted}"))
}

fn pod_status(pod: &Value, _: Timestamp) -> Value {
    if pod["metadata"]["deletionTimestamp"].is_string() {
        return json!("Terminating");
    }
    let waiting = container_statuses(pod).iter().find_map(|it| {
        it["state"]["waiting"]["reason"]
            .as_str()
            .or_else(|| it["state"]["terminated"]["reason"].as_str())
    });
    let status = waiting
        .or_else(|| pod["status"]["reason"].as_str())
        .or_else(|| pod["status"]["phase"].as_str());
    json!(status.unwrap_or("Unknown"))
}

fn pod_restarts(pod: &Value, _: Timestamp) -> Value {
    let restarts: i64 = container_statuses(pod)
        .iter()
        .filter_map(|it| it["restartCount"].as_i64())
        .sum();
    json!(restarts.to_string())
}

fn service_ports(service: &Value, _: Timestamp) -> Value {
    let ports = service["spec"]["ports"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let texts: Vec<String> = ports
        .iter()
        .map(|port| {
            let protocol = port["protocol"].as_str().unwrap_or("TCP");
            match port["nodePort"].as_i64() {
                Some(node_port) if node_port > 0 => format!("{}:{node_port}/{protocol}", port["port"]),
                _ => format!("{}/{protocol}", port["port"]),
            }
        })
        .collect();
    json!(if texts.is_empty() {
        "<none>".to_owned()
    } else {
        texts.join(",")
    })
}

fn containers(workload: &Value, field: &str) -> Value {
    let containers = workload["spec"]["template"]["spec"]["containers"].as_array();
    let names: Vec<&str> = containers
        .into_iter()
        .flatten()
        .map(|it| plain(&it[field]))
        .collect();
    json!(names.join(","))
}

fn job_status(job: &Value, _: Timestamp) -> Value {
    let is = |kind: &str| condition(job, kind) == json!("True");
    json!(match () {
        () if is("Complete") => "Complete",
        () if is("Failed") => "Failed",
        () if job["metadata"]["deletionTimestamp"].is_string() => "Terminating",
        () if is("Suspended") => "Suspended",
        () => "Running",
    })
}

fn api_service_target(service: &Value, _: Timestamp) -> Value {
    match service["spec"]["service"].as_object() {
        Some(target) => json!(format!(
            "{}/{}",
            plain(&target["namespace"]),
            plain(&target["name"])
        )),
        None => json!("Local"),
    }
}

fn access_modes(modes: &Value) -> Value {
    let short = |mode: &Value| match plain(mode) {
        "ReadWriteOnce" => "RWO".to_owned(),
        "ReadOnlyMany" => "ROX".to_owned(),
        "ReadWriteMany" => "RWX".to_owned(),
        "ReadWriteOncePod" => "RWOP".to_owned(),
        other => other.to_owned(),
    };
    let texts: Vec<String> = modes.as_array().into_iter().flatten().map(short).collect();
    json!(texts.join(","))
}
