"""The command itself: its ways of configuration, its exit codes, its manners at rest."""

import contextlib
import os
import re
import signal
import socket
import struct
import time

from . import paths, process
from .server import RUNTIMES, Server, StartFailure

READY_MS = 50
IDLE_RSS_KIB = 25 * 1024
IDLE_CONNECTIONS = 1000
IDLE_S = 10


def envelope(version, opcode, body, stream=0):
    return struct.pack(">BBhBi", version, 0, stream, opcode, len(body)) + body


STARTUP = envelope(4, 1, b"\0\1\0\x0bCQL_VERSION\0\x053.0.0")
OPTIONS = envelope(4, 5, b"")


def exchange(stream, request):
    """Sends one request; gives the opcode of the answer."""
    stream.sendall(request)
    header = receive(stream, 9)
    receive(stream, struct.unpack(">i", header[5:9])[0])
    return header[4]


def receive(stream, count):
    data = b""
    while len(data) < count:
        chunk = stream.recv(count - len(data))
        if not chunk:
            raise ConnectionError("closed after %d of %d bytes" % (len(data), count))
        data += chunk
    return data


def connect(server):
    stream = socket.create_connection((server.host, server.port), timeout=10)
    if exchange(stream, STARTUP) != 2:
        raise ConnectionError("STARTUP wasn't answered with READY")
    return stream


def config_files(run):
    """The same command line on every runtime: only `runtime = "…"` of the file differs."""
    folder = paths.CACHE / "config"
    folder.mkdir(parents=True, exist_ok=True)
    for runtime in run.runtimes:
        file = folder / ("%s.toml" % runtime)
        file.write_text('listen = "127.0.0.1:0"\nruntime = "%s"\n' % runtime)
        name = "config-%s" % runtime
        try:
            with Server(arguments=["--config", file], name=name) as server:
                said = server.says["runtime"]
                run.report.check("%s: the ready line names it" % name, said == runtime, said)
                with connect(server) as stream:
                    answer = exchange(stream, OPTIONS)
                    run.report.check("%s: OPTIONS is answered" % name, answer == 6, str(answer))
                server.close(run.report)
        except (StartFailure, OSError) as failure:
            run.report.fail(name, str(failure))


def environment(run):
    """A variable stands above the file, the command line above the variable."""
    env = {"HELENUS_RUNTIME": "smol", "HELENUS_LISTEN": "127.0.0.1:0", "HELENUS_WORKERS": "1"}
    for name, arguments, wanted in [
        ("HELENUS_RUNTIME", [], "smol"),
        ("--runtime above HELENUS_RUNTIME", ["--runtime", "threads"], "threads"),
        ("HELENUS_RUNTIME above the file", ["--config", paths.CACHE / "config" / "tokio.toml"], "smol"),
    ]:
        try:
            with Server(arguments=arguments, env=env, name="environment") as server:
                said = server.says["runtime"]
                run.report.check(name, said == wanted, "runs %s" % said)
        except StartFailure as failure:
            run.report.fail(name, str(failure))


def refusals(run):
    """What can't be served is refused with the right status and a sentence on standard error."""
    misspelt = paths.CACHE / "config" / "misspelt.toml"
    misspelt.parent.mkdir(parents=True, exist_ok=True)
    misspelt.write_text('runtme = "tokio"\n')
    negative = misspelt.with_name("negative.toml")
    negative.write_text('[limits]\nidle_timeout = "3s"\nconnections = -5\n')
    unreadable = misspelt.parent
    serve = [paths.BINARY, "serve"]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = "127.0.0.1:%d" % taken.getsockname()[1]
        cases = [
            ("an unknown flag", serve + ["--no-such-flag"], 2, "--no-such-flag"),
            ("an unknown runtime", serve + ["--runtime", "fibers"], 2, "tokio"),
            ("an unknown key, with the right one", serve + ["--config", misspelt], 2, "runtime"),
            ("a negative limit, with its line", serve + ["--config", negative], 2, "negative.toml:3: limits.connections"),
            ("a limit without its unit", serve + ["--set", "limits.idle_timeout=30"], 2, '"30s"'),
            ("an unreadable file", serve + ["--config", unreadable], 2, "cannot read the configuration file"),
            ("a missing file", serve + ["--config", "/no/such/file.toml"], None, "/no/such/file.toml"),
            ("a port in use, with the address", serve + ["--listen", address], 1, address),
            ("help", [paths.BINARY, "--help"], 0, "serve"),
            ("help of serve", serve + ["--help"], 0, "--runtime"),
        ]
        for name, command, status, text in cases:
            outcome = process.run(command, "refusals", 20, run.report)
            if status is None:
                good = outcome.status in (1, 2)
            else:
                good = outcome.status == status
            said = outcome.output.strip()[:200]
            run.report.check("%s: exit status" % name, good, "%s: %s" % (outcome.status, said))
            run.report.check("%s: says %r" % (name, text), text in outcome.output, said)


