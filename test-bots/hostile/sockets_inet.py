"""Connects to a port of this machine and to the internet, asks for host names, and listens.

Must happen: there is no network."""

import socket

from attack import TARGETS, Attacker, refused


class Bot(Attacker):
    def attack(self):
        refused("this machine", lambda: socket.create_connection(("127.0.0.1", TARGETS["port"]), 1))
        refused("this machine, IPv6", lambda: socket.socket(socket.AF_INET6))
        refused("UDP", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        refused("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
        refused("names", lambda: socket.gethostbyname("example.invalid"))
        refused("listening", lambda: socket.create_server(("127.0.0.1", 0)))
