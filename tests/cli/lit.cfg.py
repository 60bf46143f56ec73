# The lit suite of the command line: each .test file says in RUN lines what is typed and, by FileCheck, what comes out.
# Substitutions: %photofinish, %FileCheck, %examples, and %exits CODE COMMAND... to expect one exit code exactly;
# `not` and `FileCheck` are on the PATH.
import os

import lit.formats

config.name = "cli"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".test"]
config.test_source_root = os.path.dirname(__file__)

config.environment["PATH"] = os.pathsep.join([config.llvm_tools, os.environ["PATH"]])
for name, value in os.environ.items():
    if name == "LLVM_PROFILE_FILE" or name.endswith("SAN_OPTIONS"):
        config.environment[name] = value

config.substitutions += [
    ("%photofinish", os.path.join(config.bin_dir, "photofinish")),
    ("%FileCheck", os.path.join(config.llvm_tools, "FileCheck")),
    ("%examples", config.examples),
    ("%exits", """bash -c '"$@"; got=$?; [ $got = $0 ] || { echo "exit code $got, expected $0" >&2; exit 1; }'"""),
]
