#!/usr/bin/env python3
"""Measures what practice costs a running competition, and how soon a challenge is answered.

Starts `agon serve` in a temporary folder. One competition with house bots runs on all cores. Another one is open, with uploaded
Python bots on its practice ladder. The script compares the games per second of the running competition with and without practice, in
turns, and sends challenges of house bots and of an uploaded bot beside it.

Usage: measure_practice.py --game GAME [--agon PROGRAM] [--bots 50] [--seconds 60] [--rounds 3]

Run it on an idle machine with a release build. The last lines are JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from typing import Any, Dict, List, Optional

PASSWORD = "a good long password"
FILE = 'game = "{game}"\nseed = "measured"\n[settings]\nrounds = 200\n[[phase]]\nformat = "round-robin"\nlegs = {legs}\n'
WAIT_TIMEOUT = 300.0
# An address may sign up five times in a row, and an account submit twenty bots.
AUTHORS = 4


class Client:
    """A user with an API token."""

    def __init__(self, url: str, name: str, invitation: Optional[str] = None) -> None:
        self.url, self.token = url, ""
        body = {"name": name, "password": PASSWORD, "invitation": invitation}
        request = self.request("POST", "accounts", body)
        with urllib.request.urlopen(request) as response:
            cookie = response.headers["set-cookie"].split(";")[0]
            csrf = json.load(response)["csrf"]
        request = self.request("POST", "me/tokens", {"label": "measure"})
        request.add_header("Cookie", cookie)
        request.add_header("X-CSRF-Token", csrf)
        with urllib.request.urlopen(request) as response:
            self.token = json.load(response)["token"]

    def request(self, method: str, path: str, body: Optional[Dict[str, Any]] = None) -> urllib.request.Request:
        request = urllib.request.Request(f"{self.url}/api/v1/{path}", method=method)
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        return request

    def send(self, method: str, path: str, body: Optional[Dict[str, Any]] = None) -> Any:
        try:
            with urllib.request.urlopen(self.request(method, path, body)) as response:
                text = response.read()
        except urllib.error.HTTPError as error:
            sys.exit(f"{method} {path}: {error.code} {error.read().decode()}")
        return json.loads(text) if text else None


def wait_for(what: str, value: Any) -> Any:
    """Waits until `value()` gives something."""
    until = time.monotonic() + WAIT_TIMEOUT
    while time.monotonic() < until:
        found = value()
        if found:
            return found
        time.sleep(0.2)
    sys.exit(f"{what} did not happen within {WAIT_TIMEOUT:.0f} s")


def create(organiser: Client, name: str, game: str, legs: int, house: List[str]) -> None:
    file = FILE.format(game=game, legs=legs)
    organiser.send("POST", "competitions", {"game": game, "name": name, "id": name, "file": file, "house": house, "per_contributor": 1000})
    organiser.send("POST", f"competitions/{name}/actions", {"action": "open"})


def submit_bots(agon: str, url: str, folder: str, game: str, count: int) -> Client:
    """Submits copies of the starter, by several authors because uploads are limited. Returns one of them."""
    subprocess.run([agon, "new", game, "mine"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    authors = [Client(url, f"author {number}") for number in range(AUTHORS)]
    for number in range(count):
        author = authors[number % AUTHORS]
        words = [agon, "submit", "--server", url, "practice", "mine", "--name", f"Bot {number}"]
        subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "AGON_TOKEN": author.token})
    return authors[0]


def matches_per_second(client: Client, seconds: float) -> float:
    before, start = client.send("GET", "competitions/running")["matches"], time.monotonic()
    time.sleep(seconds)
    after, end = client.send("GET", "competitions/running")["matches"], time.monotonic()
    return (after - before) / (end - start)


def challenge(client: Client, bots: List[Dict[str, Any]], games: int) -> float:
    """Seconds from the request of a challenge to its result."""
    start = time.monotonic()
    made = client.send("POST", "challenges", {"competition": "practice", "bots": bots, "games": games})
    path = f"challenges/{made['id']}"

    def ended() -> bool:
        state = client.send("GET", path)["state"]
        if state == "failed":
            sys.exit(f"a challenge failed: {client.send('GET', path)['error']}")
        return bool(state == "done")

    wait_for("the result of a challenge", ended)
    return time.monotonic() - start


def measure(args: argparse.Namespace, url: str, invitation: str, folder: str) -> Dict[str, Any]:
    organiser = Client(url, "organiser", invitation)
    create(organiser, "practice", args.game, 1, [])
    author = submit_bots(args.agon, url, folder, args.game, args.bots)
    bot = author.send("GET", "me/bots")["items"][0]["bot"]
    wait_for("the first ladder games", lambda: author.send("GET", "competitions/practice/practice")["games"] > args.bots)
    create(organiser, "running", args.game, 1_000_000, ["random", "seeker", "planner"])
    organiser.send("POST", "competitions/running/actions", {"action": "start"})
    wait_for("the first matches", lambda: organiser.send("GET", "competitions/running")["matches"] > 0)
    speeds: Dict[bool, List[float]] = {True: [], False: []}
    answers: List[float] = []
    for _ in range(args.rounds):
        for on in (False, True):
            organiser.send("PUT", "competitions/practice/practice", {"ladder": on})
            if on:
                answers.append(challenge(author, [{"house": "random"}, {"house": "planner"}], 5))
                answers.append(challenge(author, [{"bot": bot}, {"house": "random"}], 3))
            speeds[on].append(matches_per_second(organiser, args.seconds))
    without, beside = (statistics.mean(speeds[on]) for on in (False, True))
    return {
        "bots": args.bots,
        "matches_per_second_without_practice": round(without, 2),
        "matches_per_second_beside_practice": round(beside, 2),
        "loss_percent": round(100 * (1 - beside / without), 2),
        "challenge_seconds": [round(seconds, 2) for seconds in answers],
        "ladder_games": author.send("GET", "competitions/practice/practice")["games"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agon", default="target/release/agon")
    parser.add_argument("--game", required=True, help="a game with the setting `rounds` and the house bots random, seeker and planner")
    parser.add_argument("--bots", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    args.agon = os.path.abspath(args.agon)
    with tempfile.TemporaryDirectory(prefix="agon-practice-") as folder:
        words = [args.agon, "serve", "--listen", "127.0.0.1:0", "--data", "data", "--sign-up", "open"]
        server = subprocess.Popen(words, cwd=folder, stderr=subprocess.PIPE, text=True)
        try:
            url = invitation = ""
            assert server.stderr is not None
            while not (url and invitation):
                line = server.stderr.readline()
                if not line:
                    sys.exit("the server did not start")
                url = url or (re.search(r"Agon is at (\S+)", line) or [None, ""])[1]
                invitation = invitation or (re.search(r"invite=(\S+)", line) or [None, ""])[1]
            # The log must not fill the pipe.
            drain = subprocess.Popen(["cat"], stdin=server.stderr, stdout=subprocess.DEVNULL)
            print(json.dumps(measure(args, url, invitation, folder), indent=2))
            drain.terminate()
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
