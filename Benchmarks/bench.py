# SPDX-License-Identifier: Apache-2.0

"""Measures the cost of a push with Martlet relative to other programs, in one run.

All programs send the same pushes. Clients send them over TLS to Debian's nginx, which returns 200 immediately. The
server runs on core 0, the client on core 1. Each group of figures is a module with `FIGURES` and `runs(world)`;
`peers` has the programs for comparison. Writes one row for each figure to .build/bench.json, and plots them in
.build/bench.svg.
"""

import argparse
import json
import sys
import tempfile

import bulk
import evening
import fleet
import page
import peers
import people
import relay
import sending
import simulator
import snapshots
import surfaces
from measuring import interleaved
from servers import World

GROUPS = [bulk, sending, simulator, relay, fleet, people, snapshots, surfaces, evening]


def main():
    figures = [figure for group in GROUPS for figure in group.FIGURES]
    options = read_options(figures)
    selected = [figure for figure in figures if not options.only or figure.name in options.only]
    with tempfile.TemporaryDirectory() as directory:
        world = World(options, directory)
        try:
            samples = interleaved(needed(selected, world), options.rounds)
        finally:
            world.stop()
    rows = [figure.row(samples) for figure in selected]
    title = (f"{options.pushes:,} pushes of {len(peers.PAYLOAD)} bytes, {World.STREAMS} in flight on a TLS connection, "
             f"median of {options.rounds} interleaved rounds").replace(",", " ", 1)
    print(f"{title}\n{page.text(rows)}")
    for run in {figure.measured for figure in selected}:
        if account := samples[run][-1].account:
            print(f"\n{run}\n{account}")
    if options.only:
        return
    output = peers.ROOT / ".build"
    output.mkdir(exist_ok=True)
    (output / "bench.json").write_text(json.dumps(rows, indent=2) + "\n")
    (output / "bench.svg").write_text(page.plot(rows, title))


def needed(figures, world):
    """Returns the runs of the figures by name, with compared runs next to each other."""
    runs = {name: run for group in [peers, *GROUPS] for name, run in group.runs(world).items()}
    return {name: runs[name] for figure in figures for name in (figure.against, figure.measured)}


def read_options(figures):
    release = peers.ROOT / ".build-bench/release"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", metavar="NAME", choices=[figure.name for figure in figures],
                        help="measure only this figure and write no files; repeatable")
    parser.add_argument("--pushes", type=int, default=200_000)
    parser.add_argument("--installations", type=int, default=1_000_000,
                        help="phones of the sends to people, and of surfaces, one for ten phones")
    parser.add_argument("--updates", type=int, default=4, help="updates of Live Activities, 153 for a whole evening")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--binary", default=str(release / "MartletBench"))
    parser.add_argument("--martlet", default=str(release / "martlet"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
