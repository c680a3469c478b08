"""Compares what a push costs Martlet's client with what it costs h2load, nghttp2's own load generator.

Both send the same pushes over one TLS connection, 900 in flight, to Debian's nginx, which answers 200 at once. The
server runs on core 0, the client on core 1; runs are interleaved, and the medians of what the kernel charged each
client process are compared. Absolute times on a shared machine say little; ratios of the same minutes do.

The row `surface` is what it costs to read a Live Activity snapshot and write its content state; no push is sent.

Writes .build/bench.json: a list of {name, ratio, against, median_us, against_median_us, peak_kb}.
"""

import argparse
import json
import os
import pathlib
import secrets
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SERVER_CORE, CLIENT_CORE = "0", "1"
STREAMS = 900
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
ALERT = {
    "aps": {
        "alert": {
            "title": "Order ready",
            "subtitle": "Pickup window closes at 6 PM",
            "body": "Tap to open the order and see where to collect it from the counter.",
        },
        "badge": 3,
        "sound": "default",
        "thread-id": "orders-42",
    },
    "deepLink": "app://orders/42",
    "order": "42",
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def program(name):
    found = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if not found:
        sys.exit(f"bench: {name} is missing; `make bench` installs it")
    return found


def start_nginx(directory, port):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", f"{directory}/key.pem", "-out", f"{directory}/certificate.pem"],
        check=True, capture_output=True,
    )
    configuration = directory / "nginx.conf"
    configuration.write_text(NGINX_CONFIGURATION.format(directory=directory, port=port))
    server = subprocess.Popen(
        ["taskset", "-c", SERVER_CORE, program("nginx"), "-e", f"{directory}/error.log", "-p", str(directory),
         "-c", str(configuration)]
    )
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return server
        except OSError:
            time.sleep(0.05)
    sys.exit("bench: nginx did not start: " + (directory / "error.log").read_text())


def measure(command, pushes):
    """Runs the command on the client's core; CPU microseconds per push and peak kilobytes, as the kernel counted."""
    process = subprocess.Popen(["taskset", "-c", CLIENT_CORE, *command], stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench: {command[0]} failed with {process.returncode}:\n{output}")
    return (usage.ru_utime + usage.ru_stime) * 1e6 / pushes, usage.ru_maxrss, output


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pushes", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--binary", default=str(ROOT / ".build/release/MartletBench"))
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        port = free_port()
        payload = directory / "payload.json"
        payload.write_text(json.dumps(ALERT, separators=(",", ":")))
        paths = directory / "paths"
        paths.write_text(
            "".join(f"https://127.0.0.1:{port}/3/device/{secrets.token_hex(32)}\n" for _ in range(4096)))
        bearer = "bearer " + secrets.token_urlsafe(132)
        h2load = [
            program("h2load"), "-n", str(options.pushes), "-c", "1", "-m", str(STREAMS), "-t", "1",
            "-d", str(payload), "-i", str(paths), "-H", f"authorization: {bearer}",
            "-H", "apns-id: 7f1e7c5e-3a46-4f0e-9a3b-6f5b4f0e9a3b", "-H", "apns-topic: com.example.app",
            "-H", "apns-push-type: alert", "-H", "apns-priority: 10",
        ]

        def martlet(way):
            return [options.binary, "send", "--port", str(port), "--ca", f"{directory}/certificate.pem",
                    "--pushes", str(options.pushes), "--streams", str(STREAMS), "--way", way]

        surface = [options.binary, "surface", "--times", str(options.pushes)]
        candidates = {"send-awaited": martlet("awaited"), "send-on-loop": martlet("on-loop"), "surface": surface}
        server = start_nginx(directory, port)
        try:
            results = {name: [] for name in ["h2load", *candidates]}
            for round_number in range(options.rounds):
                for name, command in [("h2load", h2load), *candidates.items()]:
                    print(f"\rround {round_number + 1} of {options.rounds}: {name:<16}", end="", file=sys.stderr)
                    results[name].append(measure(command, options.pushes))
                    if name == "h2load" and f"{options.pushes} succeeded" not in results[name][-1][2]:
                        sys.exit("bench: h2load was not answered 200 every time:\n" + results[name][-1][2])
            print("\r" + " " * 50 + "\r", end="", file=sys.stderr)
        finally:
            server.terminate()
            server.wait()

    against = statistics.median(cost for cost, _, _ in results["h2load"])
    rows = [
        {
            "name": name,
            "ratio": round(statistics.median(cost for cost, _, _ in results[name]) / against, 3),
            "against": "h2load",
            "median_us": round(statistics.median(cost for cost, _, _ in results[name]), 2),
            "against_median_us": round(against, 2),
            "peak_kb": max(peak for _, peak, _ in results[name]),
        }
        for name in candidates
    ]
    print(f"{options.pushes} pushes of {len(json.dumps(ALERT, separators=(',', ':')))} bytes over one TLS connection to nginx, "
          f"{STREAMS} in flight, median of {options.rounds} interleaved runs")
    print(f"{'':<16}{'CPU µs per push':>16}{'times h2load':>14}{'peak MB':>9}")
    print(f"{'h2load':<16}{against:>16.2f}{1:>14.2f}{max(p for _, p, _ in results['h2load']) / 1024:>9.1f}")
    for row in rows:
        print(f"{row['name']:<16}{row['median_us']:>16.2f}{row['ratio']:>14.2f}{row['peak_kb'] / 1024:>9.1f}")
    output = ROOT / ".build/bench.json"
    output.parent.mkdir(exist_ok=True)
    output.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
