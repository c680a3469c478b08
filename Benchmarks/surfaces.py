"""What it costs to read a Live Activity snapshot and write its content state; no push is sent."""

from measuring import Figure, of_client

FIGURES = [Figure("surface", "a snapshot read and its state written, against a push", "surface", "h2load")]


def runs(world):
    return {"surface": lambda: of_client([world.binary, "surface", "--times", str(world.pushes)], world.pushes)}
