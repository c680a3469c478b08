# SPDX-License-Identifier: Apache-2.0

"""Counts the instructions of a push with callgrind, and compares them with Benchmarks/instructions.json.

Unlike times, the numbers do not depend on what else the machine does: two counts of one program differ by less than two
percent. They depend on the versions of Swift and of the libraries. Each is the difference between a long and a short run,
so that start and end do not count. Fails above 5 percent more than the stored number, and for a number that was never
stored; --write stores the numbers, after a change that was meant to change them.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import peers
import relay
from measuring import show_progress
from servers import World

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
        return ["valgrind", *CALLGRIND, f"--log-file={self.log}", *command]

    def instructions(self):
        """The number of instructions of the counted command, which has ended."""
        log = self.log.read_text()
        if not (collected := re.search(r"Collected : (\d+)", log)):
            sys.exit(f"cost: valgrind counted nothing:\n{log[-2000:]}")
        return int(collected[1])

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

    def start(self, port, *command, cores="0,1", log=None):
        is_martlet = command[0] == self.martlet and (command[1] == self.subject)
        return super().start(port, *(self.counted(command) if is_martlet else command), cores=cores, log=log)


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
        # Under callgrind the relay is fifty times slower, and refuses pushes that would wait for long.
        world.STREAMS = 100
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
        "relay with SQLite": delivery,
        "snapshot": snapshot,
    }


def report(found, stored):
    """Prints the numbers with their changes; returns the names of those that fail, and of those that are clearly lower."""
    worse, better = [], []
    print(f"{'instructions of one push':26}{'now':>12}{'stored':>12}{'change':>10}")
    for name, number in found.items():
        before = stored.get(name)
        change = number / before - 1 if before else None
        verdict = "not stored" if change is None else "too many" if change > LIMIT else "fewer" if change < -LIMIT else ""
        print(f"{name:26}{number:>12,}" + (f"{before:>12,}{change:>+10.1%}" if before else f"{'–':>12}{'–':>10}") + f"  {verdict}")
        if verdict:
            (better if verdict == "fewer" else worse).append(name)
    return worse, better


def main():
    release = peers.ROOT / ".build-bench/release"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="store the numbers")
    parser.add_argument("--only", help="count only this")
    parser.add_argument("--binary", default=str(release / "MartletBench"))
    parser.add_argument("--martlet", default=str(release / "martlet"))
    options = parser.parse_args()
    options.pushes, options.installations, options.updates = LONG, 0, 0
    if not shutil.which("valgrind"):
        sys.exit("cost: valgrind is missing; `make cost` installs it")
    for built in (options.binary, options.martlet):
        if not pathlib.Path(built).exists():
            sys.exit(f"cost: {built} is missing; `make cost` builds it")
    if not STORED.exists() and not options.write:
        sys.exit(f"cost: there is nothing to compare with: count and store the numbers with `make cost WRITE=1`, and commit "
                 f"{STORED.relative_to(peers.ROOT)}")
    stored = json.loads(STORED.read_text()) if STORED.exists() else {}
    found = {}
    with tempfile.TemporaryDirectory() as directory:
        for program in ("binary", "martlet"):
            stripped = f"{directory}/{program}"
            # Valgrind does not read the debugging information of Swift.
            subprocess.run(["strip", "-o", stripped, getattr(options, program)], check=True)
            setattr(options, program, stripped)
        counts = runs(options, directory)
        if options.only not in (None, *counts):
            sys.exit(f"cost: --only takes one of {', '.join(counts)}")
        for name, count in counts.items():
            if options.only in (None, name):
                show_progress(f"counting {name}")
                found[name] = round((count(LONG) - count(SHORT)) / (LONG - SHORT))
    show_progress("")
    worse, better = report(found, stored)
    if options.write:
        STORED.write_text(json.dumps({**stored, **found}, indent=2) + "\n")
    elif worse:
        sys.exit(f"cost: more than {LIMIT:.0%} above the stored number, or never stored: {', '.join(worse)}; find out why, or "
                 "store the numbers with `make cost WRITE=1` and say in the commit what they pay for")
    elif better:
        print(f"Store the numbers with `make cost WRITE=1`, so that they stay low: {', '.join(better)}")


if __name__ == "__main__":
    main()
