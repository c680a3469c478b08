"""Compares the ratios of a run with those of a stored one, and says of each whether it is better, the same or worse.

A ratio has changed when each of both medians lies outside everything that the other's rounds have seen, by more than
two in a hundred. Exits with 1 when one is worse or gone.

Usage: compare.py [BASELINE [RUN]]
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BASELINE = ROOT / "Benchmarks/baseline.json"
RUN = ROOT / ".build/bench.json"
LEAST_CHANGE = 0.02


def verdict(then, now):
    def is_outside(value, row):
        return not row["low"] <= value <= row["high"]

    times = now["ratio"] / then["ratio"]
    if abs(times - 1) <= LEAST_CHANGE or not is_outside(now["ratio"], then) or not is_outside(then["ratio"], now):
        return "same"
    return "better" if (times > 1) == (now["better"] == "more") else "worse"


def change(then, now):
    return f"{100 * (now['ratio'] / then['ratio'] - 1):+.0f} %" if then and now else ""


def compare(baseline, run):
    """Prints the verdicts; whether nothing is worse."""
    baseline, run = ({row["name"]: row for row in rows} for rows in (baseline, run))
    verdicts = []
    print(f"{'':<8}{'':<16}{'was':<24}{'is':<24}")
    for name in [*baseline, *(name for name in run if name not in baseline)]:
        then, now = baseline.get(name), run.get(name)
        verdicts.append("gone" if not now else "new" if not then else verdict(then, now))
        ratios = (f"{row['ratio']:.3g} ({row['low']:.3g} … {row['high']:.3g})" if row else "–" for row in (then, now))
        print(f"{verdicts[-1]:<8}{name:<16}" + "".join(f"{ratio:<24}" for ratio in ratios) + change(then, now))
    counts = ", ".join(f"{verdicts.count(kind)} {kind}" for kind in ("better", "same", "worse", "new", "gone")
                       if kind in verdicts)
    print(f"{counts}.")
    return "worse" not in verdicts and "gone" not in verdicts


def main(baseline=BASELINE, run=RUN):
    try:
        rows = [json.loads(pathlib.Path(file).read_text()) for file in (baseline, run)]
    except FileNotFoundError as error:
        sys.exit(f"bench: {error.filename} is missing; `make bench` writes .build/bench.json, "
                 "and a copy of it is a baseline")
    sys.exit(0 if compare(*rows) else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
