"""Runs a command until it has begun to write a .partial file, sends it a signal, and expects that it dies of that.
Usage: interrupt.py INT|TERM|HUP COMMAND..."""
import glob
import signal
import subprocess
import sys
import time

number = signal.Signals["SIG" + sys.argv[1]]
child = subprocess.Popen(sys.argv[2:], preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
deadline = time.monotonic() + 30
while not glob.glob("*.partial") and child.poll() is None and time.monotonic() < deadline:
    time.sleep(0.01)
child.send_signal(number)
try:
    code = child.wait(timeout=30)
except subprocess.TimeoutExpired:
    child.kill()
    sys.exit("the signal was not noticed")
if code != -number:
    sys.exit(f"expected to die of signal {number}, got exit code {code}")
