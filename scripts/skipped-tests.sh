#!/usr/bin/env bash
# Counts and names the tests that could not run: `scripts/skipped-tests.sh FILE`. Each such test appends a line to FILE (AGON_SKIPPED_TESTS): suite,
# test, reason, and what it needs: `setup` (scripts/setup.sh tests) or `machine` (another machine), separated by tabs.
# With CI or AGON_REQUIRE_ALL set, the exit code is 1 if a skipped test needs only the setup.
set -euo pipefail
[ "$#" = 1 ] || { sed -n '2s/^# *//p' "$0" >&2; exit 2; }
list=$(sort -u "$1" 2>/dev/null || true)
if [ -z "$list" ]; then
    echo "no test was skipped"
    exit 0
fi
echo "$(cut -f 1,2 <<<"$list" | sort -u | wc -l) tests could not run, or not completely:"
awk -F '\t' '{ printf "  %-7s %s: %s\n", $1, $2, $3 }' <<<"$list"
if grep -q $'\tsetup$' <<<"$list"; then
    echo "hint: run scripts/setup.sh tests; it installs what is missing, or prints what to install"
    [ -z "${CI:-}${AGON_REQUIRE_ALL:-}" ] || { echo "error: tests were skipped that scripts/setup.sh tests makes possible" >&2; exit 1; }
fi
