#!/usr/bin/env python3
"""Breaks the engines on purpose, one way at a time, and expects the tests of the papers or the property tests to notice; of what
lives in the target only, the unit tests or programs.

Each mutant of mutants.txt is applied to a copy of the tree, the tests are built and run there, and the mutant is
killed if they fail. Prints a table; exit code 1 if a mutant survives (or no longer applies). The tree itself is not touched.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIT = "/usr/lib/llvm-19/build/utils/lit/lit.py"

# By the beginning of a mutant's name: the tests to try first.
ABOUT = {
    "hybrids": "*/multilock:*/simplelock:MultiLock*:SimpleLock*",
    "multilock": "*/multilock:MultiLock*",
    "simplelock": "*/simplelock:SimpleLock*",
    "acculock": "*/acculock",
    "eraser": "*/eraser",
    "clockrace": "*/clockrace:ClockRace*",
    "pacer": "Pacer*",
    "timeless": "Pacer*",
    "idle": "Idle*",
    "tree": "Tree*",
    "literace": "LiteRace*:*Samplers*",
    "carisma": "Carisma*:*Samplers*",
    "explain": "*Explanation*",
    "race log": "*Explanation*",
    "predict": "Mc*:Cp*:SyncP*:Windows*:Predictors*:Hb*",
    "rdit": "Rdit*",
    "z3": "Z3*",
}


# The same for what property tests cannot see: what to build, the tests of the first of these, the programs.
INSIDE = {
    "watch": (["unit_tests"], "Slots.*:Clock.*:Turns.*", ""),
    "compact": (["compact_tests"], "*", ""),
    "glance": (["unit_tests"], "GlanceTest.*", ""),
    "marks": (["unit_tests"], "MarkMap.*", ""),
    "gripped": (["unit_tests", "photofinish", "pf_runtime_fasttrack"], "GlanceTest.*", "atomic/(told|handed)|mutex/rwlock_reader"),
    "settled": (["unit_tests", "photofinish", "pf_runtime_fasttrack", "pf_runtime_pacer"], "GlanceTest.*", "sampling/settled_"),
    "rest": (["rest_tests", "photofinish", "pf_runtime_fasttrack", "pf_runtime_pacer"], "*", "sampling/(rest|wait)_"),
    "past": (["past_tests", "photofinish", "pf_runtime_fasttrack"], "*", "signal/sleeper_"),
    "quiet": (["quiet_tests"], "*", ""),
    "periods": (["unit_tests"], "Periods.*", ""),
    "near": (["unit_tests", "photofinish", "pf_runtime_fasttrack", "pf_calls"], "Wrapper.*", "near/|faults/preloaded_malloc"),
    "across": (["unit_tests", "photofinish", "pf_runtime_fasttrack", "pf_calls"], "Wrapper.*", "plain/(across|unaligned)_"),
    "collision": (["unit_tests", "photofinish", "pf_runtime_fasttrack", "pf_runtime_clockrace", "pf_runtime_collision"], "Slots.*",
                  "watch/(counter|value|order)_"),
}


def kind_of(name):
    """Which of INSIDE, or nothing if property tests can see it."""
    return next((kind for kind in INSIDE if name.startswith(kind)), "")


@dataclass
class Mutant:
    name: str
    file: str
    old: str
    new: str

    def broken(self, tree):
        times = (tree / self.file).read_text().count(self.old)
        return f"its text occurs {times} times in {self.file}" if times != 1 else ""


def parse(text):
    mutants = []
    for block in re.split(r"^== ", text, flags=re.M)[1:]:
        lines = block.rstrip("\n").split("\n")
        old = [l[1:] for l in lines[2:] if l.startswith("-")]
        new = [l[1:] for l in lines[2:] if l.startswith("+")]
        mutants.append(Mutant(lines[0], lines[1], "\n".join(old), "\n".join(new)))
    return mutants


class Workshop:
    """A copy of the tree with a build of its own."""

    def __init__(self, folder):
        self.tree = folder / "tree"
        self.build = folder / "build"
        for part in ["CMakeLists.txt", "cmake", "src", "tests", "CMakePresets.json"]:
            source = ROOT / part
            target = self.tree / part
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
        self.call(["cmake", "-G", "Ninja", "-S", self.tree, "-B", self.build, "-DCMAKE_CXX_COMPILER=clang++-19",
                   "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O0", "-DCMAKE_CXX_FLAGS=-w"])

    def call(self, command, **options):
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)

    def test(self, traces, name=""):
        """The first complaint of the tests, or nothing if they are content."""
        inside = INSIDE.get(kind_of(name))
        try:
            self.call(["ninja", "-C", self.build, *(inside[0] if inside else ["papers_tests", "property_tests"])])
        except subprocess.CalledProcessError as e:
            return "", "does not compile: " + next((l for l in e.output.split("\n") if "error:" in l), "?").strip()
        if inside:
            return self.run(inside[1], traces, inside[0][0]) or inside[2] and self.run_programs(inside[2]), ""
        # Those that are about it first, then the engines one by one: they notice most mutants, and soonest.
        about = next((tests for prefix, tests in ABOUT.items() if name.startswith(prefix)), "")
        complaint = self.run("*", traces, "papers_tests") or about and self.run(about, traces)
        return complaint or self.run("*Engines*", traces) or self.run("-*Engines*", traces), ""

    def run(self, tests, traces, program="property_tests"):
        command = [self.build / "tests" / program, "--gtest_fail_fast", f"--gtest_filter={tests}"]
        try:
            self.call(command, env=dict(os.environ, PF_TRACES=str(traces)), timeout=300)
        except subprocess.CalledProcessError as e:
            failed = re.search(r"\[  FAILED  \] (\S+?),? ", e.output)
            reason = re.search(r"Failed\n(.*?),? seed", e.output)
            test = failed.group(1).split("/")[-1] if failed else f"exit code {e.returncode}"
            return f"{test}: {reason.group(1) if reason else 'failed'}"
        except subprocess.TimeoutExpired:
            return "does not end"
        return ""

    def run_programs(self, programs):
        try:
            self.call([LIT, "-v", self.build / "tests" / "programs_clang", "--filter", programs], timeout=600)
        except subprocess.CalledProcessError as e:
            return next((line for line in e.output.split("\n") if line.startswith("FAIL")), "lit fails")
        return ""

    def judge(self, mutant, traces):
        if broken := mutant.broken(self.tree):
            return "", broken
        path = self.tree / mutant.file
        original = path.read_text()
        path.write_text(original.replace(mutant.old, mutant.new))
        try:
            return self.test(traces, mutant.name)
        finally:
            path.write_text(original)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--traces", type=int, default=4000, help="random traces per engine (default 4000)")
    options.add_argument("--only", default="", help="mutants whose name matches this regular expression")
    options.add_argument("--apply", action="store_true", help="test nothing: only see that all of them still apply")
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    args = options.parse_args()

    mutants = [m for m in parse((ROOT / "tests/mutants/mutants.txt").read_text()) if re.search(args.only, m.name)]
    if args.apply:
        complaints = [f"{m.name}: {broken}" for m in mutants if (broken := m.broken(ROOT))]
        print("\n".join(complaints) or f"all {len(mutants)} mutants apply")
        return 1 if complaints else 0
    with tempfile.TemporaryDirectory(prefix="photofinish-mutants-") as folder:
        local = threading.local()

        def judge(mutant):
            if not hasattr(local, "workshop"):
                local.workshop, local.sound = Workshop(Path(tempfile.mkdtemp(dir=folder))), set()
            if kind_of(mutant.name) not in local.sound:
                complaint, broken = local.workshop.test(100, kind_of(mutant.name))
                assert not complaint and not broken, f"the tests fail without any mutant: {complaint}{broken}"
                local.sound.add(kind_of(mutant.name))
            return local.workshop.judge(mutant, args.traces)

        width = max(len(m.name) for m in mutants)
        survivors = 0
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            for mutant, (complaint, broken) in zip(mutants, pool.map(judge, mutants)):
                verdict = "killed  " if complaint else "BROKEN  " if broken else "SURVIVED"
                survivors += not complaint
                print(f"{verdict} {mutant.name:<{width}}  {complaint or broken}", flush=True)
    print(f"{len(mutants) - survivors} passed, {survivors} failed")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
