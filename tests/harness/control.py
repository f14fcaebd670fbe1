"""How a driver's program has its server paused, resumed or restarted: a word over a socket, answered by hanging up."""

import contextlib
import pathlib
import signal
import socket
import threading
import time


@contextlib.contextmanager
def control(server):
    """The environment that tells a program where to send its words; empty for a server that isn't ours."""
    if not hasattr(server, "restart"):
        yield {}
        return
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=_serve, args=(listener, server), daemon=True).start()
    try:
        yield {"CHECK_CONTROL": str(listener.getsockname()[1])}
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        # A program that ended in between leaves no server asleep.
        server.process.send_signal(signal.SIGCONT)


def _pause(process):
    """Returns when every thread has stopped: one that waits for a core may still answer until then."""
    process.send_signal(signal.SIGSTOP)
    tasks = pathlib.Path("/proc/%d/task" % process.pid)
    while tasks.is_dir() and not all(_state(task) in "TX" for task in tasks.iterdir()):
        time.sleep(0.005)


def _state(task):
    try:
        return (task / "stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return "X"


def _serve(listener, server):
    words = {
        "pause": lambda: _pause(server.process),
        "resume": lambda: server.process.send_signal(signal.SIGCONT),
        "restart": server.restart,
    }
    while True:
        try:
            stream, _ = listener.accept()
        except OSError:
            return
        with stream:
            word = stream.makefile().readline().strip()
            try:
                words[word]()
            except Exception as error:  # the program says what it misses; here is why
                stream.sendall(("%s: %s\n" % (word, error)).encode())
