# The lit suite of the command line: each .test file says in RUN lines what is typed and, by FileCheck, what comes out.
#
# Substitutions: %photofinish, %FileCheck, %examples, %python, and
#   %exits CODE COMMAND...   expects that exit code
#   %refuses COMMAND...      expects exit code 2 and one line of error, which it prints; nothing else
#   %tty COMMAND...          runs it on a terminal
#   %contract [CHAIN...]     checks JSON lines against the contract and prints them a field a line
#   %nobody COMMAND...       runs it as a user who may read nothing (where `nobody` is a feature)
#   %in-small-disk COMMAND.. runs it with a disk of 64 KiB at %t.disk (where `small-disk` is a feature)
#   %run ...                 photofinish run, from a tree of its own (%tree) with a runtime that is an empty file
#   %fake ACTION...          a program that plays the runtime: run/fake.py
#   %cxx, %cc                compilers
# `not` and `FileCheck` are on the PATH.
import os
import shutil
import subprocess
import sys

import lit.formats

config.name = "cli"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".test"]
config.test_source_root = os.path.dirname(__file__)

config.environment["PATH"] = os.pathsep.join([config.llvm_tools, os.environ["PATH"]])
for name, value in os.environ.items():
    if name == "LLVM_PROFILE_FILE" or name.endswith("SAN_OPTIONS"):
        config.environment[name] = value


def helper(name):
    return os.path.join(config.test_source_root, name)


def works(*command):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


photofinish = os.path.join(config.bin_dir, "photofinish")
root = os.geteuid() == 0
nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if root else ["env"]
unshare = ["unshare", "--mount"] if root else ["unshare", "--map-root-user", "--mount"]
if works(*nobody, photofinish, "--version"):
    config.available_features.add("nobody")
if works(*unshare, "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/tmp"):
    config.available_features.add("small-disk")

# The runtime is found from the place of the executable, so the tests that need another runtime need another place.
tree = os.path.join(config.test_exec_root, "tree")
os.makedirs(os.path.join(tree, "bin"), exist_ok=True)
os.makedirs(os.path.join(tree, "lib", "fasttrack"), exist_ok=True)
shutil.copy(photofinish, os.path.join(tree, "bin"))
open(os.path.join(tree, "lib", "fasttrack", "libphotofinish.so"), "w").close()
config.environment["PHOTOFINISH_OPTIONS"] = ""  # not those of the sanitizer that tests us

mount = """bash -c 'mkdir -p "$0" && mount -t tmpfs -o size=64k none "$0" && exec "$@"' %t.disk"""
config.substitutions += [
    ("%photofinish", photofinish),
    ("%FileCheck", os.path.join(config.llvm_tools, "FileCheck")),
    ("%examples", config.examples),
    ("%exits", """bash -c '"$@"; got=$?; [ $got = $0 ] || { echo "exit code $got, expected $0" >&2; exit 1; }'"""),
    ("%refuses", helper("refuses")),
    ("%tty", f"{sys.executable} {helper('tty')}"),
    ("%contract", f"{sys.executable} {helper('contract.py')}"),
    ("%nobody", " ".join(nobody)),
    ("%in-small-disk", " ".join(unshare) + " " + mount),
    ("%python", sys.executable),
    ("%run", os.path.join(tree, "bin", "photofinish") + " run"),
    ("%tree", tree),
    ("%fake", f"{sys.executable} {helper('run/fake.py')}"),
    ("%cxx", config.cxx),
    ("%cc", "cc"),
]
