#!/usr/bin/env python3
"""Drives a CQL server with the Python cassandra-driver.

  suite.py HOST PORT VERSION COMPRESSION [--only TEXT]

The environment says the rest, as for every driver's program: ../README.md.
Prints `ok NAME` or `not ok NAME: why` for each check, then 'N passed, N failed'; exit status 0 when all passed.
"""

import argparse
import os
import socket
import ssl
import sys
import time
import traceback

from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.policies import RoundRobinPolicy
from cassandra.query import tuple_factory

import checks


class Context:
    """What a check is given: a session in a keyspace of its own, and short ways to ask."""

    def __init__(self, host, port, version, compression):
        self.host, self.port = host, port
        self.version, self.compression = version, compression
        self.keyspace = "py_v%d_%s" % (version, compression)
        self.cluster = self.connect()
        self.session = self.cluster.connect()
        self.session.execute("DROP KEYSPACE IF EXISTS %s" % self.keyspace, timeout=60)
        self.session.execute(
            "CREATE KEYSPACE %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
            % self.keyspace
        )
        self.session.set_keyspace(self.keyspace)
        self.tables = 0

    def connect(self, **options):
        """Another cluster object, with a pool and a control connection of its own."""
        profile = ExecutionProfile(
            load_balancing_policy=RoundRobinPolicy(), row_factory=tuple_factory, request_timeout=30
        )
        options.setdefault("execution_profiles", {EXEC_PROFILE_DEFAULT: profile})
        options.setdefault("protocol_version", self.version)
        if "CHECK_CA" in os.environ:
            options.setdefault("ssl_context", ssl.create_default_context(cafile=os.environ["CHECK_CA"]))
            options.setdefault("ssl_options", {"server_hostname": self.host})
        if "CHECK_USER" in os.environ:
            login = PlainTextAuthProvider(os.environ["CHECK_USER"], os.environ["CHECK_PASSWORD"])
            options.setdefault("auth_provider", login)
        return Cluster(
            [self.host],
            port=self.port,
            compression=False if self.compression == "none" else self.compression,
            schema_event_refresh_window=0,
            **options
        )

    def close(self):
        self.session.execute("DROP KEYSPACE IF EXISTS %s" % self.keyspace, timeout=60)
        self.cluster.shutdown()

    def control(self, word):
        """Has the harness pause, resume or restart the server; False where nobody can."""
        if "CHECK_CONTROL" not in os.environ:
            return False
        with socket.create_connection(("127.0.0.1", int(os.environ["CHECK_CONTROL"])), 30) as harness:
            harness.sendall(word.encode() + b"\n")
            assert harness.recv(1) == b"", "the harness answers by hanging up"
        return True

    def run(self, cql, parameters=None, **options):
        return self.session.execute(cql, parameters, **options)

    def rows(self, cql, parameters=None, **options):
        """All rows, as a list of tuples."""
        return [tuple(row) for row in self.session.execute(cql, parameters, **options)]

    def row(self, cql, parameters=None):
        """The only row."""
        found = self.rows(cql, parameters)
        assert len(found) == 1, "%d rows instead of one: %r" % (len(found), found[:3])
        return found[0]

    def prepare(self, cql):
        return self.session.prepare(cql)

    def table(self, definition, options=""):
        """Creates a table of these columns; gives its name."""
        self.tables += 1
        name = "t%d" % self.tables
        self.run("CREATE TABLE %s (%s) %s" % (name, definition, options))
        return name


def why(error):
    """The error with the line of the check that met it."""
    text = " ".join(str(error).split()) or "assertion"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if "/checks/" in frame.filename and not frame.filename.endswith("__init__.py"):
            place = "%s:%d" % (frame.filename.rsplit("/", 1)[1], frame.lineno)
            return "%s: %s (%s: %s)" % (type(error).__name__, text, place, frame.line)
    return "%s: %s" % (type(error).__name__, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("version", type=int, choices=(3, 4, 5))
    parser.add_argument("compression", choices=("none", "lz4", "snappy"))
    parser.add_argument("--only", help="run the checks whose name contains this text")
    arguments = parser.parse_args()
    context = Context(arguments.host, arguments.port, arguments.version, arguments.compression)
    passed = failed = 0
    started = time.monotonic()
    for name, check in checks.collect():
        if arguments.only and arguments.only not in name:
            continue
        try:
            check(context)
        except Exception as error:
            failed += 1
            print("not ok %s: %s" % (name, why(error)), flush=True)
        else:
            passed += 1
            print("ok %s" % name, flush=True)
    context.close()
    print("%.1f s" % (time.monotonic() - started))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
