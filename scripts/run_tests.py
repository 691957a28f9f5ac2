#!/usr/bin/env python3
"""Builds and runs all tests: the workspace's test programs in parallel, the examples in the documentation, the Python tests and the web tests.

    scripts/run_tests.py [--jobs N] [NAME ...]     run only suites whose name contains one of these, as `make test` lists them

Most tests wait for something (a server, a bot that sleeps), so several programs run in parallel to keep all cores busy. Suites that load the
machine themselves, or look at all of its processes, run alone at the end. The output of a suite is in target/test-logs, and is printed if the
suite fails. Tests that could not run are counted and named at the end (`scripts/skipped-tests.sh`).
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import threading
import time
from typing import Dict, List, NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGET = os.path.join(ROOT, os.environ.get("CARGO_TARGET_DIR", "target"))
CARGO = os.environ.get("CARGO", "cargo")
LOGS = os.path.join(TARGET, "test-logs")
TIMES = os.path.join(TARGET, "test-times.json")
"""Durations of the suites in the last run: long ones start first."""
SKIPPED = os.path.join(TARGET, "skipped-tests.txt")
SUITE_TIMEOUT = 45 * 60
"""Seconds after which a suite is killed."""
RUN_ALONE = {"agon::hostile", "agon::load", "agon::leaks"}
"""Suites that start many busy processes, or count the processes and files that bots left on this machine."""
WAITING_SUITES = {"agon::hostile"}
"""Suites that run alone and mostly wait: they get twice as many threads as there are cores."""
LONG_SUITES = ["web", "agon::hostile", "agon::chaos", "agon-grid::together", "agon-grid::coordinator", "agon-grid::worker", "python"]
"""Start first if no durations are known."""


class Suite(NamedTuple):
    name: str
    command: List[str]
    folder: str
    environment: Dict[str, str] = {}


class Result(NamedTuple):
    suite: Suite
    code: int
    seconds: float
    processor_seconds: float
    log: str


def test_programs() -> List[Suite]:
    """Builds the test programs of the workspace."""
    command = [CARGO, "test", "--workspace", "--locked", "--no-run", "--message-format=json-render-diagnostics"]
    built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if built.returncode:
        sys.exit(built.returncode)
    suites = []
    for line in built.stdout.splitlines():
        message = json.loads(line) if line.startswith("{") else {}
        if message.get("reason") != "compiler-artifact" or not message["profile"]["test"] or not message.get("executable"):
            continue
        folder = os.path.dirname(message["manifest_path"])
        target = message["target"]
        name = f"{os.path.basename(folder)}::{target['name']}" if "test" in target["kind"] else f"{os.path.basename(folder)} ({target['kind'][0]})"
        # As `cargo test` sets them. With INSTA_WORKSPACE_ROOT, insta need not run cargo for each test.
        environment = {"CARGO": CARGO, "CARGO_MANIFEST_DIR": folder, "INSTA_WORKSPACE_ROOT": ROOT}
        if name in WAITING_SUITES:
            environment["RUST_TEST_THREADS"] = str(2 * (os.cpu_count() or 2))
        suites.append(Suite(name, [message["executable"]], folder, environment))
    return suites


def python() -> str:
    own = os.path.join(ROOT, ".venv", "bin", "python")
    return own if os.access(own, os.X_OK) else "python3"


def other_suites() -> List[Suite]:
    return [
        Suite("examples in documentation", [CARGO, "test", "--workspace", "--locked", "--doc"], ROOT),
        Suite("python", [python(), os.path.join("scripts", "python_tests.py")], ROOT),
        Suite("web", ["npm", "test"], os.path.join(ROOT, "web")),
    ]


def known_times() -> Dict[str, float]:
    try:
        with open(TIMES, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


class Pool:
    """Runs suites in parallel."""

    def __init__(self, total: int) -> None:
        self.results: List[Result] = []
        self.lock = threading.Lock()
        self.total = total

    def run(self, suites: List[Suite], jobs: int) -> None:
        waiting = list(suites)

        def work() -> None:
            while True:
                with self.lock:
                    if not waiting:
                        return
                    suite = waiting.pop(0)
                result = run_one(suite)
                with self.lock:
                    self.results.append(result)
                    self.report(result)

        threads = [threading.Thread(target=work, daemon=True) for _ in range(jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def report(self, result: Result) -> None:
        word = "FAILED" if result.code else "ok"
        print(f"[{len(self.results):3}/{self.total}] {word:6} {result.seconds:6.1f} s ({result.processor_seconds:5.1f} s of a core)  {result.suite.name}", flush=True)
        if result.code:
            with open(result.log, encoding="utf-8", errors="replace") as file:
                print(file.read(), flush=True)


def run_one(suite: Suite) -> Result:
    log = os.path.join(LOGS, re.sub(r"[^A-Za-z0-9_.-]+", "-", suite.name).strip("-") + ".txt")
    environment = {**os.environ, "AGON_SKIPPED_TESTS": SKIPPED, **suite.environment}
    begin = time.monotonic()
    with open(log, "wb") as file:
        process = subprocess.Popen(
            suite.command, cwd=suite.folder, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT
        )
        timer = threading.Timer(SUITE_TIMEOUT, process.kill)
        timer.start()
        # Not `process.wait`: only this tells what the suite's processes have used.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = code = os.waitstatus_to_exitcode(status)
        if timer.finished.is_set():
            code = code or 1
            file.write(f"\nerror: the suite did not end within {SUITE_TIMEOUT // 60} minutes\n".encode())
        timer.cancel()
    return Result(suite, code, time.monotonic() - begin, usage.ru_utime + usage.ru_stime, log)


def counts(results: List[Result]) -> List[int]:
    """Numbers of passed, failed and skipped tests, from the output of the test runners."""
    passed = failed = skipped = 0
    for result in results:
        with open(result.log, encoding="utf-8", errors="replace") as file:
            text = re.sub(r"\x1b\[[0-9;]*m", "", file.read())
        reported = 0
        for good, bad, ignored in re.findall(r"^test result: .*?(\d+) passed; (\d+) failed; (\d+) ignored", text, re.M):
            passed, failed, skipped, reported = passed + int(good), failed + int(bad), skipped + int(ignored), reported + 1
        ran = re.search(r"^Ran (\d+) tests? in", text, re.M)
        if ran:
            verdict = re.findall(r"^(?:OK|FAILED)(?: \((.*)\))?$", text, re.M)[-1:] or [""]
            bad = sum(int(n) for n in re.findall(r"(?<!expected )(?:failures|errors)=(\d+)", verdict[0]))
            left = sum(int(n) for n in re.findall(r"skipped=(\d+)", verdict[0]))
            passed, failed, skipped, reported = passed + int(ran[1]) - bad - left, failed + bad, skipped + left, reported + 1
        web = re.search(r"^\s*Tests\s+(.*)$", text, re.M)
        if web:
            number = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|skipped)", web[1])}
            passed, failed, skipped = passed + number.get("passed", 0), failed + number.get("failed", 0), skipped + number.get("skipped", 0)
            reported += 1
        # A program without a known test runner counts as one test. One that stopped before it printed a result has failed.
        if not reported and result.code == 0:
            passed += 1
        if result.code and not reported:
            failed += 1
    return [passed, failed, skipped]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=0, help="parallel suites (default: number of CPU cores + 1)")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    os.makedirs(LOGS, exist_ok=True)
    open(SKIPPED, "w", encoding="utf-8").close()
    begin = time.monotonic()
    suites = test_programs() + other_suites()
    built = time.monotonic() - begin
    if options.names:
        suites = [suite for suite in suites if any(name in suite.name for name in options.names)]
    times = known_times()
    first = {name: 1000.0 - number for number, name in enumerate(LONG_SUITES)}
    suites.sort(key=lambda suite: -times.get(suite.name, first.get(suite.name, 0.0)))
    pool = Pool(len(suites))
    pool.run([suite for suite in suites if suite.name not in RUN_ALONE], options.jobs or (os.cpu_count() or 2) + 1)
    pool.run([suite for suite in suites if suite.name in RUN_ALONE], 1)
    results = sorted(pool.results, key=lambda result: -result.seconds)
    times.update({result.suite.name: round(result.seconds, 1) for result in results})
    with open(TIMES, "w", encoding="utf-8") as file:
        json.dump(times, file, indent=1, sort_keys=True)
    total = time.monotonic() - begin
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"\nbuilt in {built:.0f} s, ran {len(results)} suites in {total - built:.0f} s (processor time: {used.ru_utime + used.ru_stime:.0f} s); the longest:")
    for result in results[:10]:
        print(f"  {result.seconds:6.1f} s  {result.suite.name}")
    bad = [result.suite.name for result in results if result.code]
    if bad:
        print(f"failed: {', '.join(sorted(bad))}")
    missing = subprocess.run([os.path.join(ROOT, "scripts", "skipped-tests.sh"), SKIPPED]).returncode
    passed, failed, skipped = counts(results)
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if bad or missing or not results else 0


if __name__ == "__main__":
    sys.exit(main())
