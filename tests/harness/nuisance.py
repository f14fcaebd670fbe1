"""Clients that do everything wrong: they break off, stall in the middle of a request, don't read what they asked for, or
speak another protocol."""

import contextlib
import random
import socket
import struct
import threading

from .command import STARTUP, envelope, exchange

# Threads of each kind.
OF_EACH = 3
QUERY = b"SELECT * FROM system_schema.columns LIMIT 20"


class Crowd:
    """Such clients, one after the other in some threads of each kind, for as long as it is entered."""

    def __init__(self, server):
        self.address = (server.host, server.port)
        self.over = threading.Event()
        self.visits = {visit.__name__: 0 for visit in KINDS}
        self.threads = [
            threading.Thread(target=self._come_and_go, args=(visit, seed), daemon=True)
            for seed, visit in enumerate(KINDS * OF_EACH)
        ]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()

    def _come_and_go(self, visit, seed):
        # The same in every run, as far as time allows.
        chance = random.Random(seed)
        while not self.over.is_set():
            # A server that closes on such a client is within its rights.
            with contextlib.suppress(OSError), socket.create_connection(self.address, timeout=5) as stream:
                visit(stream, chance, self.over)
            self.visits[visit.__name__] += 1


def requests(count):
    """So many requests for much of what is known of columns."""
    body = struct.pack(">i", len(QUERY)) + QUERY + b"\0\1\0"
    return b"".join(envelope(4, 7, body, stream % 1024) for stream in range(count))


MANY = requests(1000)
ONE = len(MANY) // 1000


def breaks_off(stream, chance, _):
    """Asks for much, and is gone before it is there: what is left to read makes the system reset the connection."""
    exchange(stream, STARTUP)
    stream.sendall(MANY[: ONE * chance.randint(1, 200)])
    if chance.random() < 0.5:
        stream.recv(512)


def stalls(stream, chance, over):
    """Sends half a request and waits."""
    exchange(stream, STARTUP)
    stream.sendall(MANY[: chance.randrange(1, 3 * ONE)])
    over.wait(chance.uniform(0, 2))


def reads_slowly(stream, chance, over):
    """Asks for more than fits between here and there, and reads a byte at a time."""
    exchange(stream, STARTUP)
    stream.settimeout(0.2)
    with contextlib.suppress(TimeoutError):
        for _ in range(20):
            stream.sendall(MANY)
    stream.settimeout(5)
    for _ in range(chance.randrange(300)):
        if over.wait(0.01) or not stream.recv(1):
            return


def speaks_otherwise(stream, chance, _):
    """Says what is no CQL, or not in a version that is spoken, and reads the answer."""
    stream.sendall(chance.choice((b"\x42", envelope(2, 5, b""), envelope(6, 5, b""), b"GET / HTTP/1.1\r\n\r\n")))
    stream.recv(4096)


KINDS = [breaks_off, stalls, reads_slowly, speaks_otherwise]
