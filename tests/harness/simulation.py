"""Whole clusters on a virtual clock, one a seed, with faults: no rule may be broken."""

import json

from . import process

SEEDS = 400


def simulation(run):
    # The build of the stage `test`: a few hundred seeds take less than a release build would.
    command = ["cargo", "run", "--locked", "-q", "-p", "helenus-simulation", "--", "--json"]
    outcome = process.run(command + ["--seeds", "0..%d" % SEEDS], "simulation", 600, run.report)
    lines = [line for line in outcome.output.splitlines() if line.startswith("{")]
    if lines:
        summary = json.loads(lines[-1])
        run.report.ok("%(seeds)d seeds, %(messages)d messages, %(faults_total)d faults" % summary)
        for broken in summary["broken"]:
            run.report.fail("seed %(seed)d" % broken, "; ".join(broken["violations"]))
        ran = summary["seeds"] == SEEDS
        run.report.check("every seed was run", ran, "%(seeds)d were" % summary)
    run.report.outcome("seeds without a broken rule", outcome)
