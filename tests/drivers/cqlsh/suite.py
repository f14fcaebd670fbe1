#!/usr/bin/env python3
"""Runs cqlsh over the scripts in cases/ and compares what it prints, byte for byte.

  suite.py CQLSH HOST PORT [VERSION [COMPRESSION]] [--only TEXT] [--bless]

It compresses with lz4, as cqlsh does by itself. The environment says the rest, as for every driver's program: ../README.md.

Each case NAME.cql has NAME.out beside it: standard output, standard error and exit status as Apache Cassandra
5.0.4 gave them (--bless writes them anew; run it against a real Cassandra only). Prints `ok NAME` or
`not ok NAME: why`, then 'N passed, N failed'.
"""

import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

CASES = pathlib.Path(__file__).resolve().parent / "cases"
LIMIT_S = 90

# What differs from run to run and from server to server: rates and times of COPY, versions.
NORMAL = [
    (re.compile(r"^Reading options from .*\n", re.M), ""),
    (re.compile(r"^(Processed: \d+ rows; Rate: |Process ImportProcess|Process ExportProcess|Using \d+ child).*\n", re.M), ""),
    (re.compile(r"\r"), ""),
    (re.compile(r"(\d+ rows (exported to|imported from) \d+ files?) in .*", re.M), r"\1"),
    (re.compile(r"\(\d+ skipped\)"), "(0 skipped)"),
    (re.compile(r"^WARNING: cqlsh was built against .*\n", re.M), ""),
    (re.compile(r"^Connected to \S.* at ", re.M), "Connected to NAME at "),
    (re.compile(r"^Cluster: .*\n(.*\n)Snitch: .*", re.M), r"Cluster: NAME\n\1Snitch: NAME"),
    (re.compile(r"(^ +-?\d+  \[.*\]\n)+", re.M), "    TOKEN  [NODE]\n"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r"Native protocol v\d"), "Native protocol vN"),
    (re.compile(r"\[cqlsh [\d.]+ \| Cassandra [^|]+ \| CQL spec 3\.4\.\d+ \|"), "[cqlsh C | Cassandra V | CQL spec S |"),
]


def normal(text):
    for pattern, replacement in NORMAL:
        text = pattern.sub(replacement, text)
    return text


def without_warnings(text):
    """As in v3, whose answers carry none."""
    return re.sub(r"\n{2,}", "\n", re.sub(r"\nWarnings :\n(.+\n)+", "\n", text))


def run(arguments, script, folder):
    """Everything that cqlsh prints for a script, and its exit status."""
    command = [sys.executable, arguments.cqlsh, arguments.host, str(arguments.port), "--no-color"]
    command += ["--request-timeout=30", "--protocol-version=%d" % arguments.version, "-f", script.name]
    if "CHECK_CA" in os.environ:
        settings = pathlib.Path(folder) / "cqlshrc"
        settings.write_text("[ssl]\ncertfile = %s\nvalidate = true\n" % os.environ["CHECK_CA"])
        command += ["--ssl", "--cqlshrc=%s" % settings]
    if "CHECK_USER" in os.environ:
        command += ["-u", os.environ["CHECK_USER"], "-p", os.environ["CHECK_PASSWORD"], "--insecure-password-without-warning"]
    environment = {"PATH": "/usr/bin:/bin", "HOME": folder, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    done = subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S
    )
    out = done.stdout.decode("utf-8", "replace")
    err = done.stderr.decode("utf-8", "replace")
    return normal("%s--- standard error\n%s--- exit status %d\n" % (out, err, done.returncode))


def check(arguments, script):
    """None when the case printed what it should, else the difference."""
    expected = script.with_suffix(".out")
    with tempfile.TemporaryDirectory(prefix="cqlsh-") as folder:
        for extra in CASES.glob(script.stem + ".*"):
            if extra.suffix != ".out":
                (pathlib.Path(folder) / extra.name).write_bytes(extra.read_bytes())
        try:
            got = run(arguments, script, folder)
        except subprocess.TimeoutExpired:
            return "no end within %d s" % LIMIT_S
    if arguments.bless:
        expected.write_text(got, encoding="utf-8")
        return None
    wanted = expected.read_text(encoding="utf-8")
    if arguments.version < 4:
        got, wanted = without_warnings(got), without_warnings(wanted)
    if got == wanted:
        return None
    lines = difflib.unified_diff(wanted.splitlines(), got.splitlines(), "wanted", "got", lineterm="", n=1)
    return "\n    ".join(["differs"] + list(lines)[2:40])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cqlsh", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("version", type=int, nargs="?", choices=(3, 4, 5), default=5)
    parser.add_argument("compression", nargs="?", choices=("lz4",), default="lz4")
    parser.add_argument("--only")
    parser.add_argument("--bless", action="store_true")
    arguments = parser.parse_args()
    passed = failed = 0
    for script in sorted(CASES.glob("*.cql")):
        if arguments.only and arguments.only not in script.stem:
            continue
        why = check(arguments, script)
        if why is None:
            passed += 1
            print("ok %s" % script.stem, flush=True)
        else:
            failed += 1
            print("not ok %s: %s" % (script.stem, why), flush=True)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
