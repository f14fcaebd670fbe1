"""What a server needs for clients that do nothing, and whether it outlasts ones that do everything wrong."""

import contextlib
import subprocess
import time

from . import paths, process
from .command import OPTIONS, connect, exchange
from .server import Server, StartFailure

# Connections, and the most KiB of resident memory for each. On threads, each has a stack of its own.
IDLE = {"tokio": (10000, 8), "smol": (10000, 20), "async-std": (10000, 20), "threads": (1000, 20)}
# What a process of another's needs as long as the system has few descriptors for it.
SPARE_DESCRIPTORS = 256
BUILD = ["cargo", "build", "--release", "--locked", "-q", "-p", "helenus-load"]
LOAD = paths.TARGET / "release" / "helenus-load"
# While requests are in flight a shutdown waits for them, 10 s at most, and then a second for connections to hear of it.
DRAIN_S = 12


def idle_memory(run):
    """Idle connections, past their STARTUP, by the thousand: what each takes of the server's memory."""
    for runtime in run.runtimes:
        count, most_kib = IDLE[runtime]
        count = min(count, process.descriptor_limit() - SPARE_DESCRIPTORS)
        try:
            with Server(runtime, name="memory-%s" % runtime) as server, contextlib.ExitStack() as stack:
                # What a first connection makes the server allocate for all of them doesn't count.
                streams = [stack.enter_context(connect(server)) for _ in range(10)]
                before = server.resident_kib()
                streams += [stack.enter_context(connect(server)) for _ in range(count)]
                each = (server.resident_kib() - before) / count
                run.report.note("%s: %d idle connections take %.2f KiB each" % (runtime, count, each))
                name = "%s: an idle connection takes at most %d KiB" % (runtime, most_kib)
                run.report.check(name, each <= most_kib, "%.2f KiB" % each)
                answers = {exchange(stream, OPTIONS) for stream in streams[:: max(1, count // 50)]}
                run.report.check("%s: and they are answered" % runtime, answers == {6}, str(answers))
                server.close(run.report)
        except (StartFailure, OSError) as failure:
            run.report.fail("idle memory %s" % runtime, str(failure))


def soak(run):
    """Clients that break off, stall, don't read and flood, beside ones that stay: memory is flat, who stays is served, and
    a shutdown in the midst of it ends in time."""
    built = process.run(BUILD, "soak-build", 900, run.report)
    run.report.outcome("cargo build -p helenus-load", built)
    if not built.ok:
        return
    for runtime in run.runtimes:
        try:
            with Server(runtime, name="soak-%s" % runtime) as server:
                load = [LOAD, "--target", "%s:%d" % (server.host, server.port), "--pid", server.process.pid]
                load += ["--workload", "soak", "--depth", 1000]
                limit = run.minutes * 60 + 120
                outcome = process.run(load + ["--minutes", run.minutes], "soak-%s" % runtime, limit, run.report)
                name = "%s: %.1f minutes of everything at once" % (runtime, run.minutes)
                run.report.outcome(name, outcome)
                for line in outcome.output.splitlines():
                    run.report.note("%s: %s" % (runtime, line))
                shutdown_in_a_flood(run, runtime, server, load)
                server.check_log(run.report)
        except (StartFailure, OSError) as failure:
            run.report.fail("soak %s" % runtime, str(failure))


def shutdown_in_a_flood(run, runtime, server, load):
    """SIGTERM while all of it goes on."""
    command = [str(part) for part in load + ["--minutes", 1]]
    flood = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(3)
        started = time.monotonic()
        status = server.stop(patience=DRAIN_S)
        took = time.monotonic() - started
    finally:
        flood.kill()
        flood.wait()
    name = "%s: SIGTERM in a flood ends it within %d s" % (runtime, DRAIN_S)
    run.report.check(name, status == 0, "status %s after %.1f s" % (status, took))
    run.report.note("%s: SIGTERM in a flood took %.2f s" % (runtime, took))
