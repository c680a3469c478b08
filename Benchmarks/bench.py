"""Compares what a push costs Martlet's client with what it costs h2load, nghttp2's own load generator.

Both send the same pushes over one TLS connection, 900 in flight, to Debian's nginx, which answers 200 at once. The
server runs on core 0, the client on core 1; runs are interleaved, and the medians of what the kernel charged each
client process are compared. Absolute times on a shared machine say little; ratios of the same minutes do.

The row `surface` is what it costs to read a Live Activity snapshot and write its content state; no push is sent.

The row `simulator` is the other way round: h2load sends to the simulator, which checks, answers and remembers each push,
and what a push costs that server is compared with what it costs nginx to answer 200.

The row `bulk` is one call that sends to many devices. Besides its cost it has how many pushes a second go over
several connections, how the cost changes from ten thousand devices to a million and from one connection to sixteen (as
the program itself counts it, without its start), its peak memory for a million, and how many times it costs aioapns.

Writes .build/bench.json: a list of {name, ratio, against, median_us, against_median_us, peak_kb}.
"""

import argparse
import json
import os
import pathlib
import re
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
CONNECTIONS = 4
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
    await_port(port, "nginx")
    return server


def h2load(port, pushes, directory, bearer, connections=1):
    """The command that sends the pushes to a port, to 4096 devices."""
    payload = directory / "payload.json"
    payload.write_text(json.dumps(ALERT, separators=(",", ":")))
    paths = directory / f"paths-{port}"
    if not paths.exists():
        paths.write_text(
            "".join(f"https://127.0.0.1:{port}/3/device/{secrets.token_hex(32)}\n" for _ in range(4096)))
    return [
        program("h2load"), "-n", str(pushes), "-c", str(connections), "-m", str(STREAMS), "-t", "1",
        "-d", str(payload), "-i", str(paths), "-H", f"authorization: bearer {bearer}",
        "-H", "apns-id: 7f1e7c5e-3a46-4f0e-9a3b-6f5b4f0e9a3b", "-H", "apns-topic: com.example.app",
        "-H", "apns-push-type: alert", "-H", "apns-priority: 10",
    ]


def start_simulator(binary, directory, port):
    """A simulator on the servers' core, and a provider token that it takes."""
    server = subprocess.Popen(
        ["taskset", "-c", SERVER_CORE, binary, "simulate", "--quiet", "--port", str(port), "--channel-port", "0", "--inbox-port", "0",
         "--ca-directory", str(directory / "authority"), "--streams-before-token", str(STREAMS)],
        stdout=subprocess.DEVNULL,
    )
    await_port(port, "the simulator")
    token = subprocess.run([binary, "token"], check=True, capture_output=True, text=True).stdout.strip()
    return server, token


def await_port(port, name):
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    sys.exit(f"bench: {name} did not start")


def worker_of(nginx):
    """The process that answers for nginx."""
    return int(pathlib.Path(f"/proc/{nginx.pid}/task/{nginx.pid}/children").read_text().split()[0])


def server_seconds(pid):
    """CPU seconds that the kernel charged a process so far, over all of its threads."""
    return sum(int((task / "schedstat").read_text().split()[0]) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()) / 1e9


