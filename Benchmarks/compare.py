# SPDX-License-Identifier: Apache-2.0

"""Compares the ratios of a run with a baseline, and prints whether each is better, the same or worse.

A ratio has changed if the medians differ by more than 2 % and each lies outside the range of the other's rounds.
Exits 1 if a figure is worse or missing.

Usage: compare.py [BASELINE [RUN]]
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BASELINE = ROOT / "Benchmarks/baseline.json"
RUN = ROOT / ".build/bench.json"
MINIMUM_CHANGE = 0.02


def verdict(then, now):
    def is_outside(value, row):
        return not row["low"] <= value <= row["high"]

    times = now["ratio"] / then["ratio"]
    if abs(times - 1) <= MINIMUM_CHANGE or not is_outside(now["ratio"], then) or not is_outside(then["ratio"], now):
        return "same"
    return "better" if (times > 1) == (now["better"] == "more") else "worse"


def change(then, now):
    return f"{100 * (now['ratio'] / then['ratio'] - 1):+.0f} %" if then and now else ""


def compare(baseline, run):
    """Prints the comparison; returns whether no figure is worse or missing."""
    baseline, run = ({row["name"]: row for row in rows} for rows in (baseline, run))
    verdicts = []
    print(f"{'':<8}{'':<24}{'baseline':<24}{'run':<24}")
    for name in [*baseline, *(name for name in run if name not in baseline)]:
        then, now = baseline.get(name), run.get(name)
        verdicts.append("missing" if not now else "new" if not then else verdict(then, now))
        ratios = (f"{row['ratio']:.3g} ({row['low']:.3g} … {row['high']:.3g})" if row else "–" for row in (then, now))
        print(f"{verdicts[-1]:<8}{name:<24}" + "".join(f"{ratio:<24}" for ratio in ratios) + change(then, now))
    counts = ", ".join(f"{verdicts.count(kind)} {kind}" for kind in ("better", "same", "worse", "new", "missing")
                       if kind in verdicts)
    print(f"{counts}.")
    return "worse" not in verdicts and "missing" not in verdicts


def main(baseline=BASELINE, run=RUN):
    try:
        rows = [json.loads(pathlib.Path(file).read_text()) for file in (baseline, run)]
    except FileNotFoundError as error:
        sys.exit(f"bench: {error.filename} is missing; `make bench` writes .build/bench.json; "
                 "the baseline is a copy of it")
    sys.exit(0 if compare(*rows) else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
