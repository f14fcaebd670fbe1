#!/usr/bin/env python3
"""Drives a cluster of three nodes with the Python cassandra-driver, while nodes fail.

  cluster.py HOST PORT ADMIN

ADMIN is HOST:PORT of the cluster's controls. Prints `ok NAME` or `not ok NAME: why` for each check, then 'N passed,
N failed'; exit status 0 when all passed.
"""

import json
import sys
import threading
import traceback
import urllib.request

from cassandra import ConsistencyLevel, ReadTimeout, Unavailable, WriteTimeout
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.policies import ConstantReconnectionPolicy, RoundRobinPolicy, WhiteListRoundRobinPolicy
from cassandra.query import SimpleStatement

PATIENCE_S = 20


class Listener:
    """What the driver says of nodes, and a way to wait for it."""

    def __init__(self):
        self.said = set()
        self.heard = threading.Condition()

    def _hear(self, what, host):
        with self.heard:
            self.said.add((what, host.address))
            self.heard.notify_all()

    def on_up(self, host):
        self._hear("up", host)

    def on_down(self, host):
        self._hear("down", host)

    def on_add(self, host):
        pass

    def on_remove(self, host):
        pass

    def wait(self, what, address):
        with self.heard:
            return self.heard.wait_for(lambda: (what, address) in self.said, PATIENCE_S)


class Context:
    def __init__(self, host, port, admin):
        self.port, self.admin = port, admin
        self.listener = Listener()
        self.clusters = []
        self.cluster = self.connect(host, RoundRobinPolicy())
        self.cluster.register_listener(self.listener)
        self.session = self.cluster.connect()
        self.addresses = sorted(host.address for host in self.cluster.metadata.all_hosts())

    def connect(self, host, policy):
        profile = ExecutionProfile(load_balancing_policy=policy, request_timeout=PATIENCE_S)
        cluster = Cluster(
            [host],
            port=self.port,
            protocol_version=5,
            execution_profiles={EXEC_PROFILE_DEFAULT: profile},
            reconnection_policy=ConstantReconnectionPolicy(0.2, None),
        )
        self.clusters.append(cluster)
        return cluster

    def only(self, address):
        """A session whose coordinator is this node alone."""
        return self.connect(address, WhiteListRoundRobinPolicy([address])).connect()

    def tell(self, path):
        request = urllib.request.Request("http://%s%s" % (self.admin, path), method="POST")
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return json.load(answer)["nodes"]

    def run(self, text, level, session=None):
        statement = SimpleStatement(text, consistency_level=level)
        return list((session or self.session).execute(statement))

    def close(self):
        for cluster in self.clusters:
            cluster.shutdown()


ONE, QUORUM, ALL = ConsistencyLevel.ONE, ConsistencyLevel.QUORUM, ConsistencyLevel.ALL


def the_driver_finds_all_nodes_and_they_agree_on_the_schema(c):
    assert len(c.addresses) == 3, c.addresses
    c.session.execute(
        "CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3}"
    )
    c.session.execute("CREATE TABLE shop.orders (k int, c int, v text, PRIMARY KEY (k, c))")
    assert c.cluster.control_connection.wait_for_schema_agreement(wait_time=PATIENCE_S)
    tokens = c.cluster.metadata.get_replicas("shop", b"\x00\x00\x00\x01")
    assert len(tokens) == 3, tokens


def quorum_reads_see_quorum_writes_through_every_node(c):
    insert = c.session.prepare("INSERT INTO shop.orders (k, c, v) VALUES (?, ?, ?)")
    select = c.session.prepare("SELECT v FROM shop.orders WHERE k = ? AND c = ?")
    insert.consistency_level = select.consistency_level = QUORUM
    for number in range(60):
        c.session.execute(insert, (number % 20, number, "v%d" % number))
    for number in range(60):
        assert c.session.execute(select, (number % 20, number)).one().v == "v%d" % number
    statement = SimpleStatement("SELECT k FROM shop.orders", consistency_level=ALL, fetch_size=7)
    assert len(list(c.session.execute(statement))) == 60
    assert c.run("SELECT count(*) FROM shop.orders", QUORUM)[0].count == 60


