#!/usr/bin/env bash
# Checks for what the build needs: cargo with the pinned toolchain, and a C compiler (for zstd).
# As root on Debian it installs what is missing; otherwise it says exactly what to install.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { printf 'error: %s\nhint: %s\n' "$1" "$2" >&2; exit 3; }

if ! command -v cc >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "installing a C compiler (package gcc) ..." >&2
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq gcc libc6-dev >&2
    else
        fail "no C compiler (cc) found" "Debian, Ubuntu: sudo apt-get install gcc libc6-dev; Fedora: sudo dnf install gcc"
    fi
fi

wanted=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
if ! command -v cargo >/dev/null 2>&1; then
    fail "cargo not found" "install Rust $wanted with rustup: https://rustup.rs, then open a new shell"
fi
if ! cargo --version >/dev/null 2>&1; then
    fail "the pinned Rust toolchain $wanted is not installed" "rustup toolchain install $wanted --component clippy,rustfmt"
fi
