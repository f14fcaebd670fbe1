"""The stages over sockets that run real drivers."""

from . import paths, process, tools
from .server import StartFailure

# Versions of the Python driver's runs, with their compressions; v5 knows no snappy.
COMBINATIONS = (
    (3, "none"),
    (3, "lz4"),
    (4, "none"),
    (4, "lz4"),
    (4, "snappy"),
    (5, "none"),
    (5, "lz4"),
)


def serving(run, runtime, body):
    """Runs `body(server)` against a fresh server, and checks how it ends."""
    try:
        with run.server(runtime) as server:
            body(server)
            server.close(run.report)
    except StartFailure as failure:
        run.report.fail("server %s" % runtime, str(failure))


def python(run):
    """The Python driver: every version, with and without compression, on every runtime."""
    if not tools.python(run):
        return
    program = paths.DRIVERS / "python" / "suite.py"

    def body(server):
        for version, compression in COMBINATIONS:
            command = [tools.PYTHON, program, server.host, server.port]
            command += ["--version", version, "--compression", compression]
            name = "python-v%d-%s-%s" % (version, compression, run.label(server))
            outcome = process.run(command, name, 240, run.report)
            title = "cassandra-driver v%d, %s, %s" % (version, compression, server.name)
            run.report.suite(title, outcome)

    for runtime in run.runtimes:
        serving(run, runtime, body)


def cqlsh(run):
    """cqlsh on every runtime."""
    if not tools.python(run):
        return
    program = paths.DRIVERS / "cqlsh" / "suite.py"

    def body(server):
        command = [tools.PYTHON, program, tools.CQLSH, server.host, server.port]
        outcome = process.run(command, "cqlsh-%s" % run.label(server), 300, run.report)
        run.report.suite("cqlsh, %s" % server.name, outcome)

    for runtime in run.runtimes:
        serving(run, runtime, body)


def one(run, title, commands, prepare, command, versions):
    """A driver whose program runs on one runtime: tokio, unless that is left out."""
    if not tools.have(run, title, commands) or not prepare(run):
        return

    def body(server):
        for version in versions:
            name = "%s-v%d" % (title.split()[0], version)
            line = command + [server.host, server.port, version]
            outcome = process.run(line, name, 180, run.report)
            run.report.suite("%s v%d, %s" % (title, version, server.name), outcome)

    serving(run, "tokio" if "tokio" in run.runtimes else run.runtimes[0], body)


def gocql(run):
    one(run, "gocql", ["go"], tools.gocql, [tools.GO_BINARY], (4, 5))


def java(run):
    classpath = "%s/classes:%s/lib/*" % (tools.JAVA, tools.JAVA)
    command = ["java", "-cp", classpath, "helenus.DriverCheck"]
    one(run, "java-driver", ["java", "mvn"], tools.java, command, (4, 5))


def node(run):
    command = ["node", tools.NODE / "main.js"]
    one(run, "node cassandra-driver", ["node", "npm"], tools.node, command, (3, 4))


def scylla(run):
    binary = paths.TARGET / "drivers" / "debug" / "scylla-driver-check"
    one(run, "scylla", ["cargo"], tools.scylla, [binary], (4,))
