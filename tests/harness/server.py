"""`helenus serve` as a test sees it: started on a free port, ready in time, stopped by its pid."""

import re
import selectors
import signal
import subprocess
import time

from . import paths, process

RUNTIMES = ("tokio", "smol", "async-std", "threads")
READY = re.compile(
    r"^ready: cql (?P<host>[\d.]+):(?P<port>\d+)(?: [\d.]+:\d+)* "
    r"\(protocol v3 v4 v5, runtime (?P<runtime>[\w-]+), (?P<workers>\d+) workers?(?P<more>(?:, [^)]*)?)\)$"
)
ADMIN = re.compile(r", admin ([\d.:]+)")
START_LIMIT_S = 10
STOP_LIMIT_S = 10


class StartFailure(Exception):
    """The server did not say that it is ready."""


class Server:
    """A running server; a context manager that ends it."""

    def __init__(self, runtime=None, arguments=None, env=None, name=None, binary=paths.BINARY, extra=()):
        self.binary = binary
        self.name = name or runtime or "server"
        self.runtime = runtime
        self.arguments = arguments
        if arguments is None:
            self.arguments = ["--listen", "127.0.0.1:0", "--runtime", runtime, *extra]
        self.env = env
        self.process = None
        self.log = paths.LOGS / ("server-%s.log" % self.name)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(timeout=STOP_LIMIT_S)
        self.process.stdout.close()

    def start(self):
        paths.LOGS.mkdir(parents=True, exist_ok=True)
        started = time.monotonic()
        with open(self.log, "ab" if self.process else "wb") as log:
            self.process = subprocess.Popen(
                [str(self.binary), "serve"] + [str(part) for part in self.arguments],
                cwd=str(paths.ROOT),
                env=process.environment(self.env),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        line = self._first_line(started + START_LIMIT_S)
        self.ready_ms = (time.monotonic() - started) * 1000
        match = READY.match(line)
        if not match:
            self.process.kill()
            self.process.wait(timeout=STOP_LIMIT_S)
            raise StartFailure("no ready line but %r; see %s" % (line, process.relative(self.log)))
        self.host, self.port = match.group("host"), int(match.group("port"))
        self.says = match.groupdict()
        admin = ADMIN.search(match.group("more"))
        self.admin = admin and admin.group(1)
        return self

    def _first_line(self, deadline):
        data = b""
        stdout = self.process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            while b"\n" not in data:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    break
                chunk = stdout.read1(4096)
                if not chunk:
                    break
                data += chunk
        self.stdout = data
        return data.decode("utf-8", "replace").rstrip("\n")

    def stop(self, number=signal.SIGTERM, patience=STOP_LIMIT_S):
        """Asks the server to end; gives its exit status, or None when it doesn't."""
        self.process.send_signal(number)
        try:
            status = self.process.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(timeout=STOP_LIMIT_S)
            return None
        self.stdout += self.process.stdout.read()
        return status

    def restart(self):
        """Ends the server and starts it again on the same port: a server that lost its memory."""
        assert self.stop() == 0, "SIGTERM ends it with status 0"
        self.process.stdout.close()
        address = "%s:%d" % (self.host, self.port)
        self.arguments = [address if part == "127.0.0.1:0" else part for part in self.arguments]
        self.start()

    def resident_kib(self):
        with open("/proc/%d/status" % self.process.pid, encoding="ascii") as file:
            for line in file:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1])
        return None

    def close(self, report):
        """Ends the server and checks its manners: alive to the end, a clean exit, no panic."""
        name = "server %s" % self.name
        status = self.process.poll()
        if status is not None:
            report.fail(name, "ended by itself with status %s; see %s" % (status, self.log.name))
            return
        status = self.stop()
        report.check("%s: SIGTERM ends it with status 0" % name, status == 0, "got %s" % status)
        lines = self.stdout.count(b"\n")
        report.check("%s: one line on standard output" % name, lines == 1, "%d lines" % lines)
        self.check_log(report)

    def check_log(self, report):
        """Nothing panicked."""
        said = self.log.read_text(encoding="utf-8", errors="replace")
        panics = [line for line in said.splitlines() if "panicked at" in line]
        report.check("server %s: no panic" % self.name, not panics, "; ".join(panics[:3]))


class Elsewhere:
    """A server that is already running, named by --server; never stopped from here."""

    def __init__(self, address):
        host, _, port = address.rpartition(":")
        self.host, self.port = host, int(port)
        self.name = self.runtime = address

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def close(self, report):
        pass
