"""TLS of the command, as a client with another library sees it: OpenSSL's, through Python."""

import json
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import time

from . import paths, process
from .command import OPTIONS, STARTUP, exchange
from .server import StartFailure

FOLDER = paths.CACHE / "tls"
SUPPORTED, READY, ERROR = 6, 2, 0


def certificates(run, name):
    """An authority's folder: a server's certificate, and a client's named ada."""
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    command = [paths.BINARY, "cert", "--out", folder, "--client", "ada", "--json"]
    outcome = process.run(command, "cert-%s" % name, 30, run.report)
    run.report.outcome("helenus cert: %s" % name, outcome)
    return folder


def cert(run):
    """What `helenus cert` promises beside the certificates."""
    folder = certificates(run, "cert")
    again = [paths.BINARY, "cert", "--out", folder, "--client", "ada"]
    outcome = process.run(again, "cert-again", 30, run.report)
    refused = not outcome.ok and "is there already" in outcome.output
    run.report.check("helenus cert overwrites nothing", refused, outcome.output)
    said = subprocess.run(again + ["--force", "--json"], capture_output=True, text=True, timeout=30)
    report = json.loads(said.stdout)
    files = [report["ca"], report["server"], *report["clients"]]
    modes = [pathlib.Path(pair["key"]).stat().st_mode & 0o777 for pair in files]
    run.report.check("helenus cert keeps keys to their owner", modes == [0o600] * 3, str(modes))


def trusting(folder, identity=None, version=None):
    context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
    if version:
        context.minimum_version = context.maximum_version = version
    if identity:
        context.load_cert_chain(identity / "ada.pem", identity / "ada.key")
    return context


def connect(server, context):
    plain = socket.create_connection((server.host, server.port), timeout=10)
    return context.wrap_socket(plain, server_hostname="localhost")


def asks(server, context):
    """What came of OPTIONS: its answer's opcode, or an error."""
    try:
        with connect(server, context) as stream:
            return exchange(stream, OPTIONS)
    except (OSError, ssl.SSLError) as error:
        return str(error)


def serving(run, runtime, folder, foreign):
    arguments = ["--tls-cert", folder / "server.pem", "--tls-key", folder / "server.key"]
    with run.server(runtime, arguments, "tls-%s" % runtime) as server:
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            answer = asks(server, trusting(folder, version=version))
            name = "%s: %s is answered" % (runtime, version.name)
            run.report.check(name, answer == SUPPORTED, str(answer))
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        answer = asks(server, old)
        run.report.check("%s: TLS 1.1 is refused" % runtime, isinstance(answer, str), str(answer))
        with socket.create_connection((server.host, server.port), timeout=10) as stream:
            stream.sendall(STARTUP)
            said = stream.recv(1000)
        told = said[:1] == b"\x84" and said[4] == ERROR and b"speaks TLS" in said
        run.report.check("%s: a client without TLS is told so" % runtime, told, repr(said))
        # The server's runtime is nothing to them.
        if runtime == run.runtimes[0]:
            subcommands(run, server, folder, foreign)
        server.close(run.report)


def subcommands(run, server, folder, foreign):
    """What of the command connects to servers does so over TLS."""
    address = "%s:%d" % (server.host, server.port)
    trusted = ["--tls", "--tls-ca", folder / "ca.pem"]
    probes = ["--group", "handshake", "--group", "segment"]
    load = ["--connections", 1, "--seconds", 0.1]
    for name, command, status, words in (
        ("ping", ["ping", address] + trusted, 0, "PROTOCOL_VERSIONS"),
        ("ping by a name", ["ping", address, "--tls-name", "localhost"] + trusted, 0, "PROTOCOL_VERSIONS"),
        ("ping by another name", ["ping", address, "--tls-name", "elsewhere"] + trusted, 1, "not valid for name"),
        ("ping that trusts another", ["ping", address, "--tls", "--tls-ca", foreign / "ca.pem"], 1, "invalid peer certificate"),
        ("ping without TLS", ["ping", address], 1, "speaks TLS"),
        ("ping with no file", ["ping", address, "--tls", "--tls-ca", folder / "nowhere.pem"], 2, "nowhere.pem"),
        ("conformance", ["conformance", address, "--json"] + probes + trusted, 0, '"differs":0'),
        ("bench", ["bench", "--target", address, "--workload", "options"] + load + trusted, 0, "options"),
    ):
        outcome = process.run([paths.BINARY] + command, "tls-%s" % name.partition(" ")[0], 120, run.report)
        good = outcome.status == status and words in outcome.output
        run.report.check("%s over TLS: %s" % (server.name, name), good, "%s: %s" % (outcome.status, outcome.tail(3)))


