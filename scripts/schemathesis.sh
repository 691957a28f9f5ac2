#!/usr/bin/env bash
# Schemathesis against a running `agon serve`: requests made from the API's own description, as nobody, an author and an organiser. No
# answer may be a 5xx, or one that the description does not know. `scripts/schemathesis.sh [SECONDS for each of the three]`.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-300}
cargo=${CARGO:-cargo}
tools=$PWD/.tools/schemathesis
hooks=$PWD/scripts/schemathesis.py
version=4.32.5

# In an environment of its own: what Agon needs to run is not touched by it.
if ! "$tools/bin/schemathesis" --version 2>/dev/null | grep -q "$version"; then
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version"
fi
"$cargo" build --locked -p agon
data=$(mktemp -d)
server=
stop() {
    [ -z "$server" ] || { kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; }
    rm -rf "$data"
}
trap stop EXIT
export AGON_ORGANISER_PASSWORD="no password for a real site"
target/debug/agon serve --listen 127.0.0.1:0 --data "$data/agon" --sign-up open --proxies 1 2>"$data/log" &
server=$!
for _ in $(seq 100); do
    url=$(grep -oE 'http://127\.0\.0\.1:[0-9]+' "$data/log" | head -n 1 || true)
    [ -z "$url" ] || break
    sleep 0.2
done
[ -n "$url" ] || { cat "$data/log"; echo "error: the server did not start"; exit 3; }
"$tools/bin/python" scripts/schemathesis.py "$url" "$AGON_ORGANISER_PASSWORD" "$data/tokens.json"

failed=0
for role in nobody author organiser; do
    echo "== as $role"
    # Streams have no end that could be waited for; crates/agon-server/tests/generated.rs asks for them.
    # It leaves its notes where it runs.
    (cd "$data" && AGON_ROLE=$role AGON_TOKENS=$data/tokens.json SCHEMATHESIS_HOOKS=$hooks PYTHONDONTWRITEBYTECODE=1 \
        "$tools/bin/schemathesis" run "$url/api/openapi.json" --url "$url" --no-color --seed 5 --max-time "$seconds" \
        --generation-database none --continue-on-failure --request-timeout 60 --phases examples,coverage,fuzzing,stateful \
        --suppress-health-check all --exclude-path-regex '/(events|watch)$' \
        --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance) || failed=1
    kill -0 "$server" || { cat "$data/log"; echo "error: the server is gone"; server=; exit 1; }
done
grep -E "^error:" "$data/log" && { echo "error: something broke in the server, see above"; failed=1; }
exit "$failed"
