#!/usr/bin/env bash
# `make soak`: runs the long tests at full length, one after the other, each with a timeout. Prints a line for each at the end, and fails if
# one failed.
set -uo pipefail
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
log=target/soak.txt
mkdir -p target
scripts/leftovers.sh list >target/before-soak.txt

"$cargo" test --locked -p agon --test load --test leaks --no-run || exit 3
failed=0
summary=
: >"$log"
# Arguments: name, timeout, crate, arguments of cargo, `--`, arguments of the test program.
part() {
    local name=$1 timeout=$2 crate=$3 begin=$SECONDS word=passed
    shift 3
    echo "== $name (timeout $timeout)" | tee -a "$log"
    AGON_SOAK=1 timeout --kill-after=10s "$timeout" "$cargo" test --locked -p "$crate" "$@" 2>&1 | tee -a "$log"
    [ "${PIPESTATUS[0]}" = 0 ] || { word=FAILED; failed=1; }
    summary+=$(printf '%-8s %5d s  %s' "$word" $((SECONDS - begin)) "$name")$'\n'
}

part "clocks on a loaded machine" 60m agon --test load -- --nocapture --test-threads=1
part "no leftovers after 12,000 games and two hours of hostile bots" 240m agon --test leaks -- --nocapture --test-threads=1
part "coverage of confidence intervals, ratings and final orders" 20m agon-league coverage -- --nocapture --include-ignored
part "error rates of compare" 30m agon-league --test compare -- --nocapture --ignored
part "competitions killed at 200 random moments" 60m agon --test killed -- --nocapture --test-threads=1
part "a league with workers and 100 failures" 20m agon --test chaos -- --nocapture --test-threads=1
part "generated API requests get documented responses" 30m agon-server --test generated -- --nocapture
begin=$SECONDS word=passed
echo "== Schemathesis against a server (timeout 40m)" | tee -a "$log"
CARGO=$cargo timeout --kill-after=10s 40m scripts/schemathesis.sh 2>&1 | tee -a "$log"
[ "${PIPESTATUS[0]}" = 0 ] || { word=FAILED; failed=1; }
summary+=$(printf '%-8s %5d s  %s' "$word" $((SECONDS - begin)) "Schemathesis against a server")$'\n'
begin=$SECONDS word=passed
scripts/leftovers.sh since target/before-soak.txt || { word=FAILED; failed=1; }
summary+=$(printf '%-8s %5d s  %s' "$word" $((SECONDS - begin)) "leftovers after all parts")

printf '\n%s\n' "$summary"
echo "log: $log"
exit "$failed"
