"""Processes of the benchmarks: each in a group of its own, so that an interrupt leaves none behind."""
import os
import select
import shlex
import signal
import subprocess
import threading
import time
from contextlib import contextmanager
from pathlib import Path

from common import Failure


_live, _stopped = set(), threading.Event()


@contextmanager
def started(command, folder, environment=None):
    """The process, killed with its whole group when the block is left; its output is in `folder`/output."""
    if _stopped.is_set():
        raise Failure("stopped")
    with open(Path(folder) / "output", "w") as output:
        process = subprocess.Popen([str(word) for word in command], cwd=folder, env=os.environ | (environment or {}),
                                   stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
    _live.add(process)
    try:
        yield process
    finally:
        _kill_group(process)
        process.wait()
        _live.discard(process)


def stop_all():
    """For an interrupt while other threads wait for processes: ends those, and lets no other start."""
    _stopped.set()
    for process in list(_live):
        _kill_group(process)


def _kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def observe(command, folder, environment=None, timeout=120):
    """Runs it; exit code (none: not done in time) and output."""
    with started(command, folder, environment) as process:
        code = process.wait() if ends_within(process, timeout) else None
    return code, (Path(folder) / "output").read_text(errors="replace")


def ends_within(process, seconds):
    """Told at once: to wait for a process with a limit, Python looks now and then, up to 50 ms late."""
    descriptor = os.pidfd_open(process.pid)
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)


def run(command, folder, environment=None, exit_codes=(0,), timeout=600):
    """Runs it, and it must succeed; output, and the seconds it took."""
    start = time.perf_counter()
    code, output = observe(command, folder, environment, timeout)
    seconds = time.perf_counter() - start
    if code is None:
        raise Failure(f"{words(command)}: not done after {timeout} s")
    if code not in exit_codes:
        raise Failure(f"{words(command)}: {ending(code)}{telling_line(output)}")
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
