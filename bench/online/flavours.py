"""The ways each subject is built and run: as it is, with clang's ThreadSanitizer, and with Photofinish (one for each engine).

A flavour names the compilers, wraps the command, and counts the races afterwards.
"""
import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from common import BUILD

FLAGS = "-O2 -g"
TSAN_OPTIONS = "exitcode=0:atexit_sleep_ms=0"


@dataclass(frozen=True)
class Flavour:
    name: str  # also of the folder it is built in
    cc: str
    cxx: str

    @property
    def build(self):
        return self.name

    def compilers(self):
        return {"CC": self.cc, "CXX": self.cxx, "CFLAGS": FLAGS, "CXXFLAGS": FLAGS}

    def linked(self):
        """What the compilers link into a program besides."""
        return []

    def command(self, program, folder):
        """The command line, with what the flavour puts before it; `folder` is for its report."""
        return program

    def environment(self, folder):
        return {}

    def exit_codes(self):
        return (0,)

    def races(self, folder):
        return None

    def dropped(self, folder):
        """By a filter in front, in percent of the accesses; None without one."""
        return None


class Tsan(Flavour):
    def environment(self, folder):
        return {"TSAN_OPTIONS": f"log_path={folder}/tsan:{TSAN_OPTIONS}"}

    def races(self, folder):
        reports = "".join(path.read_text(errors="replace") for path in Path(folder).glob("tsan.*"))
        return len(re.findall(r"^WARNING: ThreadSanitizer: data race", reports, re.MULTILINE))


@dataclass(frozen=True)
class Ours(Flavour):
    engine: str = "fasttrack"
    home: Path = BUILD  # of the runtime; programs are compiled by that of BUILD

    def linked(self):
        return [hashlib.sha256((BUILD / "lib" / "calls.o").read_bytes()).hexdigest()]

    @property
    def build(self):
        return "photofinish"

    def command(self, program, folder):
        return [self.home / "bin" / "photofinish", "run", "-e", self.engine, "-r", f"json:{folder}/races.jsonl", "--", *program]

    def environment(self, folder):
        return {"TSAN_OPTIONS": "atexit_sleep_ms=0"}

    def exit_codes(self):
        return (0, 66)

    def summary(self, folder):
        lines = map(json.loads, (Path(folder) / "races.jsonl").read_text().splitlines())
        return next((line for line in lines if line["type"] == "summary"), {})

    def races(self, folder):
        return self.summary(folder).get("races")

    def dropped(self, folder):
        summary = self.summary(folder)
        return 100 * summary["dropped"] / max(1, summary["accesses"]) if summary.get("filters") else None


NATIVE = Flavour("native", "clang-19", "clang++-19")
TSAN = Tsan("tsan", "clang-19 -fsanitize=thread", "clang++-19 -fsanitize=thread")


def ours(engine):
    bin = BUILD / "bin"
    return Ours(engine, str(bin / "pf-cc"), str(bin / "pf-c++"), engine)
