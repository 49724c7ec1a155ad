#!/usr/bin/env bash
# Drives `capstan up` with every kubectl of this machine: the one on the PATH and those of a cloud SDK. Every check looks
# at what kubectl really printed. KUBECTLS="path path" names others; the debug build in CARGO_TARGET_DIR is used.
# Not -e: a check that fails is counted, and the others go on.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
. scripts/prepare.sh

passed=0
failed=0
planes=()
mounts=()
work=$(mktemp -d)
trap 'kill -9 "${planes[@]}" 2>/dev/null; umount "${mounts[@]}" 2>/dev/null; rm -rf "$work"' EXIT

# --- checks ---------------------------------------------------------------------------------------------------------

verdict() { # good?, name, output
  if [ "$1" = yes ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED  %s: %s\n' "$client" "$2"
    sed 's/^/        /' <<<"$3" | head -15
  fi
}

check() { # name, extended regular expression, command...: it succeeds and prints something that matches
  local name=$1 pattern=$2 output status=0
  shift 2
  output=$("$@" 2>&1 </dev/null) || status=$?
  if [ "$status" = 0 ] && grep -Eq -- "$pattern" <<<"$output"; then verdict yes "$name" ""; else
    verdict no "$name" "exit $status, wanted /$pattern/:
$output"; fi
}

refuse() { # the same, but the command has to fail
  local name=$1 pattern=$2 output status=0
  shift 2
  output=$("$@" 2>&1 </dev/null) || status=$?
  if [ "$status" != 0 ] && grep -Eq -- "$pattern" <<<"$output"; then verdict yes "$name" ""; else
    verdict no "$name" "exit $status, wanted a refusal with /$pattern/:
$output"; fi
}

eventually() { # name, extended regular expression, command...: within ten seconds it prints something that matches
  local name=$1 pattern=$2 output=""
  shift 2
  for _ in $(seq 50); do
    output=$("$@" 2>&1 </dev/null) || true
    if grep -Eq -- "$pattern" <<<"$output"; then
      verdict yes "$name" ""
      return
    fi
    sleep 0.2
  done
  verdict no "$name" "wanted /$pattern/ in the end:
$output"
}

k() { "$kubectl" --kubeconfig "$work/data/kubeconfig" "$@"; }
kn() { k --namespace "$namespace" "$@"; }
manifest() { cat >"$work/$1.yaml"; }

# --- planes ---------------------------------------------------------------------------------------------------------

start_plane() { # folder: sets $plane to the process
  rm -f "$1.log"
  "$capstan" up --data-dir "$1" --listen 127.0.0.1:0 --log-format json >"$1.log" 2>&1 &
  plane=$!
  planes+=("$plane")
  for _ in $(seq 300); do
    grep -q "the management plane is up" "$1.log" && return
    kill -0 "$plane" 2>/dev/null || break
    sleep 0.1
  done
  echo "the management plane does not come up:"
  cat "$1.log"
  exit 1
}

# --- what every kubectl has to be able to do --------------------------------------------------------------------------

discovery() {
  check "version" 'Server Version.*v1\.[0-9]+' k version
  check "api-resources" '^machinedeployments +md +cluster\.x-k8s\.io/v1beta2 +true +MachineDeployment' k api-resources
  check "api-resources of a category" 'kubeadmcontrolplanes' k api-resources --categories cluster-api
  check "api-versions" '^infrastructure\.cluster\.x-k8s\.io/v1beta1$' k api-versions
  check "explain a custom kind" 'replicas.*<integer>' k explain machinedeployment.spec
  check "explain a field" 'FIELD: +replicas' k explain machinedeployment.spec.replicas
  check "explain an old version" 'VERSION: +v1beta1' k explain cluster --api-version cluster.x-k8s.io/v1beta1
  check "explain a built-in kind" 'data.*<map\[string\]string>' k explain configmap
  case $(k version --client -o json | sed -n 's/.*"minor": "\([0-9]*\).*/\1/p' | head -1) in
    # Those ask for beta versions of the review, which Kubernetes itself no longer serves.
    26 | 27) ;;
    *) check "auth whoami" 'capstan-admin' k auth whoami ;;
  esac
  check "auth can-i" '^yes' k auth can-i create machinedeployments
  check "metrics" '^apiserver_request_total\{' k get --raw /metrics
  check "metrics of the store" '^capstan_store_puts_total [0-9]' k get --raw /metrics
  check "metrics of the process" '^process_resident_memory_bytes [0-9]' k get --raw /metrics
  check "readiness" 'ok' k get --raw /readyz
}

