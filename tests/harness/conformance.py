"""The wire probes of a real Apache Cassandra 5.0.4 against the server, played by the command itself."""

import json

from . import paths, process
from .drivers import serving

LIMIT_S = 600


def probes(run):
    def body(server):
        address = "%s:%s" % (server.host, server.port)
        command = [paths.BINARY, "conformance", address, "--json", "--limit", LIMIT_S]
        outcome = process.run(command, "conformance-%s" % run.label(server), LIMIT_S + 60, run.report)
        judge(run.report, server, outcome)

    for runtime in run.runtimes:
        serving(run, runtime, body)


def judge(report, server, outcome):
    """Nothing may differ, but what the table of deliberate differences allows."""
    title = "probes, %s" % server.name
    findings = [json.loads(line) for line in outcome.output.splitlines() if line.startswith("{")]
    summary = findings.pop().get("summary") if findings else None
    if not summary:
        report.fail(title, outcome.reason(), outcome.tail())
        return
    good = len(findings) - summary["differs"] - summary["not_played"]
    said = ", ".join("%d %s" % (count, name.replace("_", " ")) for name, count in sorted(summary.items()))
    report.ok("%s: %s (%.1f s)" % (title, said, outcome.seconds), good)
    for finding in findings:
        if finding["verdict"] in ("differs", "not-played"):
            report.fail("%s %s" % (title, finding["id"]), explain(finding))
    expected = 1 if summary["differs"] or summary["not_played"] else 0
    report.check("%s: exit status" % title, outcome.status == expected, str(outcome.status))


def explain(finding):
    mismatch = finding.get("mismatch")
    if not mismatch:
        return finding["verdict"]
    fields = "; ".join(
        "%(field)s: expected %(expected)s, got %(got)s" % difference
        for difference in mismatch.get("differences", [])
    )
    said = "step %(step)d: expected %(expected)s, got %(got)s" % mismatch
    return ("%s; %s" % (said, fields) if fields else said)[:400]
