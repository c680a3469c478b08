"""Runs a program and prints the most memory that it had, in bytes, as the last line of standard error.

Asking the system while the program runs misses what a short run had at its end.
"""
import resource
import subprocess
import sys

status = subprocess.run(sys.argv[1:]).returncode
unit = 1 if sys.platform == "darwin" else 1024
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit, file=sys.stderr)
sys.exit(status)
