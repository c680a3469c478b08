# SPDX-License-Identifier: Apache-2.0

"""Measurements and their evaluation.

A run is a function that performs a task once and returns a `Sample`. A `Figure` names two runs and the value to
compare. Runs are interleaved in rounds, and each round gives a ratio: on a shared machine, ratios of runs at the same
time are more reliable than absolute times.
"""

import dataclasses
import os
import pathlib
import statistics
import subprocess
import sys

SERVER_CORE, CLIENT_CORE = "0", "1"


@dataclasses.dataclass
class Sample:
    """The result of one run."""
    cpu_us: float = 0
    """CPU time of the process per push, in microseconds."""
    work_us: float = 0
    """CPU time per push without startup and exit, the median of slices, for programs that measure it."""
    rate: float = 0
    """Pushes per second."""
    peak_mb: float = 0
    """Peak resident memory, in megabytes."""
    output: str = ""
    account: str = ""
    """Lines with the results that are not figures."""


@dataclasses.dataclass
class Figure:
    """A comparison of two runs: the ratio of their values."""
    name: str
    summary: str
    """A short description."""
    measured: str
    """The name of the measured run."""
    against: str
    """The name of the run for comparison."""
    of: str = "cpu_us"
    """The compared value of the samples; higher is better for a rate, lower for all others."""
    goal: float | None = None
    """The ratio to reach."""

    def row(self, samples):
        """Returns the row for output, plot and baseline."""
        measured, against = (
            [getattr(sample, self.of) for sample in samples[run]] for run in (self.measured, self.against))
        ratios = [one / other for one, other in zip(measured, against)]
        return {
            "name": self.name,
            "summary": self.summary,
            "ratio": round(statistics.median(ratios), 3),
            "low": round(min(ratios), 3),
            "high": round(max(ratios), 3),
            "goal": self.goal,
            "better": "more" if self.of == "rate" else "less",
            "of": self.of,
            "median": round(statistics.median(measured), 2),
            "against": self.against,
            "against_median": round(statistics.median(against), 2),
            "peak_mb": round(max(sample.peak_mb for sample in samples[self.measured]), 1),
        }


def interleaved(runs, rounds):
    """Returns the samples of each run by name; every other round is reversed, so that no run is always first."""
    samples = {name: [] for name in runs}
    for number in range(1, rounds + 1):
        for name, run in list(runs.items())[:: 1 if number % 2 else -1]:
            show_progress(f"round {number} of {rounds}: {name}")
            samples[name].append(run())
    show_progress("")
    return samples


def show_progress(text):
    """Shows progress on a terminal, in place of the previous text."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def of_client(command, pushes):
    """Runs a command on the client's core and returns the kernel's accounting of the process."""
    process = subprocess.Popen(["taskset", "-c", CLIENT_CORE, *command], stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench: {command[0]} failed with {process.returncode}:\n{output}")
    return Sample(
        cpu_us=(usage.ru_utime + usage.ru_stime) * 1e6 / pushes, peak_mb=usage.ru_maxrss / 1024, output=output)


def of_server(pid, run, pushes):
    """Returns the CPU time per push of a server while a run sends to it."""
    before = server_seconds(pid)
    run()
    return Sample(cpu_us=(server_seconds(pid) - before) * 1e6 / pushes, peak_mb=peak_megabytes(pid))


def server_seconds(pid):
    """Returns the CPU time of all threads of a process, in seconds."""
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def peak_megabytes(pid):
    return memory(pid, "VmHWM")


def memory(pid, name):
    """Returns a value of the memory of a process, in megabytes."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 1024
    return 0
