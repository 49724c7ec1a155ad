#!/usr/bin/env bash
# Passes the tests: formatting, lints, dependencies, house rules, unit and integration tests, and the tiers that use
# real clients. Every tier says plainly what it misses where it cannot run.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/prepare.sh

step() { printf '\n== %s\n' "$1"; }

step "format"
cargo fmt --all --check

step "lints"
cargo clippy --quiet --workspace --lib --bins -- -D warnings
# Tests may unwrap: a panic is how a test fails.
cargo clippy --quiet --workspace --all-targets -- -D warnings -A clippy::unwrap_used -A clippy::too_many_lines

step "house rules"
cargo xtask tidy

step "dependencies"
command -v cargo-deny >/dev/null 2>&1 || cargo install --quiet --locked cargo-deny
cargo deny --log-level error check licenses bans sources
# Advisories need a database from the network; where it cannot be had, that is said and nothing is claimed.
if cargo deny --log-level off fetch db >/dev/null 2>&1; then
  cargo deny --log-level error check advisories
else
  echo "advisories: not run: the advisory database cannot be reached"
fi

step "tests"
cargo test --workspace

step "simulator"
# Seeds and crash points are the same in every run; how many of them are made depends on the time.
cargo xtask sim --seeds 1..1001 --minutes 3
cargo xtask sim crash-sweep --scenario create-1-1
cargo xtask sim crash-sweep --minutes 2

step "kubectl tier"
scripts/kubectl-tier.sh
