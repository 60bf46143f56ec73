#!/usr/bin/env python3
"""Checks a built runtime library, so that what was measured once cannot rot unseen.

- It imports nothing but libc's functions on the list below: no malloc, no printf, nothing of the C++ library.
- The hot entry points are leaves: up to their first return no push, no call, and no more instructions than the limit.
  (Slow paths are reached by a jump; they are not counted.)
- The code that may be copied (section pf_near), each function for itself, refers to nothing but itself, and calls nobody: it ends with
  a return or a jump to where a value in it says. It leaves the stack pointer alone, and fits into its slot (abi/near_layout.h).

    check_library.py LIBRARY [--hot] [--sampler]
"""
import re
import subprocess
import sys
from pathlib import Path

IMPORTS = """
__cxa_finalize __errno_location __gmon_start__ _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable
__tsan_default_options __tsan_default_suppressions __tsan_on_finalize __tsan_on_initialize __tsan_on_report
_ZN6__tsan30OnPotentiallyBlockingRegionEndEv _ZN6__tsan32OnPotentiallyBlockingRegionBeginEv
__pthread_register_cancel __pthread_unregister_cancel __pthread_unwind_next __sigsetjmp
clock_gettime dl_iterate_phdr dladdr dlopen dlsym dlvsym fflush memcmp strcmp strlen strncmp strrchr strnlen
pthread_attr_destroy pthread_attr_getdetachstate pthread_attr_getstack pthread_condattr_getpshared pthread_exit pthread_getattr_np
pthread_key_create pthread_self pthread_setspecific stdin stdout
""".split()
# What other libraries have of their own, since they intercept it.
STRINGS = {"bcmp", "memcpy", "memmove", "memset"}

# Instructions of the hot path with its return, and with the second look that may lie before it, as built by clang 19 and by g++ 12, rounded up.
LIMITS = {f"__tsan_{op}{size}": limit for op, limit in (("read", 46), ("write", 38)) for size in (1, 2, 4, 8)}
# The same of the code that may be copied.
LIMITS |= {f"_ZN2pf2rt12_GLOBAL__N_1{len(name)}{name}EPv": 29
           for name in (f"near_{op}{size}" for op in ("read", "write") for size in (1, 2, 4, 8))}
# Of an access that a sampling filter drops, after that: OnlineHost<FastTrack>::access_unwatched.
LIMITS |= {f"_ZN2pf2rt10OnlineHostINS_9FastTrackEE16access_unwatchedILNS_2OpE{op}EEEvmmm": 56 for op in (0, 1)}
BLOCK = re.compile(r"^[0-9a-f]+ <(\S+)>:$")
INSTRUCTION = re.compile(r"^\s*[0-9a-f]+:\s+([a-z]\S*)")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def undefined(library):
    for line in output("nm", "-D", "--undefined-only", library).splitlines():
        yield line.split()[-1].split("@")[0]


def disassembly(library, function):
    """The instructions of a function, up to its first return."""
    for line in output("objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}", library).splitlines():
        match = INSTRUCTION.match(line)
        if match:
            yield match[1]
            if match[1].startswith("ret"):
                return


def hot_path_faults(library):
    for function, limit in LIMITS.items():
        instructions = list(disassembly(library, function))
        if not instructions or not instructions[-1].startswith("ret"):
            yield f"{function}: no return found"
        elif len(instructions) > limit:
            yield f"{function}: {len(instructions)} instructions, at most {limit} expected"
        for forbidden in ("push", "call"):
            if any(i.startswith(forbidden) for i in instructions):
                yield f"{function}: has a {forbidden} on its hot path"


LAYOUT = Path(__file__).resolve().parents[2] / "src" / "runtime" / "abi" / "near_layout.h"
SLOT = int(re.search(r"PF_NEAR_SLOT_BYTES (\d+)", LAYOUT.read_text())[1])


def near_functions(library):
    """Name, first and last address, and disassembly of each."""
    name, lines = None, []
    for line in [*output("objdump", "-d", "--no-show-raw-insn", "-j", "pf_near", library).splitlines(), "0 <end>:"]:
        match = BLOCK.match(line)
        if match:
            if name:
                yield name, range(start, end), lines
            name, start, lines = match[1], int(line.split()[0], 16), []
        elif INSTRUCTION.match(line):
            end = int(line.split(":")[0], 16) + 1
            lines.append(line)


def near_faults(library):
    if "pf_near" not in output("readelf", "-SW", library):
        return
    for name, inside, lines in near_functions(library):
        if len(inside) > SLOT:
            yield f"{name}: {len(inside)} bytes and more, at most {SLOT} expected"
        for line in lines:
            match = INSTRUCTION.match(line)
            instruction, operands = match[1], line[match.end(1):]
            direct = re.match(r"\s+([0-9a-f]+) <", operands) if instruction.startswith(("j", "call")) else None
            if instruction.startswith("call"):
                yield f"code that may be copied calls: {line.strip()}"
            elif instruction.startswith(("push", "pop")) or re.search(r",%rsp$", operands.rstrip()):
                yield f"code that may be copied moves the stack pointer: {line.strip()}"
            elif "(%rip)" in operands:
                yield f"code that may be copied refers to what stays: {line.strip()}"
            elif direct and int(direct[1], 16) not in inside:
                yield f"code that may be copied jumps to what stays: {line.strip()}"


def main():
    library = sys.argv[1]
    allowed = set(IMPORTS) | (STRINGS if "--sampler" in sys.argv else set())
    faults = [f"imports {name}" for name in undefined(library) if name not in allowed]
    if "--hot" in sys.argv:
        faults += hot_path_faults(library)
    faults += near_faults(library)
    print("\n".join(faults) if faults else f"{library}: as it should be")
    return 1 if faults else 0


sys.exit(main())
