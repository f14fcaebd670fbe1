"""What installs the command: its man pages and completions, the systemd unit, the image."""

import shutil
import subprocess

from . import paths, process

PACKAGING = paths.ROOT / "packaging"
# How exposed systemd may find the unit, of 100.
MOST_EXPOSED = 20


def packaging(run):
    folder = paths.CACHE / "packaging"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    man_pages(run, folder)
    completions(run, folder)
    unit(run, folder)
    image(run)


def man_pages(run, folder):
    outcome = process.run([paths.BINARY, "man", "--out", folder], "man", 20, run.report)
    run.report.outcome("helenus man", outcome)
    pages = sorted(folder.glob("*.1"))
    run.report.check("a page of the command and each subcommand", len(pages) > 5, "%d pages" % len(pages))
    for page in pages if shutil.which("man") else ():
        command = ["man", "--warnings", "-E", "UTF-8", "-l", page]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, env={"PATH": "/usr/bin:/bin"})
        # A line with one long word can't reach both margins; that is all that may be said.
        said = [line for line in done.stderr.splitlines() if "cannot adjust line" not in line]
        run.report.check("%s is well-formed" % page.name, done.returncode == 0 and not said, "; ".join(said)[:300])


def completions(run, folder):
    for shell in ("bash", "zsh", "fish", "elvish", "powershell"):
        outcome = process.run([paths.BINARY, "completions", shell], "completions-%s" % shell, 20, run.report)
        run.report.outcome("helenus completions %s" % shell, outcome)
        script = folder / ("helenus.%s" % shell)
        script.write_text(outcome.output, encoding="utf-8")
        # Those that can read a script without running it.
        if shell in ("bash", "zsh", "fish") and shutil.which(shell):
            outcome = process.run([shell, "-n", script], "completions-%s" % shell, 20, run.report)
            run.report.outcome("%s reads its completions" % shell, outcome)


def unit(run, folder):
    if not shutil.which("systemd-analyze"):
        run.report.note("packaging: the systemd unit wasn't looked at, for there is no systemd-analyze")
        return
    text = (PACKAGING / "helenus.service").read_text(encoding="utf-8")
    file = folder / "helenus.service"
    # It must name a program that exists.
    file.write_text(text.replace("/usr/local/bin/helenus", str(paths.BINARY)), encoding="utf-8")
    analyze = "systemd-analyze"
    outcome = process.run([analyze, "verify", "--man=no", file], "unit", 30, run.report)
    run.report.outcome("systemd-analyze verify", outcome)
    command = [analyze, "security", "--offline=true", "--threshold=%d" % MOST_EXPOSED, "--no-pager", file]
    outcome = process.run(command, "unit-security", 30, run.report)
    run.report.outcome("systemd finds it exposed by %.1f at most" % (MOST_EXPOSED / 10), outcome)


def image(run):
    """Where Docker runs, which is no part of what a test machine must have."""
    docker = shutil.which("docker")
    if not docker or subprocess.run([docker, "info"], capture_output=True, timeout=60).returncode != 0:
        run.report.note("packaging: the image wasn't built, for no Docker runs here")
        return
    build = [docker, "build", "-f", PACKAGING / "Dockerfile", "-t", "helenus-test", "."]
    outcome = process.run(build, "image", 1800, run.report)
    if not run.report.outcome("docker build", outcome):
        return
    command = [docker, "run", "--rm", "helenus-test", "--version"]
    outcome = process.run(command, "image-version", 60, run.report)
    run.report.check("the image runs", outcome.output.startswith("helenus "), outcome.output)