def client_certificates(run, runtime, folder, foreign):
    arguments = ["--tls-cert", folder / "server.pem", "--tls-key", folder / "server.key"]
    arguments += ["--tls-client-ca", folder / "ca.pem"]
    for asked, without, stranger in (("optional", SUPPORTED, None), ("required", None, None)):
        extra = arguments + ["--tls-client-auth", asked]
        with run.server(runtime, extra, "tls-%s-%s" % (asked, runtime)) as server:
            for who, identity, expected in (
                ("without one", None, without),
                ("with one", folder, SUPPORTED),
                ("with a stranger's", foreign, stranger),
            ):
                answer = asks(server, trusting(folder, identity))
                good = answer == expected if expected else isinstance(answer, str)
                name = "%s: certificates of clients %s, a client %s" % (runtime, asked, who)
                run.report.check(name, good, str(answer))
            ping = [paths.BINARY, "ping", "%s:%d" % (server.host, server.port), "--tls", "--tls-ca", folder / "ca.pem"]
            shown = ["--tls-cert", folder / "ada.pem", "--tls-key", folder / "ada.key"]
            statuses = [process.run(ping + flags, "tls-ping", 30, run.report).status for flags in (shown, [])]
            expected = [0, 1 if asked == "required" else 0]
            name = "%s: certificates of clients %s, helenus ping with one and without" % (runtime, asked)
            run.report.check(name, statuses == expected, str(statuses))
            server.close(run.report)


def refusals(run, folder, foreign):
    """Files that can't be used: the exit status of a wrong setting, and a line that says which and why."""
    good = {"cert": folder / "server.pem", "key": folder / "server.key"}
    nowhere = folder / "nowhere.pem"
    for title, change, words in (
        ("another's key", {"key": foreign / "server.key"}, "not the private key of the certificate"),
        ("no file", {"cert": nowhere}, "nowhere.pem: cannot be read"),
        ("a key for a certificate", {"cert": folder / "server.key"}, "no certificate in it"),
        ("no key", {"key": None}, "tls.key: tls.cert needs its private key"),
        ("nobody who signs", {"client-auth": "required"}, "tls.client_ca: "),
    ):
        flags = {**good, **change}
        command = [paths.BINARY, "serve", "--listen", "127.0.0.1:0"]
        for flag, value in flags.items():
            command += ["--tls-%s" % flag, value] if value else []
        said = subprocess.run(command, capture_output=True, text=True, timeout=30)
        refused = said.returncode == 2 and words in said.stderr
        run.report.check("TLS with %s is refused" % title, refused, said.stderr)


def reload(run, runtime, folder, foreign):
    """SIGHUP: files are read again, and connections stay."""
    live = FOLDER / ("live-%s" % runtime)
    shutil.rmtree(live, ignore_errors=True)
    live.mkdir(parents=True)

    def install(source):
        for name in ("server.pem", "server.key"):
            shutil.copyfile(source / name, live / name)

    install(folder)
    arguments = ["--tls-cert", live / "server.pem", "--tls-key", live / "server.key"]
    with run.server(runtime, arguments, "tls-reload-%s" % runtime) as server:
        with connect(server, trusting(folder)) as stream:
            ready = exchange(stream, STARTUP)
            shutil.copyfile(foreign / "server.key", live / "server.key")
            hang_up(server, "nothing changed")
            kept = asks(server, trusting(folder))
            name = "%s: a key that doesn't match changes nothing" % runtime
            run.report.check(name, (ready, kept) == (READY, SUPPORTED), "%s %s" % (ready, kept))
            install(foreign)
            hang_up(server, "read again: the configuration and the certificates; ")
            new, old = asks(server, trusting(foreign)), asks(server, trusting(folder))
            good = new == SUPPORTED and isinstance(old, str)
            run.report.check("%s: SIGHUP replaces the certificate" % runtime, good, "%s %s" % (new, old))
            answer = exchange(stream, OPTIONS)
            run.report.check("%s: and leaves connections open" % runtime, answer == SUPPORTED, str(answer))
        server.close(run.report)


def hang_up(server, words):
    """Has the configuration read again, until the log says so."""
    before = server.log.read_text(encoding="utf-8", errors="replace").count(words)
    server.process.send_signal(signal.SIGHUP)
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if server.log.read_text(encoding="utf-8", errors="replace").count(words) > before:
            return
        time.sleep(0.02)


def secure(run):
    cert(run)
    folder, foreign = certificates(run, "trusted"), certificates(run, "foreign")
    refusals(run, folder, foreign)
    for runtime in run.runtimes:
        try:
            serving(run, runtime, folder, foreign)
            client_certificates(run, runtime, folder, foreign)
            reload(run, runtime, folder, foreign)
        except StartFailure as failure:
            run.report.fail("TLS on %s" % runtime, str(failure))
