"""What a run found out: checks counted by stage, printed as they come, summed up at the end."""

import json
import re
import sys
import time

# Failures of a stage that the summary repeats.
SHOWN = 12

CHECK = re.compile(r"^(ok|not ok) (.+)$")


class Report:
    """Collects checks. Every line of a stage is indented below the stage's heading."""

    def __init__(self, verbose=False):
        self.verbose = verbose
        self.stages = []
        self.notes = []

    def begin(self, name, about):
        self.stages.append({"stage": name, "passed": 0, "failed": 0, "skipped": 0, "failures": []})
        self._started = time.monotonic()
        print("== %s: %s" % (name, about), flush=True)

    def end(self):
        stage = self.stages[-1]
        stage["seconds"] = round(time.monotonic() - self._started, 1)
        skipped = ", %d skipped" % stage["skipped"] if stage["skipped"] else ""
        print(
            "   %s: %d passed, %d failed%s (%.1f s)"
            % (stage["stage"], stage["passed"], stage["failed"], skipped, stage["seconds"]),
            flush=True,
        )
        return stage["failed"] == 0

    def progress(self, text):
        print("   … %s" % text, flush=True)

    def ok(self, name, count=1):
        self.stages[-1]["passed"] += count
        if self.verbose or count != 1:
            print("   ok   %s" % name, flush=True)

    def fail(self, name, why, detail=""):
        stage = self.stages[-1]
        stage["failed"] += 1
        stage["failures"].append("%s: %s" % (name, why))
        print("   FAIL %s: %s" % (name, why), flush=True)
        for line in detail.splitlines():
            print("        | %s" % line, flush=True)

    def check(self, name, good, why=""):
        if good:
            self.ok(name)
        else:
            self.fail(name, why)

    def skip(self, name, why):
        self.stages[-1]["skipped"] += 1
        self.note("skipped %s: %s" % (name, why))
        print("   SKIP %s: %s" % (name, why), flush=True)

    def note(self, text):
        self.notes.append(text)

    def outcome(self, name, outcome):
        """A command that is one check: passed when it exits 0."""
        if outcome.ok:
            self.ok("%s (%.1f s)" % (name, outcome.seconds))
        else:
            self.fail(name, outcome.reason(), outcome.tail())
        return outcome.ok

    def suite(self, name, outcome):
        """A driver program: one check for each `ok …` or `not ok …` line that it printed. Gives how many passed, or 0
        if one didn't."""
        passed = failed = 0
        for line in outcome.output.splitlines():
            match = CHECK.match(line)
            if not match:
                continue
            if match.group(1) == "ok":
                passed += 1
            else:
                failed += 1
                self.fail(name, match.group(2))
        if passed:
            self.ok("%s: %d checks (%.1f s)" % (name, passed, outcome.seconds), passed)
        if not outcome.ok and not failed:
            self.fail(name, outcome.reason(), outcome.tail())
        elif outcome.ok and not passed:
            self.fail(name, "ran no check; see the log", outcome.tail())
        return passed if outcome.ok and not failed else 0

    def summary(self):
        passed = sum(stage["passed"] for stage in self.stages)
        failed = sum(stage["failed"] for stage in self.stages)
        print("\n== summary")
        for stage in self.stages:
            print(
                "   %-12s %5d passed %3d failed %7.1f s"
                % (stage["stage"], stage["passed"], stage["failed"], stage.get("seconds", 0.0))
            )
            for failure in stage["failures"][:SHOWN]:
                print("      FAIL %s" % failure.splitlines()[0][:160])
            if len(stage["failures"]) > SHOWN:
                print("      … and %d more" % (len(stage["failures"]) - SHOWN))
        for note in self.notes:
            print("   %s" % note)
        print("%d passed, %d failed" % (passed, failed), flush=True)
        return failed == 0

    def write_json(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"stages": self.stages, "notes": self.notes}, file, indent=1)
            file.write("\n")


def usage(text):
    print("tests/run: %s" % text, file=sys.stderr)
    return 2
