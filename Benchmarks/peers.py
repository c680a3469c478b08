# SPDX-License-Identifier: Apache-2.0

"""The programs for comparison."""

import json
import pathlib
import re
import subprocess
import sys

from measuring import Sample, of_client, of_server
from servers import program

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONNECTIONS = 4
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
PAYLOAD = json.dumps(ALERT, separators=(",", ":"))


def runs(world):
    return {
        "h2load": lambda: h2load(world, world.nginx.port, world.pushes),
        "h2load-4": lambda: h2load(world, world.nginx.port, world.pushes, CONNECTIONS),
        "nginx": lambda: of_server(
            world.nginx_worker, lambda: h2load(world, world.nginx.port, world.pushes), world.pushes),
        "aioapns": lambda: aioapns(world),
    }


SAME_ID = ["-H", "apns-id: 7f1e7c5e-3a46-4f0e-9a3b-6f5b4f0e9a3b"]


def h2load(world, port, pushes, connections=1, bearer=None, more=SAME_ID):
    """Sends the alert to 4096 devices with h2load, the load generator of nghttp2."""
    payload, paths = world.directory / "payload.json", world.directory / f"paths-{port}"
    payload.write_text(PAYLOAD)
    paths.write_text("".join(f"https://127.0.0.1:{port}/3/device/{device}\n" for device in world.devices))
    sample = of_client([
        program("h2load"), "-n", str(pushes), "-c", str(connections), "-m", str(world.STREAMS), "-t", "1",
        "-d", str(payload), "-i", str(paths), "-H", f"authorization: bearer {bearer or world.bearer}",
        "-H", "apns-topic: com.example.app", "-H", "apns-push-type: alert", "-H", "apns-priority: 10", *more,
    ], pushes)
    if f"{pushes} succeeded" not in sample.output or f"{pushes} 2xx" not in sample.output:
        sys.exit("bench: h2load received responses other than 200:\n" + sample.output)
    sample.rate = float(re.search(r"([0-9.]+) req/s", sample.output).group(1))
    return sample


def aioapns(world):
    """Sends to the simulator with aioapns, a Python client that cannot parse nginx's responses; excludes its startup."""
    key = world.directory / "provider.p8"
    if not key.exists():
        subprocess.run(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", str(key)],
            check=True, capture_output=True,
        )

    def sending(pushes):
        return of_client(
            [sys.executable, str(ROOT / "Tests/Peers/aioapns_peer.py"), str(world.simulator.port),
             f"{world.directory}/authority/ca.pem", str(key), str(pushes)], 1)

    many, one = sending(801), sending(1)
    return Sample(cpu_us=(many.cpu_us - one.cpu_us) / 800, peak_mb=many.peak_mb)
