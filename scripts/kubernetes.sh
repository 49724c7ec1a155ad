#!/usr/bin/env bash
# Builds the Kubernetes that the Docker tier's nodes run, from Go modules, and prints the folder that holds it.
#
# The programs lie outside of the checkout, under a key made of everything that pins them: a second run only prints.
# A run that was interrupted goes on with the program that it was at.
set -euo pipefail
cd "$(dirname "$0")/.."

kubernetes=1.36.3
coredns=v1.14.2
crictl=v1.34.0
containerd=v2.2.9

ground="$PWD/tests/ground"
key="$(cat scripts/kubernetes.sh "$ground"/go.sum "$ground"/etcd/go.sum "$ground"/*/main.go | sha256sum | cut -c1-16)"
bin="${CAPSTAN_CACHE:-$HOME/.cache/capstan}/kubernetes/$key/bin"
mkdir -p "$bin"

export CGO_ENABLED=0 GOFLAGS=-mod=mod
minor="${kubernetes#*.}"
version="k8s.io/component-base/version"
flags="-s -w -X $version.gitVersion=v$kubernetes -X $version.gitMajor=${kubernetes%%.*} -X $version.gitMinor=${minor%%.*}
  -X $version.gitTreeState=clean"

# make NAME FOLDER PACKAGE: builds a main package of the module in FOLDER.
make() {
    [ -x "$bin/$1" ] && return
    echo "building $1" >&2
    (cd "$2" && go build -trimpath -ldflags "$flags" -o "$bin/.$1" "$3")
    mv "$bin/.$1" "$bin/$1"
}

# take PACKAGE@VERSION: builds a main package of a module that nothing else here depends on.
take() {
    local name
    name="$(basename "${1%@*}")"
    [ -x "$bin/$name" ] && return
    echo "building $name" >&2
    GOFLAGS='' GOBIN="$bin/.new" go install -trimpath -ldflags "-s -w" "$1"
    mv "$bin/.new/$name" "$bin/$name"
}

for name in kubeadm kubelet kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubectl; do
    make "$name" "$ground" "k8s.io/kubernetes/cmd/$name"
done
make etcd "$ground/etcd" .
make pause "$ground/pause" .
take "github.com/containerd/containerd/v2/cmd/containerd@$containerd"
take "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2@$containerd"
take "github.com/containerd/containerd/v2/cmd/ctr@$containerd"
take "sigs.k8s.io/cri-tools/cmd/crictl@$crictl"
take "github.com/coredns/coredns@$coredns"
echo "$bin"
