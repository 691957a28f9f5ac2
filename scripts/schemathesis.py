"""Prepares a server for Schemathesis (as a program), and signs the requests of Schemathesis (as its hooks).

A server limits how often one account or address may change something. So there are many organisers and authors, and each request comes
from another account and another address (the server runs with `--proxies 1`). The server's limits are the usual ones.
"""

import itertools
import json
import os
import sys
import threading
import urllib.error
import urllib.request
from http import HTTPStatus

ACCOUNTS_PER_ROLE = 40
COMPETITION = "league"
BOT = """\
import random


class Bot:
    def __init__(self, *args, **kwargs):
        pass

    def make_move(self, *args, **kwargs):
        return 0
"""
addresses = (f"10.{a}.{b}.{c}" for a, b, c in itertools.product(range(1, 250), range(250), range(1, 250)))


class Caller:
    """A client of the server with a cookie or a token."""

    def __init__(self, server, token=None):
        self.server, self.token, self.cookie, self.csrf = server, token, None, None

    def ask(self, method, path, body=None, kind="application/json"):
        """Sends a request and returns the JSON of the response. Exits if the server returns an error."""
        data = json.dumps(body).encode() if isinstance(body, dict) else body
        headers = {"X-Forwarded-For": next(addresses)}
        if data is not None:
            headers["Content-Type"] = kind
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if self.cookie:
            headers |= {"Cookie": self.cookie, "X-CSRF-Token": self.csrf}
        request = urllib.request.Request(f"{self.server}/api/v1/{path}", data, headers, method=method)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
                text = answer.read()
                if answer.headers["Set-Cookie"]:
                    self.cookie = answer.headers["Set-Cookie"].split(";")[0]
                found = json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            sys.exit(f"{method} {path}: {error.code} {error.read().decode()}")
        if isinstance(found, dict) and "csrf" in found:
            self.csrf = found["csrf"]
        return found

    def make_token(self):
        """Creates an API token for this account."""
        return self.ask("POST", "me/tokens", {"label": "schemathesis"})["token"]


def prepare(server, password, to):
    """Fills a new server with accounts and competitions. Writes the tokens of the accounts to a file."""
    first = Caller(server)
    first.ask("POST", "session", {"name": "organiser", "password": password})
    tokens = {"organiser": [first.make_token()], "author": []}
    for role, list_ in tokens.items():
        code = first.ask("POST", "invitations", {"role": role, "uses": ACCOUNTS_PER_ROLE})["code"]
        for number in range(ACCOUNTS_PER_ROLE):
            one = Caller(server)
            one.ask("POST", "accounts", {"name": f"{role} {number}", "password": password, "invitation": code})
            list_.append(one.make_token())
    admin = Caller(server, tokens["organiser"][0])
    for id_ in (COMPETITION, "open"):
        body = {"game": "connect-five", "name": f"The {id_}", "id": id_, "house": ["random", "stacker", "tactician"]}
        admin.ask("POST", "competitions", body)
        admin.ask("POST", f"competitions/{id_}/actions", {"action": "open"})
    author = Caller(server, tokens["author"][0])
    form = (
        '--X\r\nContent-Disposition: form-data; name="name"\r\n\r\nmine\r\n'
        f'--X\r\nContent-Disposition: form-data; name="file"; filename="bot.py"\r\n\r\n{BOT}\r\n--X--\r\n'
    )
    author.ask("POST", "competitions/open/bots", form.encode(), "multipart/form-data; boundary=X")
    admin.ask("POST", f"competitions/{COMPETITION}/actions", {"action": "start"})
    with open(to, "w", encoding="utf-8") as file:
        json.dump(tokens, file)


def install():
    """Installs the hooks: each request gets another account, and many requests name existing things."""
    import random  # noqa: PLC0415

    import schemathesis  # noqa: PLC0415

    role = os.environ["AGON_ROLE"]
    with open(os.environ["AGON_TOKENS"], encoding="utf-8") as file:
        tokens = json.load(file).get(role, [])
    turn, lock = itertools.count(), threading.Lock()
    known = {"game": "connect-five", "phase": 1, "match": "1-1", "board": 0, "n": 1, "ruling": 1, "fault": 1, "language": "python"}
    chance = random.Random(5)  # noqa: S311

    @schemathesis.hook
    def before_call(context, case, kwargs):  # noqa: ARG001
        with lock:
            number, address = next(turn), next(addresses)
            likely, as_made = chance.random() < 0.6, chance.random() < 0.05
        headers = {**(case.headers or {}), "X-Forwarded-For": address}
        if tokens and not as_made:
            headers["Authorization"] = f"Bearer {tokens[number % len(tokens)]}"
        case.headers = headers
        if not likely:
            return
        for name in case.path_parameters or {}:
            if name == "id" and "/competitions/" in case.path:
                case.path_parameters[name] = chance.choice([COMPETITION, COMPETITION, "open"])
            elif name in known:
                in_match = name == "game" and "/competitions/" in case.path
                case.path_parameters[name] = 1 if in_match else known[name]
            elif name == "bot":
                case.path_parameters[name] = chance.randint(1, 8)

    @schemathesis.hook
    def after_call(context, case, response):  # noqa: ARG001
        # The account was disabled or its token revoked: do not use it again.
        if response.status_code == HTTPStatus.UNAUTHORIZED and len(tokens) > 1:
            sent = response.request.headers.get("Authorization", [""])
            sent = (sent if isinstance(sent, str) else sent[0]).removeprefix("Bearer ")
            with lock:
                if sent in tokens and len(tokens) > 1:
                    tokens.remove(sent)


if __name__ == "__main__":
    prepare(*sys.argv[1:])
elif "AGON_TOKENS" in os.environ:
    install()
