# The lit suite of whole programs: each .c or .cpp file is one program that says how it is built and what its report holds.
# It runs once with clang and once with gcc (config.compiler), by default under fasttrack (--param engine=CHAIN for another,
# --param recorded=1 for traces of them).
#
# Substitutions, after %s and %t:
#   %cxx, %cc                the compiler wrappers, for C++20 and C17, with debug information and this folder's headers
#   %plainxx, %plaincc       the compilers themselves: for programs that are not instrumented
#   %runtime                 what links the runtime without those, after %plainxx
#   %glib                    what a program needs to be built with GLib
#   %photofinish             the tool itself
#   %sample PROGRAM...       runs one of those under `photofinish sample`, with much overhead
#   %attached PROGRAM... -- STEP...  runs one of those and the steps beside it (see `attached`)
#   %run PROGRAM...          runs it under the engine
#   %race PROGRAM...         expects a race (exit code 66) and prints the program's output and the report
#   %norace PROGRAM...       expects exit code 0, no race, no misuse, and that accesses were seen; prints the same
#   %with "CHAIN..." COMMAND...  runs %race or %norace under each of these engines instead
#   %refusing errno N|slots N|code N COMMAND...  runs it without hardware breakpoints, with fewer, or where no code is written (see `refusing`)
#   %exits CODE COMMAND...   expects that exit code (or death by signal CODE - 128) and prints the same
#   %FileCheck               knows [[FILE]], the name of the program
# `not` and `FileCheck` are on the PATH.
import os
import subprocess

import lit.formats

COMPILERS = {"clang": ("clang-19", "clang++-19"), "gcc": ("gcc", "g++")}

config.name = f"programs_{config.compiler}"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".c", ".cpp"]
config.test_source_root = os.path.dirname(__file__)
config.available_features.add(config.compiler)
if os.geteuid() == 0:
    config.available_features.add("root")

cc, cxx = COMPILERS[config.compiler]
engine = lit_config.params.get("engine", "fasttrack")
photofinish = os.path.join(config.bin_dir, "photofinish")
config.environment["PATH"] = os.pathsep.join([config.llvm_tools, os.environ["PATH"]])
config.environment["PF_CC"] = cc
config.environment["PF_CXX"] = cxx
config.environment["PF_TEST_RUN"] = f"{photofinish} run -e {engine}"


def helper(name):
    return os.path.join(config.test_source_root, name)


def compiler(name, standard):
    return f"{os.path.join(config.bin_dir, name)} -std={standard} -D_GNU_SOURCE -g -pthread -I{config.test_source_root}"


def package(name):
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", name], capture_output=True, text=True)
    return flags.stdout.strip()


runtime = os.path.join(config.bin_dir, "..", "lib", "fasttrack")

config.substitutions += [
    ("%glib", package("glib-2.0")),
    ("%runtime", f"-Wl,--no-as-needed {runtime}/libphotofinish.so -Wl,-rpath,{runtime}"),
    ("%plainxx", f"{cxx} -std=c++20 -O2 -pthread"),
    ("%plaincc", f"{cc} -std=gnu17 -O2 -pthread"),
    ("%sample", f"{photofinish} sample --overhead 30% --delay 5ms"),
    ("%attached", f"{helper('attached')} {photofinish}"),
    ("%cxx", compiler("pf-c++", "c++20")),
    ("%cc", compiler("pf-cc", "c17")),
    ("%photofinish", photofinish),
    ("%run", f"{photofinish} run -e {engine} --"),
    ("%race", helper("race")),
    ("%norace", helper("norace")),
    ("%exits", helper("exits")),
    ("%refusing", helper("refusing")),
    ("%with", helper("with")),
    ("%FileCheck", f"{os.path.join(config.llvm_tools, 'FileCheck')} --dump-input-context=20 -DFILE=%basename_t"),
]

if "recorded" in lit_config.params:  # the same programs by way of a trace, whose reports are worded otherwise
    config.environment["PF_TEST_RUN"] = f"{helper('recorded')} {photofinish} -e {engine}"
    config.substitutions = [(key, value if key != "%FileCheck" else "true") for key, value in config.substitutions]
