"""The wire probes of a real Apache Cassandra 5.0.4 against the server, judged by a checked-in list."""

import json
import re
import sys

from . import paths, process
from .drivers import serving

PROBES = paths.TESTS / "vectors" / "probes.jsonl"
REPLAY = paths.TESTS / "conformance" / "replay.py"
KNOWN = paths.TESTS / "conformance" / "known-failures.txt"
MISMATCH = re.compile(r"^MISMATCH (\S+): (.*)$", re.M)
SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed$", re.M)

# In these groups nothing may be on the list.
WITHOUT_EXCEPTION = {"version", "handshake", "framing", "segment", "options", "register"}
# Of the whole, at most this share may be.
LISTED_AT_MOST = 0.15


def known_failures():
    """The list: an id and the reason why it fails, a line each."""
    known = {}
    for number, line in enumerate(KNOWN.read_text(encoding="utf-8").splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        probe, _, reason = line.partition(" ")
        if not reason.strip():
            raise ValueError("%s:%d: %s has no reason" % (KNOWN.name, number, probe))
        known[probe] = reason.strip()
    return known


def groups():
    """The group of each probe that is replayed."""
    found = {}
    with open(PROBES, encoding="utf-8") as file:
        for line in file:
            probe = json.loads(line)
            plain = probe.get("profile", "plain") == "plain"
            if plain and not probe.get("unstable") and not probe.get("quirk"):
                found[probe["id"]] = probe["group"]
    return found


def probes(run):
    known, group_of = known_failures(), groups()
    strangers = sorted(set(known) - set(group_of))
    run.report.check("every listed id is a probe", not strangers, ", ".join(strangers[:10]))
    unexcused = sorted(i for i in known if group_of.get(i) in WITHOUT_EXCEPTION)
    run.report.check(
        "nothing is listed of %s" % ", ".join(sorted(WITHOUT_EXCEPTION)),
        not unexcused,
        ", ".join(unexcused[:10]),
    )
    share = len(known) / len(group_of)
    run.report.check(
        "at most %d%% are listed" % (LISTED_AT_MOST * 100),
        share <= LISTED_AT_MOST,
        "%d of %d (%.1f%%)" % (len(known), len(group_of), share * 100),
    )

    def body(server):
        command = [sys.executable, REPLAY, server.host, server.port, PROBES, "--no-quirks"]
        name = "conformance-%s" % run.label(server)
        outcome = process.run(command, name, 900, run.report)
        judge(run.report, server, outcome, known, group_of)

    for runtime in run.runtimes:
        serving(run, runtime, body)


def judge(report, server, outcome, known, group_of):
    """A new failure fails, and so does a listed one that passes."""
    title = "probes, %s" % server.name
    summary = SUMMARY.search(outcome.output)
    if not summary:
        report.fail(title, outcome.reason(), outcome.tail())
        return
    failed = dict(MISMATCH.findall(outcome.output))
    report.ok("%s: %s (%.1f s)" % (title, summary.group(0), outcome.seconds), int(summary.group(1)))
    for probe in sorted(set(failed) - set(known)):
        report.fail("%s %s" % (title, probe), failed[probe][:300])
    for probe in sorted((set(known) - set(failed)) & set(group_of)):
        report.fail("%s %s" % (title, probe), "is listed (%s) but passes: strike it off" % known[probe])
    still = len(set(known) & set(failed))
    if still:
        report.note("conformance, %s: %d known failures (tests/conformance/known-failures.txt)" % (server.name, still))