def peak_kilobytes(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    return 0


def measure_server(pid, command, pushes):
    """What a server is charged while the command sends to it; CPU microseconds per push and peak kilobytes."""
    before = server_seconds(pid)
    check_answers(measure(command, pushes)[2], pushes)
    return (server_seconds(pid) - before) * 1e6 / pushes, peak_kilobytes(pid), ""


def check_answers(output, pushes):
    if f"{pushes} succeeded" not in output or f"{pushes} 2xx" not in output:
        sys.exit("bench: h2load was not answered 200 every time:\n" + output)


def measure(command, pushes):
    """Runs the command on the client's core; CPU microseconds per push and peak kilobytes, as the kernel counted."""
    process = subprocess.Popen(["taskset", "-c", CLIENT_CORE, *command], stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench: {command[0]} failed with {process.returncode}:\n{output}")
    return (usage.ru_utime + usage.ru_stime) * 1e6 / pushes, usage.ru_maxrss, output


def row(name, results, against):
    """One figure: the median cost of a push, and how many times it is that of the other."""
    cost, other = (statistics.median(cost for cost, _, _ in results[key]) for key in (name, against))
    return {
        "name": name,
        "ratio": round(cost / other, 3),
        "against": against,
        "median_us": round(cost, 2),
        "against_median_us": round(other, 2),
        "peak_kb": max(peak for _, peak, _ in results[name]),
        "against_peak_kb": max(peak for _, peak, _ in results[against]),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pushes", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--binary", default=str(ROOT / ".build/release/MartletBench"))
    parser.add_argument("--martlet", default=str(ROOT / ".build/release/martlet"))
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        port, simulator_port = free_port(), free_port()
        servers = []
        try:
            nginx = start_nginx(directory, port)
            servers.append(nginx)
            simulator, token = start_simulator(options.martlet, directory, simulator_port)
            servers.append(simulator)
            results = run(options, directory, port, worker_of(nginx), simulator_port, simulator.pid, token)
            more = more_of_bulk(options, directory, port, simulator_port, token)
        finally:
            for server in servers:
                server.terminate()
                server.wait()

    rows = [row(name, results, "h2load") for name in ("send-awaited", "send-on-loop", "bulk", "surface")]
    next(row for row in rows if row["name"] == "bulk").update(more)
    rows.append(row("simulator", results, "nginx"))
    print(f"{options.pushes} pushes of {len(json.dumps(ALERT, separators=(',', ':')))} bytes over one TLS connection, "
          f"{STREAMS} in flight, median of {options.rounds} interleaved runs")
    print(f"{'':<16}{'CPU µs per push':>16}{'peak MB':>9}{'against':>10}{'its CPU µs':>12}{'times':>7}")
    for entry in rows:
        print(f"{entry['name']:<16}{entry['median_us']:>16.2f}{entry['peak_kb'] / 1024:>9.1f}{entry['against']:>10}"
              f"{entry['against_median_us']:>12.2f}{entry['ratio']:>7.2f}")
    print(f"bulk, {CONNECTIONS} connections: {more['pushes_per_second']:.0f} pushes a second, "
          f"{more['throughput_ratio']:.2f} times h2load's")
    print(f"bulk, a million devices against ten thousand: {more['million_ratio']:.2f} times the CPU for each, "
          f"{more['million_peak_kb'] / 1024:.1f} MB at most")
    print(f"bulk, sixteen connections against one: {more['sixteen_connections_ratio']:.2f} times the CPU")
    print(f"aioapns: {more['aioapns_ratio']:.0f} times the CPU of bulk")
    output = ROOT / ".build/bench.json"
    output.parent.mkdir(exist_ok=True)
    output.write_text(json.dumps(rows, indent=2) + "\n")


def bulk(options, directory, port, pushes, connections=1):
    """The command that sends to many devices, and counts for itself what that takes."""
    return [options.binary, "bulk", "--port", str(port), "--ca", f"{directory}/certificate.pem",
            "--pushes", str(pushes), "--connections", str(connections), "--loops", "1"]


def more_of_bulk(options, directory, port, simulator_port, token):
    """What a larger list, more connections and another client change."""
    def own(pushes, connections=1):
        _, peak, output = measure(bulk(options, directory, port, pushes, connections), pushes)
        figures = json.loads(output)
        if figures["accepted"] != pushes:
            sys.exit(f"bench: {figures['accepted']} of {pushes} pushes were accepted")
        return {"cost": figures["cpu_us"], "rate": pushes / figures["seconds"], "peak": peak}

    def other():
        _, _, output = measure(h2load(port, options.pushes, directory, token, CONNECTIONS), options.pushes)
        check_answers(output, options.pushes)
        return float(re.search(r"([0-9.]+) req/s", output).group(1))

    million, few = 5 * options.pushes, options.pushes // 20
    figures = {"million": [], "few": [], "one": [], "several": [], "sixteen": [], "h2load": []}
    for _ in range(options.rounds):
        figures["million"].append(own(million))
        # Some of the small ones, since a tick of the kernel's clock weighs more in each.
        figures["few"] += [own(few) for _ in range(3)]
        figures["one"].append(own(options.pushes))
        figures["sixteen"].append(own(options.pushes, 16))
        figures["several"].append(own(options.pushes, CONNECTIONS))
        figures["h2load"].append(other())

    def median(name, key):
        return statistics.median(figure[key] for figure in figures[name])

    rate, other_rate = median("several", "rate"), statistics.median(figures["h2load"])
    return {
        "pushes_per_second": round(rate),
        "throughput_ratio": round(rate / other_rate, 3),
        "million_ratio": round(median("million", "cost") / median("few", "cost"), 3),
        "million_peak_kb": max(figure["peak"] for figure in figures["million"]),
        "sixteen_connections_ratio": round(median("sixteen", "cost") / median("one", "cost"), 3),
        "aioapns_ratio": round(aioapns_cost(directory, simulator_port) / median("one", "cost"), 1),
    }


def aioapns_cost(directory, port):
    """CPU microseconds per push of aioapns to a simulator, without its start; it cannot read nginx's answers."""
    key = directory / "provider.p8"
    subprocess.run(
        ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", str(key)],
        check=True, capture_output=True,
    )
    def seconds(pushes):
        command = [sys.executable, str(ROOT / "Tests/Peers/aioapns_peer.py"), str(port),
                   f"{directory}/authority/ca.pem", str(key), str(pushes)]
        return measure(command, 1)[0]
    return (seconds(801) - seconds(1)) / 800


def run(options, directory, port, nginx, simulator_port, simulator, token):
    """All measurements, interleaved."""
    def martlet(way):
        return [options.binary, "send", "--port", str(port), "--ca", f"{directory}/certificate.pem",
                "--pushes", str(options.pushes), "--streams", str(STREAMS), "--way", way]

    to_nginx, to_simulator = (h2load(each, options.pushes, directory, token) for each in (port, simulator_port))
    runs = {
        "h2load": lambda: measure(to_nginx, options.pushes),
        "send-awaited": lambda: measure(martlet("awaited"), options.pushes),
        "send-on-loop": lambda: measure(martlet("on-loop"), options.pushes),
        "bulk": lambda: measure(bulk(options, directory, port, options.pushes), options.pushes),
        "surface": lambda: measure([options.binary, "surface", "--times", str(options.pushes)], options.pushes),
        "nginx": lambda: measure_server(nginx, to_nginx, options.pushes),
        "simulator": lambda: measure_server(simulator, to_simulator, options.pushes),
    }
    results = {name: [] for name in runs}
    for round_number in range(options.rounds):
        for name, once in runs.items():
            print(f"\rround {round_number + 1} of {options.rounds}: {name:<16}", end="", file=sys.stderr)
            results[name].append(once())
            if name == "h2load":
                check_answers(results[name][-1][2], options.pushes)
    print("\r" + " " * 50 + "\r", end="", file=sys.stderr)
    return results


if __name__ == "__main__":
    main()
