"""`python -m agon_bot GAME PATH[:Class]` plays a bot. `python -m agon_bot --zygote [plain]` is the zygote (see
`zygote.py`); `plain` is the one for stateless bots.

Environment: `AGON_IN`, `AGON_OUT` (descriptors of the protocol; default: standard input and output), `AGON_SEED`,
`AGON_ROOT` (root folder of the submission), `AGON_CONTROL` (the zygote's socket; default: standard input).
"""

from __future__ import annotations

import os
import sys

THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def prepare_environment() -> None:
    """Sets NumPy to one thread before it is imported, because its threads do not survive a fork, and makes the order of
    sets the same in every run. Python reads the latter setting only at its start, so it is started again if the host
    has not set it."""
    for name in THREAD_VARIABLES:
        os.environ[name] = "1"
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(
            sys.executable,
            [sys.executable, *sys.orig_argv[1:]]
            if hasattr(sys, "orig_argv")
            else [sys.executable, "-m", "agon_bot", *sys.argv[1:]],
        )


def main() -> int:
    """Reads the command line."""
    arguments = sys.argv[1:]
    prepare_environment()
    if arguments in (["--zygote"], ["--zygote", "plain"]):
        import _socket

        from .zygote import Zygote, preload

        # The interpreter was started without `site`, so the paths that `site` would add come from the host.
        known = os.environ.pop("AGON_PATH", "").split(os.pathsep)
        sys.path.extend(path for path in known if path and path not in sys.path)
        stateless = arguments[1:] == ["plain"]
        preload(stateless)
        control = _socket.socket(fileno=int(os.environ.pop("AGON_CONTROL", "0")))
        control.send(b"ready")
        return Zygote(control, stateless).serve()
    if len(arguments) != 2:
        print("usage: python -m agon_bot GAME PATH[:Class]   or   python -m agon_bot --zygote [plain]", file=sys.stderr)
        return 2
    from .channel import from_environment
    from .loading import Target
    from .session import Session
    from .streams import flush

    channel = from_environment()
    code = Session(channel, arguments[0], Target.parse(arguments[1])).run()
    flush()
    # Not sys.exit: it would wait for the bot's threads and run the bot's exit handlers.
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
