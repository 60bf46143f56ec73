"""Runs a command with a signal under way that comes before anything else can, and tells how it ended.
Usage: pending.py SIGNAL COMMAND..."""
import os
import signal
import subprocess
import sys

number = signal.Signals["SIG" + sys.argv[1]]


def raise_blocked():
    signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, [number])
    os.kill(os.getpid(), number)


code = subprocess.run(sys.argv[2:], preexec_fn=raise_blocked).returncode
print(f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}")
