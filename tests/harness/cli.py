"""The command line of tests/run."""

import argparse
import platform
import resource
import shutil
import subprocess
import time

from . import abort, cargo, clients, cluster, command, conformance, drivers, endurance, packaging, paths, recipes, report
from . import secure, simulation, tools
from .server import RUNTIMES, Elsewhere, Server

# name, what it does, how, whether it needs the release build
STAGES = [
    ("fmt", "the format of the sources", cargo.fmt, False),
    ("clippy", "lints, with warnings as errors", cargo.clippy, False),
    ("doc", "documentation without warnings", cargo.doc, False),
    ("test", "unit, documentation and cross-crate tests", cargo.test, False),
    ("fuzz", "fuzz targets on seeds and mutations of them", cargo.fuzz, False),
    ("simulation", "clusters with faults on a virtual clock, by seed", simulation.simulation, False),
    ("codec-bench", "the benchmark of the codec against its peers builds", cargo.codec_bench, False),
    ("abort", "a command that a panic ends survives the probes and the fuzz inputs", abort.abort, False),
    ("features", "each feature builds alone", cargo.features, False),
    ("package", "each published crate packs", cargo.package, False),
    ("build", "the release build of the command", cargo.build, False),
    ("command", "configuration, exit codes, start and size of the server", command.command, True),
    ("idle", "nobody polls: idle connections cost no wake-up", command.idle, True),
    ("tls", "TLS of the command: certificates, both versions, refusals, SIGHUP", secure.secure, True),
    ("memory", "idle connections by the thousand, and what each takes", endurance.idle_memory, True),
    ("soak", "clients that do everything wrong, beside ones that stay", endurance.soak, True),
    ("conformance", "wire probes of a real Cassandra 5.0.4", conformance.probes, True),
    ("clients", "our clients of every runtime on servers of every runtime", clients.clients, True),
    ("python", "Python cassandra-driver", drivers.stage("python"), True),
    ("cqlsh", "cqlsh", drivers.stage("cqlsh"), True),
    ("gocql", "Go driver", drivers.stage("gocql"), True),
    ("java", "Java driver 4", drivers.stage("java"), True),
    ("node", "Node cassandra-driver", drivers.stage("node"), True),
    ("scylla", "Rust scylla driver", drivers.stage("scylla"), True),
    ("cluster", "several nodes in one process, with a driver while nodes fail", cluster.cluster, True),
    ("recipes", "what users copy into their tests works", recipes.recipes, True),
    ("packaging", "man pages, completions, the systemd unit; the image where Docker is", packaging.packaging, True),
]
# These use the command even where the server is another's.
COMMAND_STAGES = ("conformance",)
DRIVER_STAGES = ("conformance", "clients", "python", "cqlsh", "gocql", "java", "node", "scylla")


class Run:
    """What every stage is given."""

    def __init__(self, arguments):
        self.report = report.Report(arguments.verbose)
        self.elsewhere = arguments.server
        self.full = arguments.full
        # Each run of a driver, how many checks passed (0 if one failed), and its seconds.
        self.matrix = []
        self.minutes = arguments.minutes
        self.runtimes = [arguments.server] if arguments.server else arguments.runtime or list(RUNTIMES)

    def server(self, runtime, extra=(), name=None):
        """A server on this runtime, with these flags; or the one that is already running."""
        return Elsewhere(self.elsewhere) if self.elsewhere else Server(runtime, name=name, extra=extra)

    def label(self, server):
        """A server's name as part of a file name."""
        return server.name.replace(":", "-")


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="tests/run",
        description="Builds helenus and runs all its tests; every stage, unless told otherwise.",
        epilog="Logs are written to tests/.cache/logs. What drivers need is installed into tests/.cache from "
        "pinned files. A driver whose language is missing is skipped by name, and fails when CI=true.",
    )
    names = [stage[0] for stage in STAGES]
    parser.add_argument(
        "--only", metavar="STAGE[,STAGE…]", action="append", help="run these stages: %s" % ", ".join(names)
    )
    parser.add_argument("--skip", metavar="STAGE[,STAGE…]", action="append", help="run all but these stages")
    parser.add_argument(
        "--runtime", action="append", choices=RUNTIMES, help="use this runtime only (may be repeated)"
    )
    parser.add_argument(
        "--server",
        metavar="HOST:PORT",
        help="run the stages over sockets against a server that is already running, such as a real Cassandra",
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="run drivers with every version, compression, TLS and login; without it, a selection with every pair of them",
    )
    parser.add_argument(
        "--minutes", type=float, default=0.4, metavar="N", help="how long the stage soak is on each runtime (0.4)"
    )
    parser.add_argument("--json", metavar="FILE", help="also write what was found as JSON")
    parser.add_argument("--list", action="store_true", help="list the stages and stop")
    parser.add_argument("-v", "--verbose", action="store_true", help="print passed checks one by one")
    arguments = parser.parse_args(argv)
    for option in ("only", "skip"):
        chosen = [name for value in getattr(arguments, option) or [] for name in value.split(",")]
        unknown = sorted(set(chosen) - set(names))
        if unknown:
            parser.error("no stage %s; there are %s" % (", ".join(unknown), ", ".join(names)))
        setattr(arguments, option, chosen)
    return arguments


def chosen_stages(arguments):
    for name, about, body, needs_build in STAGES:
        if arguments.only and name not in arguments.only or name in arguments.skip:
            continue
        if arguments.server and name not in DRIVER_STAGES:
            continue
        yield name, about, body, needs_build


def main(argv):
    arguments = parse(argv)
    if arguments.list:
        for name, about, _, _ in STAGES:
            print("%-12s %s" % (name, about))
        return 0
    raise_descriptor_limit()
    run, started = Run(arguments), time.monotonic()
    print("helenus on %s, %s" % (platform.platform(), ", ".join(versions())), flush=True)
    built = False
    for name, about, body, needs_build in chosen_stages(arguments):
        wants_build = needs_build and not arguments.server or name in COMMAND_STAGES
        if wants_build and not built:
            built = True
            if "build" in arguments.only or not arguments.only and "build" not in arguments.skip:
                pass
            elif not stage(run, "build", "the release build of the command", cargo.build):
                break
        if not stage(run, name, about, body) and name == "build":
            break
    for row, passed, seconds in run.matrix:
        run.report.note("%-52s %4s %5.1f s" % (row, passed or "FAIL", seconds))
    total = time.monotonic() - started
    run.report.note("total time: %d min %d s" % divmod(int(total), 60))
    good = run.report.summary()
    if arguments.json:
        run.report.write_json(arguments.json)
    return 0 if good else 1


def stage(run, name, about, body):
    run.report.begin(name, about)
    try:
        body(run)
    except Exception as error:  # a fault of the harness is a failure, not the end of the run
        run.report.fail(name, "%s: %s" % (type(error).__name__, error))
    return run.report.end()


def raise_descriptor_limit():
    """Thousands of connections at once need as many descriptors, here and in the servers."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 16384 if hard == resource.RLIM_INFINITY else min(16384, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def versions():
    """The languages found on this machine."""
    for command_line in (["rustc", "--version"], ["python3", "--version"], ["go", "version"], ["node", "--version"]):
        if shutil.which(command_line[0]):
            outcome = subprocess.run(command_line, capture_output=True, text=True, timeout=30)
            text = outcome.stdout.strip()
            yield text if command_line[0] != "node" else "node %s" % text