built_in_kinds() {
  check "create a namespace" 'created' k create namespace "$namespace"
  check "wait for a field" 'condition met' k wait --for=jsonpath='{.status.phase}'=Active "namespace/$namespace" --timeout=10s
  eventually "a namespace has its service account" 'default' kn get serviceaccounts
  check "create a service account" 'created' kn create serviceaccount robot
  check "create a secret" 'created' kn create secret generic secret --from-literal=password=hush
  check "describe hides a secret" 'password: +4 bytes' kn describe secret secret
  check "a secret is base64" 'aHVzaA==' kn get secret secret -o jsonpath='{.data.password}'
  check "create a config map" 'created' kn create configmap one --from-literal=key=one
  check "get by name" '^one +1 ' kn get configmap one
  check "get wide" '^one +1 ' kn get configmaps -o wide
  check "get as yaml" '^  key: one' kn get configmap one -o yaml
  check "get by a path" '^one$' kn get configmap one -o jsonpath='{.data.key}'
  check "get custom columns" '^one +one$' kn get configmap one -o custom-columns=N:.metadata.name,K:.data.key
  check "get by a field" '^configmap/one$' kn get configmaps --field-selector metadata.name=one -o name
  check "label" 'labeled' kn label configmap one tier=test
  check "get by a label" '^configmap/one$' kn get configmaps -l tier=test -o name
  check "get by a label that nothing has" 'No resources found' kn get configmaps -l tier=other
  check "annotate" 'annotated?' kn annotate configmap one note=here
  check "describe" 'note: here' kn describe configmap one
  check "edit" 'edited' env KUBE_EDITOR="sed -i s/key:.one/key:\ two/" "$kubectl" --kubeconfig "$work/data/kubeconfig" \
    --namespace "$namespace" edit configmap one
  check "what was edited" '^two$' kn get configmap one -o jsonpath='{.data.key}'
  check "patch (merge)" 'patched' kn patch configmap one --type=merge -p '{"data":{"key":"three"}}'
  check "patch (json)" 'patched' kn patch configmap one --type=json \
    -p '[{"op":"test","path":"/data/key","value":"three"},{"op":"add","path":"/data/other","value":"x"}]'
  check "patch (strategic)" 'patched' kn patch configmap one -p '{"data":{"other":null}}'
  check "what was patched" '^\{"key":"three"\}$' kn get configmap one -o jsonpath='{.data}'
  refuse "a patch whose test fails" 'test|422|invalid' kn patch configmap one --type=json \
    -p '[{"op":"test","path":"/data/key","value":"no"}]'
  kn get configmap one -o yaml | sed 's/key: three/key: four/' >"$work/replace.yaml"
  check "replace" 'replaced' kn replace -f "$work/replace.yaml"
  refuse "replace an old version" 'the object has been modified' kn replace -f "$work/replace.yaml"
  refuse "get what is not there" 'configmaps "nothing" not found' kn get configmap nothing
  manifest events <<END
apiVersion: v1
kind: Event
metadata: {name: event, namespace: $namespace}
involvedObject: {apiVersion: v1, kind: ConfigMap, name: one, namespace: $namespace, uid: $(kn get configmap one -o jsonpath='{.metadata.uid}')}
type: Normal
reason: Tested
message: by the tier
count: 1
firstTimestamp: "2026-01-02T03:04:05Z"
lastTimestamp: "2026-01-02T03:04:05Z"
source: {component: tier}
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: lease, namespace: $namespace}
spec: {holderIdentity: somebody, leaseDurationSeconds: 15}
END
  check "apply an event and a lease" 'event/event created' kn apply -f "$work/events.yaml"
  check "get events" 'Tested +configmap/one +by the tier' kn get events
  check "describe shows events" 'Tested' kn describe configmap one
  check "get leases" '^lease +somebody' kn get leases
}

watching() {
  kn get configmaps -w -o name >"$work/watch" 2>&1 &
  local watch=$!
  eventually "a watch lists" 'configmap/one' cat "$work/watch"
  kn create configmap watched >/dev/null
  eventually "a watch sees what is new" 'configmap/watched' cat "$work/watch"
  kill "$watch" 2>/dev/null || true
  wait "$watch" 2>/dev/null || true
  check "delete" 'deleted' kn delete configmap watched
  refuse "what was deleted is gone" 'not found' kn get configmap watched
}

