import subprocess

import pytest


@pytest.fixture(scope="session")
def cassandra():
    """The host and port of a server that lives as long as the tests."""
    command = ["helenus", "serve", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        host, port = server.stdout.readline().split()[2].split(":")
        yield host, int(port)
        server.terminate()
