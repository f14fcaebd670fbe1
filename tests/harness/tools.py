"""What the drivers need: a Python environment, Maven, Go, Node. Installed once, from pinned files."""

import hashlib
import os
import shutil
import subprocess
import sys

from . import paths, process

VENV = paths.CACHE / "venv"
PYTHON = VENV / "bin" / "python"
CQLSH = VENV / "bin" / "cqlsh"
GO_BINARY = paths.CACHE / "gocql-check"
JAVA = paths.CACHE / "java"
CLASSPATH = "%s/classes:%s/lib/*" % (JAVA, JAVA)
NODE = paths.CACHE / "node"
CERTIFICATES = paths.CACHE / "certificates"


def required():
    """On a CI machine nothing may be left out."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def have(run, name, commands):
    """Whether the commands exist; a missing one is a failure in CI and a named skip elsewhere."""
    missing = [command for command in commands if shutil.which(command) is None]
    if not missing:
        return True
    why = "%s not found on PATH" % ", ".join(missing)
    if required():
        run.report.fail(name, "%s, and CI=true allows no skipping" % why)
    else:
        run.report.skip(name, why)
    return False


def unchanged(stamp, files):
    """Whether `stamp` was written for these very files."""
    return stamp.exists() and stamp.read_text() == _digest(files)


def remember(stamp, files):
    stamp.write_text(_digest(files))


def _digest(files):
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def certificates():
    """A certificate authority's certificate, and a server's certificate and key: three PEM files."""
    files = [CERTIFICATES / name for name in ("ca.pem", "server.pem", "server.key")]
    if not all(file.exists() for file in files):
        command = [paths.BINARY, "cert", "--force", "--out", CERTIFICATES]
        subprocess.run(command, check=True, capture_output=True, timeout=30)
    return files


def python(run):
    """The virtual environment of the Python driver and cqlsh."""
    wanted = paths.DRIVERS / "python" / "requirements.txt"
    stamp = VENV / "requirements.stamp"
    if PYTHON.exists() and unchanged(stamp, [wanted]):
        return True
    steps = [
        ([sys.executable, "-m", "venv", "--clear", VENV], 120),
        ([PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "-q", "-r", wanted], 600),
    ]
    for command, limit_s in steps:
        outcome = process.run(command, "venv", limit_s, run.report)
        if not outcome.ok:
            run.report.fail("python environment", outcome.reason(), outcome.tail())
            return False
    remember(stamp, [wanted])
    return True


def gocql(run):
    source = paths.DRIVERS / "go"
    paths.CACHE.mkdir(parents=True, exist_ok=True)
    command = ["go", "build", "-mod=readonly", "-o", GO_BINARY, "."]
    outcome = process.run(command, "gocql-build", 600, run.report, cwd=source)
    return run.report.outcome("go build", outcome)


def java(run):
    """Compiles the Java program and copies the driver's jars beside it."""
    command = ["mvn", "-B", "-q", "-f", paths.DRIVERS / "java" / "pom.xml"]
    command += ["-Dcheck.output=%s" % JAVA, "package"]
    outcome = process.run(command, "java-build", 900, run.report)
    return run.report.outcome("mvn package", outcome)


def node(run):
    """A copy of the Node program beside its modules, so that the source folder stays clean."""
    source = paths.DRIVERS / "node"
    NODE.mkdir(parents=True, exist_ok=True)
    for file in source.iterdir():
        if file.is_file():
            shutil.copy2(file, NODE / file.name)
    locks = [source / "package.json", source / "package-lock.json"]
    stamp = NODE / "package.stamp"
    if (NODE / "node_modules").exists() and unchanged(stamp, locks):
        return True
    command = ["npm", "ci", "--no-audit", "--no-fund"]
    outcome = process.run(command, "node-install", 300, run.report, cwd=NODE)
    if run.report.outcome("npm ci", outcome):
        remember(stamp, locks)
    return outcome.ok


def scylla(run):
    command = ["cargo", "build", "--locked", "--manifest-path"]
    command += [paths.DRIVERS / "rust" / "Cargo.toml"]
    env = {"CARGO_TARGET_DIR": str(paths.TARGET / "drivers")}
    outcome = process.run(command, "scylla-build", 900, run.report, env=env)
    return run.report.outcome("cargo build of the scylla program", outcome)
