#!/usr/bin/env python3
"""check_profile.py BUILD: what the compiler is told of hot code (src/runtime/fasttrack.proftext) is of the code as it is, but for a quarter.

A function that was changed has other branches than those that were counted: the compiler says so and goes without. One that was renamed is
not there. If it is too much, run bench/online/train.
"""
import json
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "lib"))
from counted import functions

MOST_LOST = 1 / 4
QUIET = {"-Wno-profile-instr-out-of-date", "-Wno-backend-plugin"}


def commands(build):
    """Of the sources that are compiled for fasttrack alone; its rules are nowhere else."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        if "pf_runtime_fasttrack_objects.dir" in entry["command"] and any(w.startswith("-fprofile-use") for w in words):
            start = next(i for i, w in enumerate(words) if "clang" in w)
            words = [w for w in words[start:] if w not in QUIET]
            output = words.index("-o")
            yield words[:output] + words[output + 2:]


def run(words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done


def look(command):
    """The functions that it defines, and those that have changed."""
    written = run([*command, "-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-o", "-"]).stdout
    of_templates = ["-mllvm", "-no-pgo-warn-mismatch-comdat-weak=false"]
    complaints = run([*command, *of_templates, "-Wno-error", "-o", "/dev/null"]).stderr
    return set(re.findall(r'^define [^@]*@"?([\w.$]+)', written, re.MULTILINE)), set(re.findall(r"hash mismatch\) (\S+)", complaints))


def main():
    counts = {f.symbol: f.weight for f in functions((ROOT / "src/runtime/fasttrack.proftext").read_text())}
    with ThreadPoolExecutor(2) as pool:
        looks = list(pool.map(look, commands(Path(sys.argv[1]))))
    if not looks:
        sys.exit("no source of fasttrack's is compiled with a profile")
    defined, changed = (set().union(*sets) for sets in zip(*looks))
    gone = {name for name in counts if "9FastTrack" in name and name not in defined}
    lost = {name: counts.get(name.split(";")[-1], 0) for name in gone | changed}
    share = sum(lost.values()) / sum(counts.values())
    print(f"{len(counts)} functions, {len(gone)} gone, {len(changed)} changed: {share:.1%} of what was counted is lost")
    for name in sorted(lost, key=lost.get, reverse=True)[:10]:
        print(f"  {lost[name]:>14} {name}")
    if share > MOST_LOST:
        sys.exit("the profile is of other code: run bench/online/train")


if __name__ == "__main__":
    main()
