# SPDX-License-Identifier: Apache-2.0

"""Runs a program and prints its peak memory in bytes as the last line of standard error.

Measurements during the run would miss the end of a short run.
"""
import resource
import subprocess
import sys

status = subprocess.run(sys.argv[1:]).returncode
unit = 1 if sys.platform == "darwin" else 1024
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit, file=sys.stderr)
sys.exit(status)
