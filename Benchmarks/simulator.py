"""The other way round: what a push costs the simulator, which checks, answers and remembers it.

It is compared with what it costs nginx to answer 200.
"""

from measuring import Figure, of_server
from peers import h2load

FIGURES = [Figure("simulator", "a push taken, judged and remembered", "simulator", "nginx")]


def runs(world):
    return {
        "simulator": lambda: of_server(
            world.simulator.pid, lambda: h2load(world, world.simulator.port, world.pushes), world.pushes),
    }
