"""What is measured, how, and what is made of it.

A run is a function that does something once and gives a `Sample`. A `Figure` names two runs and what of them to
compare. Runs are interleaved, round by round, and each round gives a ratio of its own: absolute times on a shared
machine say little, ratios of the same minutes do.
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
    """What one run came to."""
    cpu_us: float = 0
    """CPU microseconds for each push, as the kernel charged them to the process."""
    work_us: float = 0
    """The same without the program's start and end, the median of slices, for programs that count it."""
    rate: float = 0
    """Pushes a second."""
    peak_mb: float = 0
    """The most memory that was resident, in megabytes."""
    output: str = ""


@dataclasses.dataclass
class Figure:
    """A comparison of two runs: how many times the one is the other."""
    name: str
    says: str
    """What it tells, in a few words."""
    measured: str
    """The name of the run."""
    against: str
    """The name of the run that it is compared with."""
    of: str = "cpu_us"
    """What of the samples is compared; of a rate more is better, of all else less."""
    goal: float | None = None
    """The ratio that is wanted, or one that is better."""

    def row(self, samples):
        """What is printed, plotted and kept of it."""
        measured, against = (
            [getattr(sample, self.of) for sample in samples[run]] for run in (self.measured, self.against))
        ratios = [one / other for one, other in zip(measured, against)]
        return {
            "name": self.name,
            "says": self.says,
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
    """The samples of each run, by its name; every other round goes backwards, so that none always comes first."""
    samples = {name: [] for name in runs}
    for number in range(1, rounds + 1):
        for name, run in list(runs.items())[:: 1 if number % 2 else -1]:
            tell(f"round {number} of {rounds}: {name}")
            samples[name].append(run())
    tell("")
    return samples


def tell(text):
    """Says on a terminal what is going on, over what was said before."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def of_client(command, pushes):
    """Runs the command on the client's core; the sample is what the kernel counted of its process."""
    process = subprocess.Popen(["taskset", "-c", CLIENT_CORE, *command], stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench: {command[0]} failed with {process.returncode}:\n{output}")
    return Sample(
        cpu_us=(usage.ru_utime + usage.ru_stime) * 1e6 / pushes, peak_mb=usage.ru_maxrss / 1024, output=output)


def of_server(pid, run, pushes):
    """What a server is charged while a run sends to it."""
    before = server_seconds(pid)
    run()
    return Sample(cpu_us=(server_seconds(pid) - before) * 1e6 / pushes, peak_mb=peak_megabytes(pid))


def server_seconds(pid):
    """CPU seconds that the kernel charged a process so far, over all of its threads."""
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def peak_megabytes(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0