CAPTURE = """# a handshake, and a QUERY that ends early
> 0400000001000000160001000b43514c5f56455253494f4e0005332e302e30
< 840000000200000000
> 04000005070000000600000009 5553
"""


def inspection(run):
    """A capture is decoded, and where it breaks is pointed at; `helenus conformance` says what it would play."""
    capture = paths.CACHE / "capture.hex"
    capture.parent.mkdir(parents=True, exist_ok=True)
    capture.write_text(CAPTURE)
    inspect = [paths.BINARY, "inspect"]
    whole = CAPTURE.encode().rpartition(b"> ")[0]
    cases = [
        ("inspect", inspect + [capture], None, 1, "BROKEN at byte 44: QUERY on stream 5"),
        ("inspect standard input", inspect + ["-"], whole, 0, "READY v4 stream 0"),
        ("inspect as JSON", inspect + ["--json", capture], None, 1, '"fields":{"options":{"CQL_VERSION":"3.0.0"}}'),
        ("inspect a missing file", inspect + ["/no/such/capture"], None, 2, "/no/such/capture"),
        ("inspect --help", inspect + ["--help"], None, 0, "tcpdump"),
        ("conformance --list", [paths.BINARY, "conformance", "--list", "--only", "v4.query.cut-46"], None, 0, "v4.query.cut-46"),
        ("conformance without a server", [paths.BINARY, "conformance"], None, 2, "HOST:PORT"),
        ("ping nobody", [paths.BINARY, "ping", "127.0.0.1:1"], None, 1, "127.0.0.1:1 doesn't answer"),
        ("man of nothing", [paths.BINARY, "man", "nothing"], None, 2, "conformance, bench, inspect"),
        ("completions of no shell", [paths.BINARY, "completions", "sh"], None, 2, "elvish"),
        ("conformance of nothing", [paths.BINARY, "conformance", "--list", "--only", "no-such-probe"], None, 2, "--list"),
    ]
    for name, command, stdin, status, text in cases:
        outcome = process.run(command, "inspection", 20, run.report, stdin=stdin)
        said = outcome.output.strip()[:300]
        run.report.check("%s: exit status" % name, outcome.status == status, "%s: %s" % (outcome.status, said))
        run.report.check("%s: says %r" % (name, text), text in outcome.output, said)