custom_kinds() {
  manifest pool <<END
# A pool without a cluster: stored, defaulted and validated, and nothing comes of it.
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: pool}
spec:
  clusterName: none
  replicas: 1
  selector: {}
  template:
    spec:
      clusterName: none
      version: v1.34.1
      bootstrap: {dataSecretName: data}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevMachineTemplate, name: hosts}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DevMachineTemplate
metadata: {name: hosts}
spec: {template: {spec: {backend: {inMemory: {vm: {provisioning: {startupDuration: 1s}}}}}}}
END
  check "diff of what is new" '^\+' bash -c '"$@" || [ $? = 1 ]' _ "$kubectl" --kubeconfig "$work/data/kubeconfig" \
    --namespace "$namespace" diff -f "$work/pool.yaml"
  check "apply" 'machinedeployment.cluster.x-k8s.io/pool created' kn apply -f "$work/pool.yaml"
  check "apply again" 'pool (unchanged|configured)' kn apply -f "$work/pool.yaml"
  check "apply, server-side" 'hosts serverside-applied' kn apply --server-side --force-conflicts -f "$work/pool.yaml"
  check "diff of what is applied" '^$' kn diff --server-side --force-conflicts -f "$work/pool.yaml"
  check "get by the short name" '^pool +none' kn get md
  check "get a category" 'devmachinetemplate.*/hosts' kn get cluster-api -o name
  check "printer columns" '^NAME +CLUSTER.*AGE' kn get machinedeployment pool
  check "an old version" 'apiVersion: cluster.x-k8s.io/v1beta1' kn get machinedeployments.v1beta1.cluster.x-k8s.io pool -o yaml
  check "describe" 'Cluster Name: +none' kn describe machinedeployment pool
  check "scale" 'scaled' kn scale machinedeployment pool --replicas=3
  check "what was scaled" '^3$' kn get machinedeployment pool -o jsonpath='{.spec.replicas}'
  check "wait for a field" 'condition met' kn wait machinedeployment pool --for=jsonpath='{.spec.replicas}'=3 --timeout=10s
  check "a change of the spec is a generation" '^[2-9]' kn get machinedeployment pool -o jsonpath='{.metadata.generation}'
  check "label" 'labeled' kn label machinedeployment pool tier=test
  check "patch (merge)" 'patched' kn patch machinedeployment pool --type=merge -p '{"spec":{"paused":true}}'
  check "patch (json)" 'patched' kn patch machinedeployment pool --type=json -p '[{"op":"remove","path":"/spec/paused"}]'
  refuse "patch (strategic) of a custom kind" '415|not supported|UnsupportedMediaType|unable to' \
    kn patch machinedeployment pool --type=strategic -p '{"spec":{"paused":true}}'
  sed 's/replicas: 1/replicaz: 1/' "$work/pool.yaml" >"$work/unknown.yaml"
  refuse "an unknown field" 'unknown field "spec.replicaz"' kn apply -f "$work/unknown.yaml"
  sed 's/replicas: 1/replicas: many/' "$work/pool.yaml" >"$work/type.yaml"
  refuse "a wrong type" 'spec.replicas' kn apply -f "$work/type.yaml"
  refuse "a value out of range" 'replicas' kn scale machinedeployment pool --replicas=-1
  echo '{"apiVersion":"x.io/v1","kind":"X","metadata":{"name":"x"}}' >"$work/nobody.json"
  refuse "an unknown kind" 'no matches for kind' kn apply -f "$work/nobody.json"
  check "delete" 'deleted' kn delete -f "$work/pool.yaml" --timeout=20s
}

owned() { # cascade: makes a parent and its child
  kn create configmap "parent-$1" >/dev/null
  local uid
  uid=$(kn get configmap "parent-$1" -o jsonpath='{.metadata.uid}')
  kn create -f - >/dev/null <<END
{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "child-$1", "ownerReferences": [
  {"apiVersion": "v1", "kind": "ConfigMap", "name": "parent-$1", "uid": "$uid", "blockOwnerDeletion": true}]}}
END
}

