# The lit suite of the command line: each .test file says in RUN lines what is typed and, by FileCheck, what comes out.
#
# Substitutions: %photofinish, %FileCheck, %examples, %python, and
#   %exits CODE COMMAND...   expects that exit code
#   %refuses COMMAND...      expects exit code 2 and one line of error, which it prints; nothing else
#   %tty COMMAND...          runs it on a terminal
#   %contract [CHAIN...]     checks JSON lines against the contract and prints them a field a line
#   %nobody COMMAND...       runs it as a user who may read nothing (where `nobody` is a feature)
#   %in-small-disk COMMAND.. runs it with a disk of 64 KiB at %t.disk (where `small-disk` is a feature)
# `not` and `FileCheck` are on the PATH.
import os
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
]
