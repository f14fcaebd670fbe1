"""The stages over sockets that run real drivers: each its share of the matrix."""

import os

from . import matrix, paths, process, tools
from .control import control
from .server import StartFailure

# What a driver needs beside Python, what prepares its program, and the program's command line.
PROGRAMS = {
    "python": ([], tools.python, [tools.PYTHON, paths.DRIVERS / "python" / "suite.py"]),
    "cqlsh": ([], tools.python, [tools.PYTHON, paths.DRIVERS / "cqlsh" / "suite.py", tools.CQLSH]),
    "gocql": (["go"], tools.gocql, [tools.GO_BINARY]),
    "java": (["java", "mvn"], tools.java, ["java", "-cp", tools.CLASSPATH, "helenus.DriverCheck"]),
    "node": (["node", "npm"], tools.node, ["node", tools.NODE / "main.js"]),
    "scylla": (["cargo"], tools.scylla, [paths.TARGET / "drivers" / "debug" / "scylla-driver-check"]),
}
LIMIT_S = 300
SUPERUSER = {"CHECK_USER": "cassandra", "CHECK_PASSWORD": "cassandra"}


def serving(run, runtime, body):
    """Runs `body(server)` against a fresh server, and checks how it ends."""
    try:
        with run.server(runtime) as server:
            body(server)
            server.close(run.report)
    except StartFailure as failure:
        run.report.fail("server %s" % runtime, str(failure))


def rows(run, driver):
    """The driver's part of the matrix."""
    if run.elsewhere:
        # That server has TLS and a login, or hasn't; the environment says how to get in.
        tls, auth = ["CHECK_CA" in os.environ], ["CHECK_USER" in os.environ]
        runtimes = [run.elsewhere]
    else:
        tls, auth, runtimes = (False, True), (False, True), run.runtimes
    choose = matrix.full if run.full else matrix.pairwise
    return [row for row in choose(runtimes, tls, auth) if row.driver == driver]


def stage(driver):
    """The stage that runs a driver."""
    commands, prepare, command = PROGRAMS[driver]

    def body(run):
        if not tools.have(run, driver, commands) or not prepare(run):
            return
        for row in rows(run, driver):
            try:
                one(run, row, command)
            except StartFailure as failure:
                run.report.fail(str(row), str(failure))

    return body


def one(run, row, command):
    """One run of a driver's program, against a server of its own."""
    extra, env = [], {}
    if row.tls and not run.elsewhere:
        authority, certificate, key = tools.certificates()
        extra += ["--tls-cert", certificate, "--tls-key", key]
        env["CHECK_CA"] = str(authority)
    if row.auth and not run.elsewhere:
        extra += ["--auth", "password"]
        env.update(SUPERUSER)
    name = "%s-%s" % (row.name, row.runtime.replace(":", "-"))
    with run.server(row.runtime, extra, name) as server, control(server) as control_env:
        line = command + [server.host, server.port, row.version, row.compression]
        outcome = process.run(line, name, LIMIT_S, run.report, env={**env, **control_env})
        passed = run.report.suite(str(row), outcome)
        run.matrix.append((row, passed, outcome.seconds))
        server.close(run.report)
