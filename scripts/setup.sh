#!/usr/bin/env bash
# Checks the requirements of the build: cargo with the pinned toolchain, a C compiler (for zstd), Node.js with npm (for the web app). `demo` and
# `tests` also need Python with NumPy in a virtual environment (.venv); `tests` also needs Chromium, nats-server and PostgreSQL.
# As root on Debian it installs what is missing. Otherwise it prints what to install.
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

# The minimum version for Vite; Debian 12 has an older one.
node_ready() { node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null && command -v npm >/dev/null 2>&1; }
if ! node_ready; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "installing Node.js (packages nodejs, npm) ..." >&2
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq nodejs npm >&2
    fi
    node_ready || fail "Node.js 20.19 or newer with npm is needed to build the replay viewer; found: $(node --version 2>/dev/null || echo none)" \
        "Debian 13, Ubuntu 25.04 or newer: sudo apt-get install nodejs npm; others: https://nodejs.org"
fi

wanted=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
if ! command -v cargo >/dev/null 2>&1; then
    fail "cargo not found" "install Rust $wanted with rustup: https://rustup.rs, then open a new shell"
fi
if ! cargo --version >/dev/null 2>&1; then
    fail "the pinned Rust toolchain $wanted is not installed" "rustup toolchain install $wanted --component clippy,rustfmt"
fi

# Bots of the demonstration (`setup.sh demo`) and of tests (`setup.sh tests`) need Python with NumPy. Everything else works without it.
case "${1:-}" in tests | demo) ;; *) exit 0 ;; esac
numpy_ready() { [ -x .venv/bin/python ] && .venv/bin/python -c 'import numpy' >/dev/null 2>&1; }
make_venv() {
    command -v python3 >/dev/null 2>&1 && python3 -m venv .venv >&2 &&
        .venv/bin/python -m pip install --quiet --disable-pip-version-check numpy >&2
}
if ! numpy_ready; then
    echo "making a virtual environment with NumPy in .venv ..." >&2
    if ! make_venv && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        # Debian's python3 package lacks the module that makes virtual environments.
        echo "installing Python (packages python3, python3-venv) ..." >&2
        rm -rf .venv
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3 python3-venv >&2
        make_venv || true
    fi
    if ! numpy_ready; then
        hint='Debian, Ubuntu: sudo apt-get install python3-venv, then run this script again'
        [ "$1" = tests ] || fail "no Python with NumPy in .venv; the bots of the demonstration need it" "$hint"
        printf 'note: no Python with NumPy in .venv; tests of Python bots that need it are skipped\nhint: %s\n' "$hint" >&2
    fi
fi

# Only tests need Chromium, nats-server and PostgreSQL.
[ "${1:-}" = tests ] || exit 0

# The tests of an editor's debugger and of the types of the modules for editors need these. Without them, these tests are skipped.
for module in debugpy mypy; do
    if numpy_ready && ! .venv/bin/python -c "import $module" >/dev/null 2>&1; then
        .venv/bin/python -m pip install --quiet --disable-pip-version-check "$module" >&2 ||
            echo "note: $module cannot be installed in .venv; a test that needs it is skipped" >&2
    fi
done

# Tests as root also run bots as an ordinary user, which cannot run a Python below root's home folder. Then they use Debian's Python.
# (Through `env`, because setpriv looks the program up as root.)
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null 2>&1; then
    ordinary_python() { setpriv --reuid=65534 --regid=65534 --clear-groups /usr/bin/env "$1" -c 'import numpy' >/dev/null 2>&1; }
    if ! ordinary_python .venv/bin/python && ! ordinary_python /usr/bin/python3; then
        if command -v apt-get >/dev/null 2>&1; then
            echo "installing Python with NumPy for ordinary users (package python3-numpy) ..." >&2
            (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-numpy >&2) || true
        fi
        ordinary_python /usr/bin/python3 || printf 'note: no Python with NumPy that an ordinary user can run; some tests are skipped\nhint: Debian: apt-get install python3-numpy\n' >&2
    fi
fi
if [ ! -x "${AGON_CHROMIUM:-/usr/bin/chromium}" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "installing Chromium (package chromium) ..." >&2
        (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >&2) || true
    fi
    if [ ! -x "${AGON_CHROMIUM:-/usr/bin/chromium}" ]; then
        printf 'note: no Chromium; the tests of the replay viewer in a browser are skipped\n' >&2
        printf 'hint: Debian: sudo apt-get install chromium; or AGON_CHROMIUM=/path/to/chromium\n' >&2
    fi
fi

# Tests of competitions with workers start their own nats-server and PostgreSQL on free ports.
nats_ready() { command -v nats-server >/dev/null 2>&1 || [ -x /usr/sbin/nats-server ] || [ -x /usr/local/bin/nats-server ]; }
postgres_ready() { command -v initdb >/dev/null 2>&1 || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; }
# Debian's packages start their services (and postgresql makes a cluster) when they are installed. The tests do not need these services: `policy-rc.d` tells
# Debian to start nothing, and systemd is told not to start them at boot. An existing policy stays unchanged.
install_servers() {
    local policy=/usr/sbin/policy-rc.d ours=
    if [ ! -e "$policy" ]; then
        printf '#!/bin/sh\nexit 101\n' > "$policy" && chmod 755 "$policy" && ours=1
    fi
    local failed=0
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"; } >&2 || failed=1
    [ -z "$ours" ] || rm -f "$policy"
    if [ -d /run/systemd/system ]; then
        local package
        for package in "$@"; do systemctl disable --quiet --now "$package" >&2 || true; done
    fi
    return "$failed"
}
missing=()
nats_ready || missing+=(nats-server)
postgres_ready || missing+=(postgresql)
if [ "${#missing[@]}" -gt 0 ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "installing servers for tests (packages ${missing[*]}) ..." >&2
        install_servers "${missing[@]}" || true
    fi
    if ! nats_ready || ! postgres_ready; then
        printf 'note: no %s; tests of competitions with workers are skipped\n' "${missing[*]}" >&2
        printf 'hint: Debian, Ubuntu: sudo apt-get install %s; others: https://nats.io, https://postgresql.org\n' "${missing[*]}" >&2
    fi
fi