deletion() {
  for cascade in background foreground orphan; do
    owned $cascade
    check "delete, $cascade" 'deleted' kn delete configmap "parent-$cascade" --cascade=$cascade --timeout=20s
  done
  eventually "background deletion takes the child" 'not found' kn get configmap child-background
  eventually "foreground deletion takes the child" 'not found' kn get configmap child-foreground
  check "an orphan stays" '^$' kn get configmap child-orphan -o jsonpath='{.metadata.ownerReferences}'
  check "delete a namespace" 'deleted' k delete namespace "$namespace" --timeout=30s
  refuse "and all in it" 'not found' k get namespace "$namespace"
}

# What is wrong is named, with its field; nothing comes of it, and everything else goes on.
bad_input() {
  local maps="/api/v1/namespaces/$namespace/configmaps" old=cluster.x-k8s.io/v1beta1 name
  printf '%0.s[' $(seq 100000) >"$work/deep.json"
  refuse "a document of endless depth" 'recursion limit exceeded' k create --raw "$maps" -f "$work/deep.json"
  echo '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","labels":{"a":1}}}' >"$work/label.json"
  refuse "a label that is no text" 'ObjectMeta.labels of type string' k create --raw "$maps" -f "$work/label.json"
  echo '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"1","a":"2"}}' >"$work/twice.json"
  refuse "a field given twice" 'duplicate field "data.a"' k create --raw "$maps?fieldValidation=Strict" -f "$work/twice.json"
  printf '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"\xff"}}' >"$work/bytes.json"
  refuse "bytes that are no text" 'invalid unicode' k create --raw "$maps" -f "$work/bytes.json"
  head -c 4000000 /dev/zero | tr '\0' ' ' >"$work/long.json"
  refuse "a document without end" 'too large' k create --raw "$maps" -f "$work/long.json"
  kn create configmap kept >/dev/null
  refuse "a selector that does not end" "found '', expected" kn get configmaps -l 'a in ('

  sed "s/replicas: 1/replicas: 2147483647/; s/clusterName: none/clusterName: crowd/; /infrastructureRef/s/hosts/nowhere/" "$work/pool.yaml" >"$work/huge.yaml"
  check "as many machines as a number can say, from a template that does not exist" 'pool created' \
    kn apply -f "$work/huge.yaml"
  name=$(printf 'a%.0s' $(seq 64))
  manifest cluster <<END
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: crowd}
spec: {infrastructureRef: {apiGroup: nowhere.example.com, kind: Cloud, name: missing}}
END
  check "a cluster on a provider that is not there" 'created' kn apply -f "$work/cluster.yaml"
  eventually "the missing provider is named" 'clouds.nowhere.example.com is not installed' \
    kn get cluster crowd -o jsonpath='{.status.conditions}'
  eventually "the missing templates are named" 'DevMachineTemplate nowhere does not exist' kn get machinedeployment pool -o jsonpath='{.status.conditions}'
  sed "s/crowd/$name/" "$work/cluster.yaml" >"$work/name.yaml"
  refuse "a name over its limit" 'metadata.name.*63' kn apply -f "$work/name.yaml"
  refuse "a field that may not change" 'spec.clusterName: Forbidden: field is immutable' \
    kn patch machinedeployment pool --type=merge -p '{"spec":{"clusterName":"other"}}'
  manifest old <<END
apiVersion: $old
kind: MachineDeployment
metadata: {name: old}
spec:
  clusterName: crowd
  selector: {}
  template:
    spec:
      clusterName: crowd
      nodeDrainTimeout: soon
      bootstrap: {dataSecretName: data}
      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: DevMachineTemplate, name: hosts}
END
  refuse "a value that has no form in the new version" 'BadRequest.*nodeDrainTimeout is not a duration: "soon"' \
    kn create -f "$work/old.yaml"
  check "delete what nothing came of" 'deleted' kn delete --timeout=20s machinedeployment/pool cluster/crowd
  check "the others went on" '^configmap/kept' kn get configmap kept -o name
}

# --- what a plane has to stand ----------------------------------------------------------------------------------------

