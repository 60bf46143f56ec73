"""Runs a command until it has made the file `ready`, sends it a signal, and tells how it ended and what is left of it.
Usage: signalled.py [--group|--terminal] SIGNAL COMMAND...
--group: sends it to the command and its children, as timeout(1) does; --terminal: types Ctrl-C instead"""
import fcntl
import os
import signal
import subprocess
import sys
import termios
import time

group, terminal = sys.argv[1] == "--group", sys.argv[1] == "--terminal"
arguments = sys.argv[2:] if group or terminal else sys.argv[1:]
number = signal.Signals["SIG" + arguments[0]]
if os.path.exists("ready"):
    os.remove("ready")
keyboard, screen = os.openpty()
child = subprocess.Popen(arguments[1:], start_new_session=True, env={**os.environ, "TMPDIR": os.getcwd()},
                         preexec_fn=lambda: fcntl.ioctl(screen, termios.TIOCSCTTY, 0))
deadline = time.monotonic() + 30
while not os.path.exists("ready") and child.poll() is None and time.monotonic() < deadline:
    time.sleep(0.01)
if terminal:
    os.write(keyboard, b"\x03")
else:
    os.killpg(child.pid, number) if group else child.send_signal(number)
try:
    code = child.wait(timeout=30)
except subprocess.TimeoutExpired:
    os.killpg(child.pid, signal.SIGKILL)
    sys.exit("the signal was not noticed")
left = [name for name in os.listdir() if name.startswith("photofinish-")]
print(f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}", flush=True)
print(f"left behind: {left}")
