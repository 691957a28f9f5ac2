"""A process that no bot may touch: it belongs to the same user as the engine, has a secret in its memory, in its
environment and in shared memory, listens on three sockets, and handles harmless signals. Prints its port at the start,
and what happened to it when its input ends."""

import os
import selectors
import signal
import socket
import sys

token, folder = sys.argv[1:3]
secret = os.environ["HOSTILE_SECRET"]
befell = []
signal.signal(signal.SIGWINCH, lambda *_: befell.append("SIGWINCH"))
signal.signal(signal.SIGURG, lambda *_: befell.append("SIGURG"))
shared = os.path.join("/dev/shm", token)
with open(shared, "w") as file:
    file.write(secret)

inet, unix, abstract = socket.socket(), socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
inet.bind(("127.0.0.1", 0))
unix.bind(os.path.join(folder, "socket"))
abstract.bind("\0" + token)
ears = selectors.DefaultSelector()
ears.register(sys.stdin, selectors.EVENT_READ, "the end")
for name, ear in (("inet", inet), ("unix", unix), ("abstract", abstract)):
    ear.listen()
    ears.register(ear, selectors.EVENT_READ, name)
print(inet.getsockname()[1], flush=True)
while True:
    rung = [key.data for key, _ in ears.select()]
    if "the end" in rung:
        break
    befell.extend(f"a connection by {name}" for name in rung)
    for key, _ in ears.select(0):
        key.fileobj.accept()
with open(shared) as file:
    if file.read() != secret:
        befell.append("its shared memory was changed")
os.unlink(shared)
for what in befell:
    print(what)
