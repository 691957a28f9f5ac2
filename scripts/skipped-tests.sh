#!/usr/bin/env bash
# Counts and names the tests that could not run: `scripts/skipped-tests.sh FILE`. Tests append to FILE (AGON_SKIPPED_TESTS) a line each, with
# tabs between suite, test, reason, and what would make it possible: `setup` (scripts/setup.sh tests) or `machine`.
# With CI or AGON_REQUIRE_ALL set, exit code 1 if the set-up should have made one possible.
set -euo pipefail
[ "$#" = 1 ] || { sed -n '2s/^# *//p' "$0" >&2; exit 2; }
list=$(sort -u "$1" 2>/dev/null || true)
if [ -z "$list" ]; then
    echo "every test could run"
    exit 0
fi
echo "$(cut -f 1,2 <<<"$list" | sort -u | wc -l) tests could not run, or a part of them could not:"
awk -F '\t' '{ printf "  %-7s %s: %s\n", $1, $2, $3 }' <<<"$list"
if grep -q $'\tsetup$' <<<"$list"; then
    echo "hint: scripts/setup.sh tests installs what is missing, or says how"
    [ -z "${CI:-}${AGON_REQUIRE_ALL:-}" ] || { echo "error: the set-up should have made all tests possible" >&2; exit 1; }
fi
