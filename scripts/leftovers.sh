#!/usr/bin/env bash
# Finds what bots and games have left behind: processes, shared memory, temporary folders, cgroups, mounts.
#   scripts/leftovers.sh list            list what exists now, one item a line
#   scripts/leftovers.sh since FILE      list what exists now and is not in FILE (an earlier list); exit code 1 if there is anything
# Waits some seconds for things that are about to disappear. Programs of another checkout on the same machine are ignored. While such
# programs run, leftovers in shared places (/tmp, /dev/shm, cgroups) may be theirs and are only reported.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd -P)
target=$(cd "${CARGO_TARGET_DIR:-$root/target}" 2>/dev/null && pwd -P || echo "$root/target")
# The first user id of bots (crates/agon-host/src/sandbox/policy.rs).
first_user=1900000000
timeout=${AGON_LEFTOVERS_TIMEOUT:-15}

usage() { sed -n '3,4s/^# *//p' "$0" >&2; exit 2; }

# Field 4 of /proc/PID/stat is the parent, 22 the start time. The name in field 2 may contain blanks, so everything up to `)` is removed.
stat_of() { local line; line=$(cat "/proc/$1/stat" 2>/dev/null) && echo "${line##*) }"; }

# Whether a program of another build started the process.
is_foreign() {
    local pid=$1 exe fields
    while [ "$pid" -gt 1 ]; do
        exe=$(readlink "/proc/$pid/exe" 2>/dev/null || true)
        case $exe in "$target"/*) return 1 ;; */debug/* | */release/* | */agon) return 0 ;; esac
        read -r -a fields <<<"$(stat_of "$pid")"
        pid=${fields[1]:-1}
    done
    return 1
}

# Whether programs of another checkout, or another copy of agon, are running.
others_run() { ls -l /proc/[0-9]*/exe 2>/dev/null | grep -E -- '-> .*(/(debug|release)/|/agon$)' | grep -vF -- "-> $target/" >/dev/null; }

process() {
    local pid=$1 fields words
    read -r -a fields <<<"$(stat_of "$pid")"
    # A zombie is a leftover too. A process that has just disappeared is not.
    [ "${#fields[@]}" -gt 19 ] || return 0
    words=$(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | cut -c -120 || true)
    echo "process $pid (started ${fields[19]}, ${fields[0]}): $words"
}

# Our processes: by their executable, or by the variables that every bot has in its environment.
processes() {
    local pid
    for pid in $( {
        ls -l /proc/[0-9]*/exe 2>/dev/null | grep -F -- "-> $target/" | sed -E 's#.* /proc/([0-9]+)/exe .*#\1#'
        grep -slzE '^AGON_(GAME|SEED)=' /proc/[0-9]*/environ | cut -d / -f 3
    } | sort -un || true); do
        is_foreign "$pid" || process "$pid"
    done
}

shared_memory() {
    find /dev/shm -mindepth 1 \( -name 'agon*' -o -uid "+$((first_user - 1))" \) -printf 'shared memory %p\n' 2>/dev/null || true
    # System V: the owner is the eighth column of shm and msg, the fifth of sem.
    awk -v first="$first_user" 'FNR > 1 && $8 >= first { print "shared memory, System V, key " $1 }' /proc/sysvipc/shm 2>/dev/null || true
    awk -v first="$first_user" 'FNR > 1 && $8 >= first { print "message queue, System V, key " $1 }' /proc/sysvipc/msg 2>/dev/null || true
    awk -v first="$first_user" 'FNR > 1 && $5 >= first { print "semaphore, System V, key " $1 }' /proc/sysvipc/sem 2>/dev/null || true
}

# Only folders of this user. Workers keep one folder on purpose: the lock files of the cores (crates/agon-grid/src/worker/core_locks.rs).
folders() {
    find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'agon*' ! -name "agon-cores-$(id -u)" -user "$(id -u)" -printf 'temporary %p\n' 2>/dev/null || true
    find "$target/tmp" -maxdepth 1 -name '.tmp*' -printf 'temporary %p\n' 2>/dev/null || true
}

list() {
    processes
    shared_memory
    folders
    find /sys/fs/cgroup -type d -name 'agon-*' -printf 'cgroup %p\n' 2>/dev/null || true
    awk '$1 == "agon" || ($1 == "scratch" && $3 == "tmpfs") { print "mount " $2 }' /proc/self/mounts
}

# Removes the state (S, R, T) of a process, which changes while it runs.
without_state() { sed -E 's/^(process [0-9]+ \(started [0-9]+), .\)/\1)/' | sort; }

case ${1:-} in
list) list ;;
since)
    [ -n "${2:-}" ] || usage
    [ -f "$2" ] || { printf 'error: no such file: %s\nhint: create it before the tests: scripts/leftovers.sh list > %s\n' "$2" "$2" >&2; exit 2; }
    before=$(without_state <"$2")
    end=$((SECONDS + timeout))
    others=
    while :; do
        left=$(comm -13 <(echo "$before") <(list | without_state) | sed '/^$/d')
        others_run && others=yes
        [ -n "$left" ] && [ "$SECONDS" -lt "$end" ] || break
        sleep 0.2
    done
    if [ -n "$others" ] && [ -n "$left" ]; then
        perhaps=$(grep -vE "^(process|mount|temporary $target/)" <<<"$left" || true)
        left=$(grep -E "^(process|mount|temporary $target/)" <<<"$left" || true)
        [ -z "$perhaps" ] || printf 'note: programs of another checkout are running; these may be theirs:\n%s\n' "$perhaps" >&2
    fi
    if [ -n "$left" ]; then
        printf 'error: still there %s s after the end:\n%s\n' "$timeout" "$left" >&2
        exit 1
    fi
    echo "no leftovers" >&2
    ;;
*) usage ;;
esac
