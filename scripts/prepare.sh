#!/usr/bin/env bash
# Installs what building needs on Debian: a C compiler and linker (for ring). Sourced by the other scripts.
need_package() { # command, package
  command -v "$1" >/dev/null 2>&1 && return
  echo "installing $2 (for $1)"
  local sudo=""
  [ "$(id -u)" = 0 ] || sudo="sudo"
  $sudo apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq "$2" >/dev/null
}
need_package cc build-essential
command -v cargo >/dev/null 2>&1 || { echo "Rust is missing: install it with rustup, then run this again" >&2; exit 1; }
