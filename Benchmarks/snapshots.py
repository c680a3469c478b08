# SPDX-License-Identifier: Apache-2.0

"""The cost of parsing a Live Activity snapshot and encoding its content state, without a push."""

from measuring import Figure, of_client

FIGURES = [Figure("snapshot", "a snapshot parsed and its state encoded, compared with a push", "snapshot", "h2load")]


def runs(world):
    return {"snapshot": lambda: of_client([world.binary, "surface", "--times", str(world.pushes)], world.pushes)}
