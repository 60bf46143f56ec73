"""What the benchmarks share: a failure with one clear line, a progress line, markdown tables, the machine's name."""
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("BUILD", "build")
CACHE = ROOT / "build" / "bench"  # sources, builds and inputs that can be had again


class Failure(Exception):
    pass


def table(head, rows, left=0):
    """Markdown; the first `left` columns are words, the others numbers."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * left + "---:|" * (len(head) - left)
    for row in rows:
        yield "| " + " | ".join(map(str, row)) + " |"
    yield ""


def machine():
    with open("/proc/cpuinfo") as info:
        model = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), platform.machine())
    return f"{model}, {os.cpu_count()} cores, Linux {platform.release()}"


def revision():
    git = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return f"photofinish {git.stdout.strip() or 'of unknown revision'}"


class Progress:
    """A line on the terminal that says what is being measured."""

    def __init__(self, total):
        self.total, self.done, self.start = total, 0, time.monotonic()
        self.shown = sys.stderr.isatty()

    def __call__(self, what):
        self.done += 1
        if self.shown:
            minutes, seconds = divmod(int(time.monotonic() - self.start), 60)
            print(f"\r\033[K[{self.done}/{self.total}, {minutes}:{seconds:02}] {what}", end="", file=sys.stderr, flush=True)

    def end(self):
        if self.shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
