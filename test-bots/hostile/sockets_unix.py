"""Connects to a socket in the file system.

Must happen: refused."""

import socket

from attack import TARGETS, Attacker, refused


def connect(path):
    ear = socket.socket(socket.AF_UNIX)
    ear.connect(path)
    return path


class Bot(Attacker):
    def attack(self):
        for path in (TARGETS["unix"], "/run/systemd/notify", "/run/docker.sock", "/run/dbus/system_bus_socket", "/dev/log"):
            refused(path, lambda: connect(path))
