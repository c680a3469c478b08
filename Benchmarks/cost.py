# SPDX-License-Identifier: Apache-2.0

"""Counts the instructions of a push with callgrind, and compares them with Benchmarks/instructions.json.

Unlike times, the numbers do not depend on what else the machine does: two counts of one program differ by less than two
percent. Each is the difference between a long and a short run, so that start and end do not count. Fails above
5 percent more than the stored number; --write stores the numbers, after a change that was meant to change them.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import peers
import relay
from measuring import show_progress
from servers import World, program

STORED = pathlib.Path(__file__).with_name("instructions.json")
SHORT, LONG = 1_000, 4_000
LIMIT = 0.05
# One thread and no simulation of caches: only instructions are counted.
CALLGRIND = ["--tool=callgrind", "--callgrind-out-file=/dev/null"]


class CountedWorld(World):
    """A world in which programs of Martlet can run under callgrind."""

    def counted(self, command):
        """Starts a command under callgrind."""
        self.log = self.directory / "callgrind.log"
        return [program("valgrind"), *CALLGRIND, f"--log-file={self.log}", *command]

    def instructions(self):
        """The number of instructions of the counted command, which has ended."""
        return int(re.search(r"Collected : (\d+)", self.log.read_text())[1])

    def of_client(self, command):
        subprocess.run(self.counted(command), check=True, stdout=subprocess.DEVNULL)
        return self.instructions()

    def of_server(self, server, send):
        """Returns the instructions of a server, which `send` uses, from its start to its end."""
        send(server)
        server.terminate()
        server.wait()
        return self.instructions()


class CountedServer(CountedWorld):
    """A world whose servers run under callgrind."""

    def start(self, port, *command, cores="0,1"):
        is_martlet = command[0] == self.martlet and (command[1] == self.subject)
        return super().start(port, *(self.counted(command) if is_martlet else command), cores=cores)


def runs(options, directory):
    """Returns the functions by name that count the instructions of a number of pushes."""
    def client(command, *more):
        def count(pushes):
            world = CountedWorld(options, directory)
            try:
                return world.of_client(
                    [world.binary, command, "--port", str(world.nginx.port), "--ca", f"{directory}/certificate.pem",
                     "--pushes", str(pushes), *more])
            finally:
                world.stop()
        return count

    def simulator(pushes):
        world = CountedServer(options, directory)
        world.subject = "simulate"
        try:
            return world.of_server(world.simulator, lambda server: peers.h2load(world, server.port, pushes))
        finally:
            world.stop()

    def delivery(pushes):
        world = CountedServer(options, directory)
        world.subject = "relay"
        try:
            with relay.Relay(world, relay.simulator(world)) as counted:
                return world.of_server(
                    counted.process, lambda _: peers.h2load(world, counted.port, pushes, bearer=relay.KEY, more=[]))
        finally:
            world.stop()

    def snapshot(times):
        return CountedWorld(options, directory).of_client([options.binary, "surface", "--times", str(times)])

    return {
        "bulk": client("bulk", "--connections", "1", "--loops", "1"),
        "send": client("send", "--streams", "100", "--executor", "awaited"),
        "send on the loop": client("send", "--streams", "100", "--executor", "on-loop"),
        "simulator": simulator,
        "relay": delivery,
        "snapshot": snapshot,
    }


def main():
    release = peers.ROOT / ".build-bench/release"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="store the numbers")
    parser.add_argument("--only", help="count only this")
    parser.add_argument("--binary", default=str(release / "MartletBench"))
    parser.add_argument("--martlet", default=str(release / "martlet"))
    options = parser.parse_args()
    options.pushes = LONG
    stored = json.loads(STORED.read_text()) if STORED.exists() else {}
    found = {}
    with tempfile.TemporaryDirectory() as directory:
        for program_name in ("binary", "martlet"):
            stripped = f"{directory}/{program_name}"
            # Valgrind does not read the debugging information of Swift.
            subprocess.run(["strip", "-o", stripped, getattr(options, program_name)], check=True)
            setattr(options, program_name, stripped)
        for name, count in runs(options, directory).items():
            if options.only in (None, name):
                show_progress(f"counting {name}")
                found[name] = round((count(LONG) - count(SHORT)) / (LONG - SHORT))
    show_progress("")
    print(f"{'':18}{'instructions':>14}{'stored':>10}{'change':>10}")
    failed = []
    for name, number in found.items():
        # A number that was never stored fails, too.
        change = number / stored[name] - 1 if name in stored else float("inf")
        print(f"{name:18}{number:>14}{stored.get(name, '–'):>10}{change:>+10.1%}")
        if change > LIMIT:
            failed.append(name)
    if options.write:
        STORED.write_text(json.dumps({**stored, **found}, indent=2) + "\n")
    elif failed:
        sys.exit(f"cost: {', '.join(failed)} costs over {LIMIT:.0%} more instructions than before; find out why, or "
                 "store the numbers with `make cost WRITE=1` and say in the commit what they pay for")


main()