def start(run):
    """Ready soon after exec, and small when idle."""
    for runtime in run.runtimes:
        try:
            best, resident = None, None
            for _ in range(5):
                with Server(runtime, name="start-%s" % runtime) as server:
                    best = min(best or server.ready_ms, server.ready_ms)
                    resident = server.resident_kib()
        except StartFailure as failure:
            run.report.fail("start %s" % runtime, str(failure))
            continue
        run.report.note("%s: ready in %.1f ms, %.1f MiB resident" % (runtime, best, resident / 1024))
        run.report.check(
            "%s: ready within %d ms" % (runtime, READY_MS), best <= READY_MS, "%.1f ms" % best
        )
        run.report.check(
            "%s: at most %d MiB resident" % (runtime, IDLE_RSS_KIB // 1024),
            resident <= IDLE_RSS_KIB,
            "%.1f MiB" % (resident / 1024),
        )


def wakeups(pid):
    """Context switches of every thread of a process, by thread: any system call that waits adds one."""
    counts = {}
    for thread in os.listdir("/proc/%d/task" % pid):
        try:
            with open("/proc/%d/task/%s/status" % (pid, thread), encoding="ascii") as file:
                found = re.findall(r"^voluntary_ctxt_switches:\s+(\d+)$", file.read(), re.M)
        except FileNotFoundError:
            continue
        counts[thread] = int(found[0])
    return counts


def idle(run):
    """Nobody polls: with 1,000 idle connections no thread of the server wakes. All runtimes are watched at once."""
    if not os.path.isdir("/proc/self/task"):
        run.report.skip("idle", "it reads wake-ups from /proc, which this system lacks")
        return
    with contextlib.ExitStack() as stack:
        servers = []
        for runtime in run.runtimes:
            try:
                server = stack.enter_context(Server(runtime, name="idle-%s" % runtime))
                streams = [stack.enter_context(connect(server)) for _ in range(IDLE_CONNECTIONS)]
                servers.append((runtime, server, streams))
            except (StartFailure, OSError) as failure:
                run.report.fail("idle %s" % runtime, str(failure))
        time.sleep(2)
        before = [wakeups(server.process.pid) for _, server, _ in servers]
        time.sleep(IDLE_S)
        after = [wakeups(server.process.pid) for _, server, _ in servers]
        for (runtime, server, streams), earlier, later in zip(servers, before, after):
            woken = {thread: count - earlier.get(thread, 0) for thread, count in later.items()}
            woken = {thread: count for thread, count in woken.items() if count}
            name = "%s: %d idle connections wake no thread in %d s" % (runtime, IDLE_CONNECTIONS, IDLE_S)
            run.report.check(name, not woken, "wake-ups by thread: %s" % woken)
            answers = [exchange(stream, OPTIONS) for stream in streams[::100]]
            good = answers == [6] * len(answers)
            run.report.check("%s: and they are answered afterwards" % runtime, good, str(answers))
            server.close(run.report)


def wait_for(server, text, since=0):
    """Waits until the server's log has `text` beyond a length; gives what it has there."""
    for _ in range(100):
        said = server.log.read_text(encoding="utf-8", errors="replace")[since:]
        if text in said:
            return said
        time.sleep(0.05)
    return said


def closes(server):
    """Whether a new connection is closed without a word."""
    with socket.create_connection((server.host, server.port), timeout=10) as stream:
        try:
            return stream.recv(1) == b""
        except ConnectionResetError:
            return True


def reload(run):
    """SIGHUP: a good file changes what a running server can, with connections kept; a bad one changes nothing."""
    file = paths.CACHE / "config" / "reload.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    start = 'listen = "127.0.0.1:0"\nruntime = "%s"\n'
    for runtime in run.runtimes:
        name = "reload-%s" % runtime
        file.write_text(start % runtime)

        def read_again(text, awaited):
            since = server.log.stat().st_size
            file.write_text(text)
            server.process.send_signal(signal.SIGHUP)
            return wait_for(server, awaited, since)

        try:
            with contextlib.ExitStack() as stack:
                server = stack.enter_context(Server(runtime, ["--config", file], name=name))
                kept = stack.enter_context(connect(server))
                good = start % runtime + 'log = "debug"\n[limits]\nconnections = 2\n'
                said = read_again(good, "read again")
                changes = 'now log = "debug", limits.connections = 2'
                run.report.check("%s: says what changed" % name, changes in said, said)
                other = stack.enter_context(connect(server))
                run.report.check("%s: a new limit holds" % name, closes(server))
                said = wait_for(server, "DEBUG")
                run.report.check("%s: the new log level holds" % name, "DEBUG" in said, said[-300:])
                said = read_again(start % runtime + "[limits]\nconnections = -1\n", "read again")
                at = "reload.toml:4: limits.connections: expected a whole number, 1 or more"
                run.report.check("%s: a bad file is refused with its line" % name, at in said, said)
                run.report.check("%s: and changes nothing" % name, closes(server))
                said = read_again(good + "[metrics]\nlisten = \"127.0.0.1:0\"\n", "read again")
                kept_back = "metrics.listen can't change on a running server"
                run.report.check("%s: what needs a restart is named" % name, kept_back in said, said)
                answers = [exchange(stream, OPTIONS) for stream in (kept, other)]
                run.report.check("%s: open connections are kept" % name, answers == [6, 6], str(answers))
                server.close(run.report)
        except (StartFailure, OSError) as failure:
            run.report.fail(name, str(failure))


def flood(run):
    """SIGTERM in a flood that nobody reads the answers of ends the server within its bound."""
    for runtime in run.runtimes:
        name = "flood-%s" % runtime
        arguments = ["--listen", "127.0.0.1:0", "--runtime", runtime, "--set", "limits.drain_timeout=1s"]
        try:
            with contextlib.ExitStack() as stack:
                server = stack.enter_context(Server(runtime, arguments, name=name))
                streams = [stack.enter_context(connect(server)) for _ in range(8)]
                for stream in streams:
                    stream.setblocking(False)
                sent = [0] * len(streams)
                over = time.monotonic() + 1
                while time.monotonic() < over:
                    for index, stream in enumerate(streams):
                        with contextlib.suppress(BlockingIOError):
                            sent[index] += stream.send((OPTIONS * 1000)[sent[index] % len(OPTIONS) :])
                server.close(run.report)
        except (StartFailure, OSError) as failure:
            run.report.fail(name, str(failure))


def documented_limits(run):
    """SECURITY.md has each limit with its default, as the command lists them."""
    outcome = process.run([paths.BINARY, "serve", "--help-config"], "help-config", 20, run.report)
    section = outcome.output.partition("\n[limits]\n")[2].partition("\n[")[0]
    keys = re.findall(r"^# (.+)\n(\w+) = (.+)$", section, re.M)
    wanted = ["| `%s` | `%s` | %s |" % (key, value.strip('"'), doc) for doc, key, value in keys]
    text = (paths.ROOT / "SECURITY.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    run.report.check("SECURITY.md has the limits that there are", rows == wanted, "\n".join(wanted))


def command(run):
    run.report.note("runtimes by the command: %s" % ", ".join(RUNTIMES))
    config_files(run)
    environment(run)
    refusals(run)
    reload(run)
    flood(run)
    documented_limits(run)
    inspection(run)
    start(run)
