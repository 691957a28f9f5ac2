#!/usr/bin/env bash
# `make soak`: the proofs that take long, at full length, one after the other, each bounded in time. Prints a line for each at
# the end, and fails if one failed.
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
# Name, longest time, crate, words for cargo (before `--`) and for the tests (behind it).
part() {
    local name=$1 longest=$2 crate=$3 begin=$SECONDS word=passed
    shift 3
    echo "== $name (at most $longest)" | tee -a "$log"
    AGON_SOAK=1 timeout --kill-after=10s "$longest" "$cargo" test --locked -p "$crate" "$@" 2>&1 | tee -a "$log"
    [ "${PIPESTATUS[0]}" = 0 ] || { word=FAILED; failed=1; }
    summary+=$(printf '%-8s %5d s  %s' "$word" $((SECONDS - begin)) "$name")$'\n'
}

part "clocks on a loaded machine" 60m agon --test load -- --nocapture --test-threads=1
part "nothing is left, 10,000 games in a row" 60m agon --test leaks -- --nocapture --test-threads=1
part "intervals, ratings and settled orders against the truth" 20m agon-league coverage -- --nocapture --include-ignored
part "compare errs as seldom as it says" 30m agon-league --test compare -- --nocapture --ignored
part "competitions killed at 200 moments" 60m agon --test killed -- --nocapture --test-threads=1
part "a league on many machines, 100 things that break" 20m agon --test chaos -- --nocapture --test-threads=1
part "requests made from the API's description, all answered as described" 30m agon-server --test generated -- --nocapture
begin=$SECONDS word=passed
echo "== Schemathesis against a server (at most 40m)" | tee -a "$log"
CARGO=$cargo timeout --kill-after=10s 40m scripts/schemathesis.sh 2>&1 | tee -a "$log"
[ "${PIPESTATUS[0]}" = 0 ] || { word=FAILED; failed=1; }
summary+=$(printf '%-8s %5d s  %s' "$word" $((SECONDS - begin)) "Schemathesis against a server")$'\n'
begin=$SECONDS word=passed
scripts/leftovers.sh since target/before-soak.txt || { word=FAILED; failed=1; }
summary+=$(printf '%-8s %5d s  %s' "$word" $((SECONDS - begin)) "what is left over after all of it")

printf '\n%s\n' "$summary"
echo "figures: $log"
exit "$failed"
