# SPDX-License-Identifier: Apache-2.0

"""The servers that receive pushes, each started on first use."""

import functools
import os
import pathlib
import secrets
import shutil
import socket
import subprocess
import sys
import time

from measuring import SERVER_CORE

NGINX_CONFIGURATION = """
worker_processes 1;
daemon off;
pid {directory}/nginx.pid;
error_log {directory}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    server {{
        listen 127.0.0.1:{port} ssl http2;
        ssl_certificate {directory}/certificate.pem;
        ssl_certificate_key {directory}/key.pem;
        http2_max_concurrent_streams 1000;
        keepalive_requests 100000000;
        client_body_buffer_size 16k;
        location / {{ return 200; }}
    }}
}}
"""


class World:
    """The directory, programs and servers of a benchmark run; servers run on a separate core."""

    STREAMS = 900
    """Pushes in flight on a connection."""

    def __init__(self, options, directory):
        self.pushes = options.pushes
        self.installations = options.installations
        self.updates = options.updates
        self.binary = options.binary
        self.martlet = options.martlet
        self.directory = pathlib.Path(directory)
        self.processes = []

    @functools.cached_property
    def nginx(self):
        """nginx, which returns 200 immediately."""
        port = free_port()
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
             "-keyout", f"{self.directory}/key.pem", "-out", f"{self.directory}/certificate.pem"],
            check=True, capture_output=True,
        )
        configuration = self.directory / "nginx.conf"
        configuration.write_text(NGINX_CONFIGURATION.format(directory=self.directory, port=port))
        return self.start(
            port, program("nginx"), "-e", f"{self.directory}/error.log", "-p", str(self.directory),
            "-c", str(configuration))

    @property
    def nginx_worker(self):
        """The process ID of nginx's worker."""
        pid = self.nginx.pid
        return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])

    @functools.cached_property
    def simulator(self):
        """The simulator, which checks, answers and stores each push."""
        port = free_port()
        return self.start(
            port, self.martlet, "simulate", "--quiet", "--port", str(port), "--channel-port", "0", "--inbox-port", "0",
            "--ca-directory", str(self.directory / "authority"), "--streams-before-token", str(self.STREAMS))

    @functools.cached_property
    def bearer(self):
        """A provider token that the simulator accepts."""
        return subprocess.run([self.martlet, "token"], check=True, capture_output=True, text=True).stdout.strip()

    @functools.cached_property
    def devices(self):
        """4096 device tokens."""
        return [secrets.token_hex(32) for _ in range(4096)]

    def start(self, port, *command, cores=SERVER_CORE, log=None):
        """Starts a server, on the servers' core by default, and waits until it listens; `stop` ends it.

        Its log is printed unless there is a file for it.
        """
        process = subprocess.Popen(["taskset", "-c", cores, *command], stdout=subprocess.DEVNULL, stderr=log)
        self.processes.append(process)
        process.port = port
        wait_for(port)
        return process

    def stop(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait()


def wait_for(port):
    """Waits until a server listens on a port, at most two minutes: under callgrind a start takes seconds."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
    sys.exit(f"bench: no server listens on port {port}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def program(name):
    found = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if not found:
        sys.exit(f"bench: {name} is missing; `make bench` installs it")
    return found
