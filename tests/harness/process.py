"""Processes that end: each has a time limit, a log file and, while it runs, a sign of life."""

import os
import queue
import resource
import signal
import subprocess
import threading
import time

from . import paths

HEARTBEAT_S = 30


class Outcome:
    """How a command ended. `status` is None when its time ran out."""

    def __init__(self, status, output, log, seconds):
        self.status = status
        self.output = output
        self.log = log
        self.seconds = seconds

    @property
    def ok(self):
        return self.status == 0

    def reason(self):
        if self.status is None:
            return "stopped after %.0f s without an end; see %s" % (self.seconds, relative(self.log))
        return "exit status %s; see %s" % (self.status, relative(self.log))

    def tail(self, lines=25):
        return "\n".join(self.output.rstrip().splitlines()[-lines:])


def relative(path):
    try:
        return path.relative_to(paths.ROOT)
    except ValueError:
        return path


def environment(extra=None):
    env = dict(os.environ)
    # Colours and progress bars belong on a terminal, not in a log.
    env.update(CARGO_TERM_COLOR="never", CARGO_TERM_PROGRESS_WHEN="never", PYTHONUNBUFFERED="1")
    env.update(extra or {})
    return env


def run(command, name, limit_s, report, cwd=None, env=None, stdin=None):
    """Runs `command` for at most `limit_s` seconds, its output in the log file `name`."""
    paths.LOGS.mkdir(parents=True, exist_ok=True)
    log = paths.LOGS / (name + ".log")
    started = time.monotonic()
    lines = queue.Queue()
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=str(cwd or paths.ROOT),
        env=environment(env),
        stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    threading.Thread(target=_pump, args=(process.stdout, lines), daemon=True).start()
    if stdin is not None:
        threading.Thread(target=_feed, args=(process.stdin, stdin), daemon=True).start()
    output, last, beat = [], "", started + HEARTBEAT_S
    with open(log, "w", encoding="utf-8") as file:
        file.write("$ %s\n" % " ".join(str(part) for part in command))
        while True:
            now = time.monotonic()
            if now - started > limit_s:
                end_group(process)
                return Outcome(None, "".join(output), log, now - started)
            if now >= beat:
                report.progress("%s: %.0f s … %s" % (name, now - started, last.strip()[:100]))
                beat = now + HEARTBEAT_S
            try:
                line = lines.get(timeout=max(0.05, min(beat, started + limit_s) - now))
            except queue.Empty:
                continue
            if line is None:
                break
            file.write(line)
            output.append(line)
            last = line if line.strip() else last
    try:
        status = process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        end_group(process)
        status = None
    return Outcome(status, "".join(output), log, time.monotonic() - started)


def descriptor_limit():
    """How many descriptors a process may have."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft if soft != resource.RLIM_INFINITY else 1 << 20


def end_group(process):
    """Ends a process that was started as the leader of its own group, with its children."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            return
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            continue


def _pump(stream, lines):
    for line in stream:
        lines.put(line.decode("utf-8", "replace"))
    lines.put(None)


def _feed(stream, data):
    try:
        stream.write(data)
        stream.close()
    except BrokenPipeError:
        pass
