"""Several nodes in one process, with a real driver as their client while nodes fail; and what the command says of them."""

import subprocess

from . import paths, process, tools
from .server import Server

NODES = 3


def cluster(run):
    if not tools.python(run):
        return
    for runtime in run.runtimes:
        one(run, runtime)


def one(run, runtime):
    report = run.report
    extra = ["--nodes", NODES, "--admin", "127.0.0.1:0", "--workers", 1]
    with Server(runtime, name="cluster-%s" % runtime, extra=extra) as server:
        admin = server.admin
        report.check("%s: the ready line names the controls" % runtime, admin is not None, server.stdout)
        if runtime == run.runtimes[0]:
            suite = [tools.PYTHON, paths.DRIVERS / "python" / "cluster.py", server.host, server.port, admin]
            outcome = process.run(suite, "cluster-%s" % runtime, 120, report)
            report.outcome("%s: a driver while nodes fail" % runtime, outcome)
        controls(run, admin)
        server.close(report)


def controls(run, admin):
    """`helenus cluster` says what it did, and what it can't."""

    def said(*words):
        command = [paths.BINARY, "cluster", "--admin", admin, *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    stopped = said("stop", "3")
    words = [line.split()[-1] for line in stopped.stdout.splitlines()]
    run.report.check("helenus cluster stop", words == ["running", "running", "stopped"], stopped.stdout + stopped.stderr)
    again = said("stop", "3")
    refused = again.returncode == 1 and again.stderr == "helenus: node 3 is stopped\n"
    run.report.check("helenus cluster refuses what can't be", refused, again.stderr)
    started = said("start", "3", "--json")
    run.report.check("helenus cluster --json", started.stdout.count('"running"') == NODES, started.stdout + started.stderr)
