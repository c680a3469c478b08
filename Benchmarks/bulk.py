# SPDX-License-Identifier: Apache-2.0

"""The cost of sending to many devices with one call.

The program also measures its work without its startup, so that runs with few and many devices can be compared.
"""

import json
import statistics
import sys

from measuring import Figure, Sample, of_client
from peers import CONNECTIONS

FIGURES = [
    Figure("bulk", "many devices with one call", "bulk", "h2load", goal=0.7),
    Figure("bulk-rate", f"pushes per second over {CONNECTIONS} connections", "bulk-4", "h2load-4", "rate", goal=1),
    Figure("bulk-million", "cost per device with a million and with ten thousand", "bulk-million", "bulk-few", "work_us", 1.1),
    Figure("bulk-16", "sixteen connections instead of one", "bulk-16", "bulk", "work_us", 1.1),
    Figure("bulk-aioapns", "many devices with one call", "bulk", "aioapns", goal=0.05),
    Figure("bulk-memory", "memory for a million devices", "bulk-million", "40 MB", "peak_mb", goal=1),
    Figure("bulk-16-memory", "memory over sixteen connections", "bulk-16", "40 MB", "peak_mb", goal=1),
]


def runs(world):
    def bulk(pushes, connections=1):
        sample = of_client(
            [world.binary, "bulk", "--port", str(world.nginx.port), "--ca", f"{world.directory}/certificate.pem",
             "--pushes", str(pushes), "--connections", str(connections), "--loops", "1"], pushes)
        result = json.loads(sample.output)
        if result["accepted"] != pushes:
            sys.exit(f"bench: {result['accepted']} of {pushes} pushes were accepted")
        return Sample(sample.cpu_us, result["cpu_us"], pushes / result["seconds"], sample.peak_mb)

    def few():
        """Returns the median of several small runs, because noise has more weight in each."""
        samples = [bulk(world.pushes // 20) for _ in range(5)]
        return Sample(
            work_us=statistics.median(sample.work_us for sample in samples),
            peak_mb=max(sample.peak_mb for sample in samples))

    return {
        "bulk": lambda: bulk(world.pushes),
        "bulk-4": lambda: bulk(world.pushes, CONNECTIONS),
        "bulk-16": lambda: bulk(world.pushes, 16),
        "bulk-few": few,
        "bulk-million": lambda: bulk(5 * world.pushes),
        "40 MB": lambda: Sample(peak_mb=40),
    }
