//! What introductions to Cluster API write is complete after conversion and defaulting: two pools of one cluster in
//! v1beta1, both with the cluster's label as their only selector, one of them without a cluster in its template.

use capstan_api::{
    VERSION, admission,
    admission::Context,
    conversion,
    core::{GROUP, MachineDeployment},
    selector::Selector,
};
use serde_json::Value;

const POOLS: [&str; 2] = [
    r"
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: { name: pool-a, namespace: default }
spec:
  clusterName: my-cluster
  replicas: 5
  selector:
    matchLabels: { cluster.x-k8s.io/cluster-name: my-cluster }
  template:
    spec:
      version: v1.28.0
      bootstrap:
        configRef: { apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate, name: workers }
      infrastructureRef: { apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: DevMachineTemplate, name: workers }
",
    r"
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: { name: pool-b, namespace: default }
spec:
  clusterName: my-cluster
  replicas: 3
  strategy:
    type: RollingUpdate
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 }
  selector:
    matchLabels: { cluster.x-k8s.io/cluster-name: my-cluster }
  template:
    spec:
      clusterName: my-cluster
      version: v1.28.0
      bootstrap:
        configRef: { apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate, name: workers }
      infrastructureRef: { apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: DevMachineTemplate, name: workers }
",
];

fn admitted(manifest: &str) -> MachineDeployment {
    let object: Value = serde_saphyr::from_str(manifest).expect("YAML");
    let kind = MachineDeployment::KIND;
    let mut object =
        conversion::convert(GROUP, kind, "v1beta1", VERSION, object, &NoVersions).expect("a conversion");
    admission::default(GROUP, kind, &mut object, None, &Context::default()).expect("defaults");
    let problems = admission::validate(GROUP, kind, &object, None, &Context::default());
    assert_eq!(problems, [], "{object}");
    serde_json::from_value(object).expect("a MachineDeployment")
}

struct NoVersions;

impl conversion::ReferenceVersions for NoVersions {
    fn api_version(&self, _group: &str, _kind: &str) -> Option<String> {
        None
    }
}

#[test]
fn two_pools_that_name_only_their_cluster_do_not_select_each_others_machines() {
    let [a, b] = POOLS.map(admitted);
    for pool in [&a, &b] {
        assert_eq!(pool.spec.template.spec.cluster_name, "my-cluster");
    }
    for (own, other) in [(&a, &b), (&b, &a)] {
        let selector = Selector::new(&own.spec.selector).expect("a selector");
        assert!(selector.matches(&own.spec.template.metadata.labels));
        assert!(!selector.matches(&other.spec.template.metadata.labels));
    }
}
