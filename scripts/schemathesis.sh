#!/usr/bin/env bash
# Runs Schemathesis against `agon serve`: it makes requests from the API's OpenAPI description, as an anonymous client, an author and an organiser.
# No response may be a 5xx, or one that the description does not list. `scripts/schemathesis.sh [SECONDS for each of the three]`.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-300}
cargo=${CARGO:-cargo}
tools=$PWD/.tools/schemathesis
hooks=$PWD/scripts/schemathesis.py
version=4.32.5

# In a separate environment, which does not affect the one that Agon uses.
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
for role in anonymous author organiser; do
    echo "== as $role"
    # Streams never end, so they are excluded; crates/agon-server/tests/generated.rs tests them.
    # Schemathesis writes files to its working folder.
    (cd "$data" && AGON_ROLE=$role AGON_TOKENS=$data/tokens.json SCHEMATHESIS_HOOKS=$hooks PYTHONDONTWRITEBYTECODE=1 \
        "$tools/bin/schemathesis" run "$url/api/openapi.json" --url "$url" --no-color --seed 5 --max-time "$seconds" \
        --generation-database none --continue-on-failure --request-timeout 60 --phases examples,coverage,fuzzing,stateful \
        --suppress-health-check all --exclude-path-regex '/(events|watch)$' \
        --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance) || failed=1
    kill -0 "$server" || { cat "$data/log"; echo "error: the server has stopped"; server=; exit 1; }
done
grep -E "^error:" "$data/log" && { echo "error: the server logged errors, see above"; failed=1; }
exit "$failed"
