# SPDX-License-Identifier: Apache-2.0

"""The cost of receiving a push in the simulator, which checks, answers and stores it, compared with nginx."""

from measuring import Figure, of_server
from peers import h2load

FIGURES = [Figure("simulator", "a push received, checked and stored", "simulator", "nginx")]


def runs(world):
    return {
        "simulator": lambda: of_server(
            world.simulator.pid, lambda: h2load(world, world.simulator.port, world.pushes), world.pushes),
    }