def of_eight_clients_that_contend_for_a_row_exactly_one_wins(c):
    sessions = [c.only(address) for address in c.addresses]

    def insert(number, round_, won):
        text = "INSERT INTO shop.orders (k, c, v) VALUES (%d, -1, '%d') IF NOT EXISTS" % (round_, number)
        while True:
            try:
                row = c.run(text, QUORUM, sessions[number % 3])[0]
                # Of a round that took too long nobody knows what came of it: who then finds its own value has won.
                won[number] = row.applied or row.v == str(number)
                return
            except WriteTimeout:
                pass

    for round_ in range(5):
        won = [None] * 8
        threads = [threading.Thread(target=insert, args=(number, round_, won)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE_S)
        assert won.count(True) == 1 and won.count(False) == 7, won


def without_a_node_quorum_goes_on_and_all_is_unavailable(c):
    states = [node["state"] for node in c.tell("/stop/2")]
    assert states == ["running", "stopped", "running"], states
    assert c.listener.wait("down", c.addresses[1])
    for number in range(20):
        c.run("INSERT INTO shop.orders (k, c, v) VALUES (%d, 100, 'w')" % number, QUORUM)
        assert c.run("SELECT v FROM shop.orders WHERE k = %d AND c = 100" % number, QUORUM)[0].v == "w"
    try:
        c.run("SELECT v FROM shop.orders WHERE k = 1", ALL)
        raise AssertionError("ALL was met")
    except Unavailable as error:
        assert (error.required_replicas, error.alive_replicas) == (3, 2), error
    c.session.execute("CREATE TABLE shop.late (k int PRIMARY KEY)")


def a_node_that_is_back_has_what_it_missed(c):
    c.tell("/start/2")
    assert c.listener.wait("up", c.addresses[1])
    assert c.cluster.control_connection.wait_for_schema_agreement(wait_time=PATIENCE_S)
    session = c.only(c.addresses[1])
    c.run("INSERT INTO shop.late (k) VALUES (1)", ALL, session)
    c.tell("/partition/2")
    rows = [c.run("SELECT v FROM shop.orders WHERE k = %d AND c = 100" % number, ONE, session) for number in range(20)]
    c.tell("/heal")
    assert all(row and row[0].v == "w" for row in rows), rows


def a_paused_node_times_out_what_needs_it_and_nothing_else(c):
    session = c.only(c.addresses[0])
    c.tell("/pause/3")
    try:
        c.run("SELECT v FROM shop.orders WHERE k = 1", ALL, session)
        raise AssertionError("ALL was met")
    except ReadTimeout as error:
        assert (error.required_responses, error.received_responses) == (3, 2), error
    finally:
        c.run("SELECT v FROM shop.orders WHERE k = 1", QUORUM, session)
        c.tell("/resume/3")
    c.run("SELECT v FROM shop.orders WHERE k = 1", ALL, session)


CHECKS = [
    the_driver_finds_all_nodes_and_they_agree_on_the_schema,
    quorum_reads_see_quorum_writes_through_every_node,
    of_eight_clients_that_contend_for_a_row_exactly_one_wins,
    without_a_node_quorum_goes_on_and_all_is_unavailable,
    a_node_that_is_back_has_what_it_missed,
    a_paused_node_times_out_what_needs_it_and_nothing_else,
]


def main(host, port, admin):
    context = Context(host, int(port), admin)
    failed = 0
    for check in CHECKS:
        name = check.__name__.replace("_", " ")
        try:
            check(context)
            print("ok %s" % name, flush=True)
        except Exception as error:
            failed += 1
            traceback.print_exc()
            print("not ok %s: %s: %s" % (name, type(error).__name__, error), flush=True)
    context.close()
    print("%d passed, %d failed" % (len(CHECKS) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
