# SPDX-License-Identifier: Apache-2.0

"""Runs the shell blocks of documents in a scratch directory, against servers on free ports."""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

# The ports that the documentation shows, each replaced by a free one of this run.
PORTS = {"2196": "CHANNEL", "2197": "APNS", "5432": "DATABASE", "8197": "INBOX", "8198": "RELAY"}
PORT = re.compile(rf"(?<![\w.])({'|'.join(PORTS)})(?!\w)")
# The directories of an installed relay.
INSTALLED = re.compile(r"/(etc|var/lib)/martlet(?=/)")
SECONDS = 60
# Replacements for programs in the examples, and programs for hidden commands.
PROGRAMS = pathlib.Path(__file__).parent / "bin"


class Session:
    """Runs the commands of one document, with its own directory, ports and servers."""

    def __init__(self, program, scratch):
        self.scratch = scratch
        self.directory = scratch / "work"
        self.directory.mkdir(parents=True)
        self.ports = {port: free_port() for port in PORTS}
        inherited = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("MARTLET_", "XDG_", "PG")) and not name.lower().endswith("_proxy")
        }
        self.environment = {
            **inherited, "PATH": f"{PROGRAMS}:{os.environ['PATH']}", "HOME": str(scratch),
            "CHECK_PROGRAM": str(program), "CHECK_SCRATCH": str(scratch), "CHECK_ROOT": os.getcwd(),
            "CHECK_MAKE": shutil.which("make"), "CHECK_CURL": shutil.which("curl"), "CHECK_PROCESS": str(os.getpid()),
            **{f"CHECK_{PORTS[port]}": free for port, free in self.ports.items()},
        }

    def localized(self, text):
        """Replaces ports and directories by those of this session."""
        return PORT.sub(lambda found: self.ports[found[1]], INSTALLED.sub(str(self.directory), text))

    def check(self, block):
        """Runs a block and returns its errors."""
        if name := block.marks.get("file"):
            (self.directory / name).write_text(self.localized(block.text) + "\n")
        if block.language == "sh":
            status, output = self.run("set -e\n" + block.text)
            expected = int(block.marks.get("exit", 0))
            return [] if status == expected else [f"exit status {status}, not {expected}\n{output}"]
        if block.language == "sql":
            command = ["psql", "-qX", "-v", "ON_ERROR_STOP=1", self.localized(block.marks.get("sql", ""))]
            status, output = self.run(block.text, command)
            return [] if status == 0 else [f"psql exited with {status}\n{output}"]
        if block.language == "console":
            return self.check_transcript(block)
        return []

    def check_transcript(self, block):
        """Runs each command of a transcript, and compares its output with the document."""
        commands = commands_of(self.localized(block.text))
        script = "".join(f"{command}\necho \"@@@ $?\"\n" for command, _ in commands)
        status, output = self.run(script)
        if status != 0:
            return [f"the transcript stopped with {status}\n{output}"]
        parts = re.split(r"@@@ (\d+)\n", output)
        errors = []
        for index, (command, shown) in enumerate(commands):
            printed, status = parts[2 * index].splitlines(), int(parts[2 * index + 1])
            expected = int(block.marks.get("exit", 0)) if index == len(commands) - 1 else 0
            if status != expected:
                errors.append(f"`{command}` exited with {status}, not {expected}: {' '.join(printed)}")
            elif shown and not is_match(shown, printed, "shape" in block.marks):
                errors.append("\n".join([f"`{command}` prints", *printed, "and the document shows", *shown]))
        return errors

    def run(self, script, command=("sh",)):
        process = subprocess.Popen(
            command, cwd=self.directory, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True)
        try:
            output, _ = process.communicate(self.localized(script) + "\n", timeout=SECONDS)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            return "none", f"{output}\nstopped after {SECONDS} seconds"

    def close(self):
        """Stops the servers that the blocks started, in reverse order."""
        file = self.scratch / "servers"
        servers = list(map(int, file.read_text().split())) if file.exists() else []
        for pid in filter(is_running, reversed(servers)):
            os.kill(pid, signal.SIGTERM)
            end = time.monotonic() + SECONDS
            while is_running(pid):
                if time.monotonic() > end:
                    os.kill(pid, signal.SIGKILL)
                time.sleep(0.02)


def is_running(pid):
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout
    return state != "" and not state.startswith("Z")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


def commands_of(transcript):
    """Returns the commands of a transcript, each with its output lines."""
    commands = []
    is_continued = False
    for line in transcript.splitlines():
        if is_continued:
            commands[-1][0] += "\n" + line
        elif line.startswith("$ "):
            commands.append([line[2:], []])
        elif commands:
            commands[-1][1].append(line)
        is_continued = line.endswith("\\") and (is_continued or line.startswith("$ "))
    return commands


TOKEN = re.compile(r"…|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b\w{20,}\b|\b\d+(?:\.\d+)?|\s+|.")


def pattern_of(line, is_shape):
    """Returns a pattern for a line of output: identifiers and spaces may differ, and `…` matches anything."""
    pattern = ""
    for token in TOKEN.findall(line):
        if token == "…":
            pattern += ".*"
        elif len(token) == 36 and token.count("-") == 4:
            pattern += r"[0-9a-f-]{36}"
        elif len(token) >= 20 and re.fullmatch(r"\w+", token):
            pattern += r"\w{20,}"
        elif token[0].isdigit() and is_shape:
            pattern += r"\d+(\.\d+)?"
        else:
            pattern += r"\s+" if token.isspace() else re.escape(token)
    return pattern


def is_match(shown, printed, is_shape):
    return len(shown) == len(printed) and all(
        re.fullmatch(pattern_of(left, is_shape), right.rstrip()) for left, right in zip(shown, printed))
