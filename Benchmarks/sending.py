# SPDX-License-Identifier: Apache-2.0

"""The cost of sending pushes one by one, with 900 in flight on one connection."""

from measuring import Figure, of_client

FIGURES = [
    Figure("send-awaited", "one push per call, from the default pool", "send-awaited", "h2load"),
    Figure("send-on-loop", "one push per call, on the client's own executor", "send-on-loop", "h2load"),
]


def runs(world):
    def sending(mode):
        return of_client(
            [world.binary, "send", "--port", str(world.nginx.port), "--ca", f"{world.directory}/certificate.pem",
             "--pushes", str(world.pushes), "--streams", str(world.STREAMS), "--executor", mode], world.pushes)

    return {
        "send-awaited": lambda: sending("awaited"),
        "send-on-loop": lambda: sending("on-loop"),
    }
