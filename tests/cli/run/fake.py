#!/usr/bin/env python3
"""A program with a runtime that finds what it is told to: for each argument it does or writes something, in order.

race[=KEY[,PC]]   a race between two threads, at PC (default 4096 of module /none/bank)
global=ADDRESS    a race at that address
heap freed stack tls mapped    a race in such memory
potential         a race with that verdict
misuse  lost=WHAT  repeat=KEY,COUNT  summary   such a line
thread            declares threads 1 (worker) and 2
module=PATH       maps PATH at 1 MiB, from its start
partial  garbage  newer    a line without its end, one that is no JSON, one of a kind that nobody knows
child:WORDS       forks a child that does WORDS (joined by '+'), and waits for it
exit=N  kill=SIGNAL  print=TEXT  sleep=SECONDS
pid=FILE          writes our process id to the file
touch=FILE        makes the file: tells the test how far we are
count=SIGNAL,SECONDS   waits for that signal, and prints how often it has come so long after the first
catch=SIGNAL,CODE from now on that signal ends the program with that exit code
"""
import json
import os
import signal
import sys
import time

BASE = 1 << 20
out = None


def start():
    global out
    run = os.environ["PHOTOFINISH_RUN"]
    out = os.open(f"{run}/{os.getpid()}.0.raw", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    line(raw="process", pid=os.getpid(), parent=os.getppid(), engine="fasttrack", exe="/none/bank")
    line(raw="module", start=BASE, end=BASE + 65536, offset=0, path="/none/bank")


def line(**fields):
    os.write(out, (json.dumps(fields) + "\n").encode())


def race(key=1, pc=4096, verdict="real", address=64, **location):
    stack = [BASE + int(pc), BASE + 8192]
    first = {"thread": 1, "op": "write", "size": 4, "atomic": False, "locks": [{"address": 4660, "mode": "write"}],
             "stack": stack}
    second = {"thread": 2, "op": "read", "size": 4, "atomic": False, "locks": [], "stack": [BASE + 12288]}
    line(raw="race", key=int(key), verdict=verdict, address=int(address), location=location or {"kind": "unknown"},
         accesses=[first, second])


def block(kind, **more):
    race(address=1008, kind=kind, start=1000, size=40, **more)


def child(words):
    pid = os.fork()
    if pid == 0:
        act(["start", *words.split("+")])
        os._exit(0)
    os.waitpid(pid, 0)


def kill(name):
    number = signal.Signals["SIG" + name]
    signal.signal(number, signal.SIG_DFL) if name not in ("KILL", "STOP") else None
    os.kill(os.getpid(), number)


def catch(name, code):
    signal.signal(signal.Signals["SIG" + name], lambda *_: os._exit(int(code)))


def count(name, seconds):
    times = []
    signal.signal(signal.Signals["SIG" + name], lambda *_: times.append(1))
    open("ready", "w").close()
    given_up = time.monotonic() + 30
    while not times and time.monotonic() < given_up:
        time.sleep(0.01)
    counted = time.monotonic() + float(seconds)
    while time.monotonic() < counted:
        time.sleep(0.05)
    print(f"{name} came {len(times)} times", flush=True)


def threads():
    line(raw="thread", id=0, os=1, name="bank")
    line(raw="thread", id=1, os=2, name="worker", parent=0, stack=[BASE + 20480])
    line(raw="thread", id=2, os=3, name="", parent=1, stack=[BASE + 24576])


def summary():
    line(raw="summary", events=1000, accesses=900, dynamic_races=31, threads=5, bytes=123456, dropped=0,
         rules={"read exclusive": 1})


def write_pid(file):
    with open(file, "w") as out_file:
        out_file.write(str(os.getpid()))


ACTIONS = {
    "start": start,
    "race": race,
    "global": lambda address: race(address=address),
    "heap": lambda: block("heap", thread=0, stack=[BASE + 16384, BASE + 20480]),
    "freed": lambda: block("freed", thread=1, stack=[BASE + 16384], allocated=[BASE + 20480]),
    "stack": lambda: race(kind="stack", thread=1),
    "tls": lambda: race(kind="tls", thread=2),
    "mapped": lambda: race(kind="mapped"),
    "potential": lambda: race(verdict="potential"),
    "misuse": lambda: line(raw="misuse", what="unlock of a mutex that is not locked", address=4660, thread=1,
                           stack=[BASE + 4096]),
    "lost": lambda what: line(raw="lost", what=what),
    "repeat": lambda key, count: line(raw="repeat", key=int(key), count=int(count)),
    "summary": summary,
    "thread": threads,
    "module": lambda path: line(raw="module", start=BASE, end=BASE + 65536, offset=0, path=path),
    "partial": lambda: os.write(out, b'{"raw":"race","key":9,"verd'),
    "garbage": lambda: os.write(out, b"what?\n"),
    "newer": lambda: line(raw="telepathy", what="?"),
    "child": child,
    "exit": lambda code: os._exit(int(code)),
    "kill": kill,
    "print": lambda text: print(text, flush=True),
    "sleep": lambda seconds: time.sleep(float(seconds)),
    "touch": lambda file: open(file, "w").close(),
    "pid": write_pid,
    "catch": catch,
    "count": count,
}


def act(words):
    for word in words:
        separator = ":" if word.startswith("child:") else "="
        name, _, values = word.partition(separator)
        arguments = [] if not values else [values] if separator == ":" else values.split(",")
        ACTIONS[name](*arguments)


act(sys.argv[1:])
