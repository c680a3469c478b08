# SPDX-License-Identifier: Apache-2.0

"""Ports for programs that the tests start."""

import random
import socket


def unused_port():
    """A port of this machine that is free, and stays so: connections get theirs from another range."""
    while True:
        port = random.randrange(12_000, 32_000)
        with socket.socket() as reserved:
            try:
                reserved.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
