#!/usr/bin/env bash
# Builds Capstan and runs its main job: an embedded management plane, and a 3 + 3 cluster brought to Running.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/prepare.sh
cargo build --quiet --release --package capstan
exec "${CARGO_TARGET_DIR:-target}/release/capstan" demo "$@"
