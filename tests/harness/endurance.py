"""What a server needs for clients that do nothing, and whether it outlasts ones that do everything wrong."""

import contextlib
import json
import subprocess
import threading
import time
from concurrent import futures

from . import nuisance, paths, process
from .command import OPTIONS, connect, exchange
from .server import Server, StartFailure

# Connections, and the most KiB of resident memory for each. On threads, each has a stack of its own.
IDLE = {"tokio": (10000, 8), "smol": (10000, 20), "async-std": (10000, 20), "threads": (1000, 20)}
# What a process of another's needs as long as the system has few descriptors for it.
SPARE_DESCRIPTORS = 256
# Clients that stay while others do everything wrong, and the requests that each has in flight.
LIGHT, LIGHT_DEPTH = 4, 1
FLOODS, FLOOD_DEPTH = 2, 1000
# How often the server's memory is looked at, and how much more than a tenth the last third of the time may take.
LOOK_S = 0.25
SLACK_MIB = 4
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
    for runtime in run.runtimes:
        try:
            with Server(runtime, name="soak-%s" % runtime) as server:
                everything_at_once(run, runtime, server)
                shutdown_in_a_flood(run, runtime, server)
                server.check_log(run.report)
        except (StartFailure, OSError) as failure:
            run.report.fail("soak %s" % runtime, str(failure))


def loads(server, seconds):
    """The command lines of clients that stay, each with a connection of its own."""
    bench = [paths.BINARY, "bench", "--target", "%s:%d" % (server.host, server.port), "--json"]
    bench += ["--connections", 1, "--keys", 1000, "--warm-up", 0, "--seconds", seconds]
    depths = [LIGHT_DEPTH] * LIGHT + [FLOOD_DEPTH] * FLOODS
    return [
        bench + ["--depth", depth, "--workload", ("read", "write")[number % 2]] for number, depth in enumerate(depths)
    ]


def everything_at_once(run, runtime, server):
    seconds, memory, over = run.minutes * 60, [], threading.Event()

    def watch():
        while not over.wait(LOOK_S):
            memory.append(server.resident_kib())

    def stay(number, command):
        return process.run(command, "soak-%s-%d" % (runtime, number), seconds + 120, run.report)

    staying = loads(server, seconds)
    watcher = threading.Thread(target=watch, daemon=True)
    with nuisance.Crowd(server) as crowd, futures.ThreadPoolExecutor(len(staying)) as pool:
        watcher.start()
        outcomes = list(pool.map(stay, range(len(staying)), staying))
        over.set()
        watcher.join()
    for number, outcome in enumerate(outcomes):
        name = "%s: client %d of those that stay is served for %.1f minutes" % (runtime, number, run.minutes)
        lines = [line for line in outcome.output.splitlines() if line.startswith("{")]
        report = json.loads(lines[0]) if lines else {}
        served = outcome.ok and report.get("answered", 0) > 0 and not report["errors"]
        run.report.check(name, served, "%s %s" % (outcome.status, outcome.tail(3)))
        if served:
            latency = report["latency_us"]
            figures = (runtime, number, report["answered"], latency["p50"] / 1e3, latency["p99"] / 1e3)
            run.report.note("%s: client %d had %d answers, p50 %.1f ms, p99 %.1f ms" % figures)
    run.report.note("%s: came and went: %s" % (runtime, crowd.visits))
    third = len(memory) // 3
    first, second, last = (max(part) / 1024 for part in (memory[:third], memory[third : 2 * third], memory[2 * third :]))
    said = "%.1f, %.1f and %.1f MiB" % (first, second, last)
    run.report.note("%s: most memory, by thirds of the time: %s" % (runtime, said))
    # The first third is for growing.
    run.report.check("%s: memory is flat" % runtime, last <= second * 1.1 + SLACK_MIB, said)


def shutdown_in_a_flood(run, runtime, server):
    """SIGTERM while all of it goes on."""
    with nuisance.Crowd(server), contextlib.ExitStack() as stack:
        for command in loads(server, 60):
            command = [str(part) for part in command]
            load = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.callback(load.wait)
            stack.callback(load.kill)
        time.sleep(3)
        started = time.monotonic()
        status = server.stop(patience=DRAIN_S)
        took = time.monotonic() - started
    name = "%s: SIGTERM in a flood ends it within %d s" % (runtime, DRAIN_S)
    run.report.check(name, status == 0, "status %s after %.1f s" % (status, took))
    run.report.note("%s: SIGTERM in a flood took %.2f s" % (runtime, took))
