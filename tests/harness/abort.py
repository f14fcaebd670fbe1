"""Nothing a peer sends makes the server panic: a build that a panic would end survives what is worst."""

import json

from . import cargo, paths, process
from .server import Server

MUTATIONS = 5000


def abort(run):
    if not cargo.build_aborting(run):
        return
    # One runtime does: what could panic is the same on all of them.
    with Server("tokio", name="abort", binary=paths.ABORTING / "helenus") as server:
        address = "%s:%s" % (server.host, server.port)
        probes = [paths.ABORTING / "helenus", "conformance", address, "--json"]
        outcome = process.run(probes, "abort-probes", 600, run.report)
        played = sum(line.startswith("{") for line in outcome.output.splitlines()) - 1
        run.report.check("probes against a build that aborts: %d played" % played, played > 1000, outcome.tail())
        inputs = [paths.ABORTING / "helenus-fuzz", "--send", address, "--runs", MUTATIONS, "--json"]
        outcome = process.run(inputs, "abort-inputs", 600, run.report)
        for line in outcome.output.splitlines():
            if line.startswith("{"):
                run.report.ok("%(target)s over a socket: %(seeds)d seeds, %(mutations)d mutations" % json.loads(line))
        run.report.outcome("fuzz inputs to a build that aborts", outcome)
        # It is still there, and ends as it should.
        server.close(run.report)
