"""Processes of the benchmark: each in a group of its own, so that an interrupt leaves none behind."""
import json
import os
import shlex
import signal
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from common import Failure


@dataclass
class Usage:
    """What one run took. `seconds` is what the user waited; the rest is of the program itself, without what started it."""

    seconds: float
    wall: float
    processor: float
    rss: int  # KiB

    @staticmethod
    def read(path, seconds=None):
        values = json.loads(Path(path).read_text())
        return Usage(values["wall"] if seconds is None else seconds, values["wall"], values["user"] + values["system"],
                     values["rss"])


@contextmanager
def started(command, folder, environment=None):
    """The process, killed with its whole group when the block is left; its output is in `folder`/output."""
    with open(Path(folder) / "output", "w") as output:
        process = subprocess.Popen([str(word) for word in command], cwd=folder, env=os.environ | (environment or {}),
                                   stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        yield process
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def run(command, folder, environment=None, exit_codes=(0,), timeout=600):
    """Runs to the end; its output, and the seconds it took."""
    start = time.perf_counter()
    with started(command, folder, environment) as process:
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise Failure(f"{words(command)}: not done after {timeout} s") from None
    seconds = time.perf_counter() - start
    output = (Path(folder) / "output").read_text(errors="replace")
    if process.returncode not in exit_codes:
        raise Failure(f"{words(command)}: {ending(process.returncode)}{telling_line(output)}")
    return output, seconds


def ending(code):
    return f"ended by signal {-code}" if code < 0 else f"exit code {code}"


def telling_line(output):
    lines = [line for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if "error: " in line][:1] or lines[-1:]
    return f": {telling[0].strip()[:200]}" if telling else ""


def words(command):
    text = shlex.join(map(str, command))
    return text if len(text) < 160 else text[:157] + "..."
