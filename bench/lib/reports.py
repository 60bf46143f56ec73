"""Reports of both detectors in one form, so that one judge can look at either."""
import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Frame:
    function: str
    file: str = ""
    line: int = 0

    def __str__(self):
        return f"{Path(self.file).name}:{self.line}" if self.line else self.function


@dataclass
class Access:
    """One of the two accesses of a race, or a stack of another report (then `op` is empty)."""

    op: str = ""  # read, write
    size: int = 0
    stack: list = field(default_factory=list)


@dataclass
class Report:
    kind: str
    accesses: list = field(default_factory=list)  # the earlier one first
    location: str = ""  # global NAME, heap, stack, tls, ... or nothing

    def __str__(self):
        places = " / ".join(str(access.stack[0]) if access.stack else "?" for access in self.accesses)
        return f"{self.kind} {places}".strip()


# What a kind is about, however it is worded; the first that fits counts.
FAMILIES = [
    ("race", r"data race"),
    ("use after free", r"use-after-free"),
    ("thread leak", r"thread leak|(not|never) joined"),
    ("deadlock", r"deadlock|lock-order"),
    ("invalid mutex", r"invalid mutex|uninitialized|destroyed"),
    ("destroy of a locked mutex", r"destroy"),
    ("double lock", r"double lock|already locked|locked twice"),
    ("bad unlock", r"unlock"),
    ("mutex held", r"held"),
]


def family(kind):
    return next((name for name, pattern in FAMILIES if re.search(pattern, kind)), kind)


def kinds(reports):
    """How many of which kind, in words."""
    counts = Counter(family(report.kind) for report in reports)
    return ", ".join(f"{count} × {kind}" if count > 1 else kind for kind, count in counts.items())


# --- Photofinish ---


def from_json(path):
    lines = [json.loads(line) for line in Path(path).read_text().splitlines()] if Path(path).exists() else []
    return [_report(line) for line in lines if line["type"] != "summary"]


def _report(line):
    if line["type"] != "race":
        kind = line.get("what") or line.get("kind") or line["type"]
        return Report(kind, [Access(stack=_frames(line.get("stack", [])))])
    accesses = [Access(access["op"], access.get("size", 0), _frames(access["stack"])) for access in line["accesses"]]
    location = line.get("location", {})
    return Report("heap-use-after-free" if line["kind"].startswith("free-") else "data race", accesses,
                  f"{location.get('kind', '')} {location.get('name', '')}".strip())


def _frames(stack):
    return [Frame(frame.get("function") or "", frame.get("file") or "", frame.get("line") or 0) for frame in stack]


# --- ThreadSanitizer ---

HEADER = re.compile(r"WARNING: ThreadSanitizer: (.*?) \(pid=")
ACCESS = re.compile(r"  (?:Previous )?(?:atomic )?(read|write) of size (\d+)", re.IGNORECASE)
FRAME = re.compile(r"    #\d+ (.+?) (?:(/[^ :]*|<null>|[\w./-]+\.\w+):?(\d+)?(?::\d+)? )?\(")
LOCATION = re.compile(r"  Location is (global '([^']*)'|heap|stack|TLS)")


def from_tsan(text):
    """Of a log; the later access comes first in it."""
    headers = [(HEADER.search(block), block) for block in _blocks(text)]
    return [_tsan_report(header[1], block[header.end():].splitlines()[1:]) for header, block in headers if header]


def beside_reports(text):
    """What else is in a log."""
    return "".join(block for block in _blocks(text) if not HEADER.search(block))


def _blocks(text):
    return re.split(r"^=+$", text, flags=re.MULTILINE)


def _tsan_report(kind, lines):
    report = Report(kind)
    stack = [] if lines and ACCESS.match(lines[0]) else _started(report, Access())
    for line in lines:
        if access := ACCESS.match(line):
            stack = _started(report, Access(access[1].lower(), int(access[2])))
        elif frame := FRAME.match(line):
            stack.append(Frame(frame[1], frame[2] or "", int(frame[3] or 0)))
        elif line.startswith("  "):
            stack = []  # of a thread, a mutex or a block: not an access
        if location := LOCATION.match(line):
            report.location = f"global {location[2]}" if location[2] else location[1].lower()
    report.accesses.reverse()
    return report


def _started(report, access):
    report.accesses.append(access)
    return access.stack
