"""The wire probes of a real Apache Cassandra 5.0.4 against the server, played by the command itself."""

import contextlib
import json

from . import paths, process
from .drivers import serving
from .server import Server

LIMIT_S = 600

# How many runtimes play the probes of every profile; the others play those of the profile "plain".
RUNTIMES_WITH_PROFILES = 2


def probes(run):
    def alone(server):
        play(run, server, [])

    def beside_profiles(server):
        with contextlib.ExitStack() as stack:
            play(run, server, [stack.enter_context(profile) for profile in profiles(server.runtime)])

    for index, runtime in enumerate(run.runtimes):
        plays_profiles = index < RUNTIMES_WITH_PROFILES and not run.elsewhere
        serving(run, runtime, beside_profiles if plays_profiles else alone)


def profiles(runtime):
    """A server for each profile that has a configuration file."""
    for file in sorted(paths.PROFILES.glob("*.toml")):
        arguments = ["--config", file, "--listen", "127.0.0.1:0", "--runtime", runtime]
        yield Server(runtime, arguments, name="%s-%s" % (runtime, file.stem))


def play(run, server, others):
    command = [paths.BINARY, "conformance", "%s:%s" % (server.host, server.port), "--json", "--limit", LIMIT_S]
    for other in others:
        profile = other.name.rpartition("-")[2]
        command += ["--profile", "%s=%s:%s" % (profile, other.host, other.port)]
    outcome = process.run(command, "conformance-%s" % run.label(server), LIMIT_S + 60, run.report)
    judge(run.report, server, outcome)
    for other in others:
        other.close(run.report)


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