restarts() {
  namespace=restarts
  k create namespace "$namespace" >/dev/null
  for number in 1 2 3 4 5; do kn create configmap "kept-$number" --from-literal="n=$number" >/dev/null; done
  local before
  before=$(kn get configmaps -o yaml -l '!none' --show-managed-fields)
  local definition
  definition=$(k get crd clusters.cluster.x-k8s.io -o jsonpath='{.metadata.resourceVersion}')
  refuse "a second plane on the same folder" 'has it open' "$capstan" up --data-dir "$work/data" --listen 127.0.0.1:0
  kill -9 "$plane"
  wait "$plane" 2>/dev/null || true
  start_plane "$work/data"
  if [ "$before" = "$(kn get configmaps -o yaml -l '!none' --show-managed-fields)" ]; then
    verdict yes "nothing is lost by kill -9" ""
  else
    verdict no "nothing is lost by kill -9" "$(kn get configmaps)"
  fi
  check "a restart writes no definition again" "^$definition\$" \
    k get crd clusters.cluster.x-k8s.io -o jsonpath='{.metadata.resourceVersion}'
  check "a private kubeconfig" '^600$' stat -c %a "$work/data/kubeconfig"

  local first=$plane port
  start_plane "$work/second"
  check "a second plane beside it" '^default' "$kubectl" --kubeconfig "$work/second/kubeconfig" get namespaces --no-headers
  port=$(sed -n 's/.*server: .*:\([0-9]*\).*/\1/p' "$work/data/kubeconfig")
  refuse "a port in use" 'choose another port' "$capstan" up --data-dir "$work/third" --listen "127.0.0.1:$port"
  for process in "$plane" "$first"; do
    kill -TERM "$process"
    if wait "$process"; then verdict yes "SIGTERM ends it in order" ""; else
      verdict no "SIGTERM ends it in order" "exit $?"; fi
  done
}

# A disk that fills up and is given room again. Needs to be able to mount a small one.
full_disk() {
  local disk=$work/disk
  mkdir "$disk"
  if ! mount -t tmpfs -o size=12m none "$disk" 2>/dev/null; then
    echo "full disk: not run: this user cannot mount a file system"
    return
  fi
  mounts+=("$disk")
  start_plane "$disk/data"
  head -c 900000 /dev/urandom >"$work/blob"
  on_disk() { "$kubectl" --kubeconfig "$disk/data/kubeconfig" "$@"; }
  local kept=0
  while on_disk create configmap "blob-$kept" --from-file="$work/blob" >"$work/answer" 2>&1; do kept=$((kept + 1)); done
  check "a full disk is named" 'store.redb: the disk is full; free space' cat "$work/answer"
  check "reads go on" "^$kept\$" bash -c '"$@" | wc -l' _ "$kubectl" --kubeconfig "$disk/data/kubeconfig" get configmaps -o name
  mount -o remount,size=64m "$disk"
  eventually "with room again, writes go on" 'created' on_disk create configmap small
  kill -TERM "$plane"
  wait "$plane" 2>/dev/null
  mount -o remount,ro "$disk"
  refuse "a read-only disk" 'the file system is read-only, choose another folder' "$capstan" up --data-dir "$disk/data" --listen 127.0.0.1:0
}

# --- the tier ---------------------------------------------------------------------------------------------------------

clients=()
usual=$(command -v kubectl || true; ls {/usr/lib,/opt,"$HOME"}/google-cloud-sdk/bin/kubectl* 2>/dev/null || true)
for candidate in ${KUBECTLS:-$usual}; do
  [ -x "$candidate" ] || continue
  real=$(realpath "$candidate")
  [[ " ${clients[*]-} " = *" $real "* ]] || clients+=("$real")
done
if [ ${#clients[@]} = 0 ]; then
  echo "kubectl tier: not run: no kubectl"
  exit 0
fi

cargo build --quiet --workspace || exit 1
capstan=${CARGO_TARGET_DIR:-target}/debug/capstan
client=plane
start_plane "$work/data"
number=0
for kubectl in "${clients[@]}"; do
  number=$((number + 1))
  namespace=tier-$number
  client="kubectl $("$kubectl" version --client -o json | sed -n 's/.*"gitVersion": "\([^"]*\)".*/\1/p' | head -1)"
  before=$failed
  discovery
  built_in_kinds
  watching
  custom_kinds
  bad_input
  deletion
  printf '%s: %s\n' "$client" "$([ "$before" = "$failed" ] && echo good || echo "$((failed - before)) failed")"
done
restarts
full_disk
echo "kubectl tier: $passed passed, $failed failed"
[ "$failed" = 0 ]
