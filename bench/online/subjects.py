"""The programs that are measured: how each is built, what it is given to do, and how the result is checked.

A subject is built in a copy of its source, unchanged, with the compilers of a flavour. A run leaves a checksum, which must
be the same in all flavours; for compressors it is the checksum of the data after decompression by the native program.
"""
import hashlib
import json
import os
import random
import re
import shutil
import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from common import CACHE, Failure
from debian import source
from flavours import NATIVE
from process import run, started

HERE = Path(__file__).resolve().parent
ONLINE = CACHE / "online"
MIB = 1 << 20


@dataclass
class Usage:
    """What one run took. `seconds` is what the user waited; the rest is of the program itself, without what started it."""

    seconds: float
    wall: float
    processor: float
    rss: int  # KiB

    @staticmethod
    def read(path, seconds=None):
        values = json.loads(Path(path).read_text())
        return Usage(values["wall"] if seconds is None else seconds, values["wall"], values["user"] + values["system"],
                     values["rss"])


class Subject:
    """`size` is the amount of work, half a second or a second of it; `quick` that of a quick run, about a quarter."""

    package = None

    def __init__(self, name, size, quick=None):
        self.name, self.size, self.quick = name, size, quick or size // 4

    def folder(self, flavour):
        return ONLINE / flavour.build / self.name

    def build(self, flavour, again=False):
        """Builds unless it was built before by the same compilers and command lines."""
        folder, steps = self.folder(flavour), self.steps(flavour)
        stamp, recipe = folder / ".built", repr((steps, flavour.compilers(), *flavour.linked()))
        if not again and stamp.exists() and stamp.read_text() == recipe:
            return
        shutil.rmtree(folder, ignore_errors=True)
        self.unpack(folder)
        for step in steps:
            run(["nice", *step], folder, flavour.compilers(), timeout=1800)
        stamp.write_text(recipe)

    def unpack(self, folder):
        shutil.copytree(source(self.package), folder, symlinks=True)

    def steps(self, flavour):
        """The command lines that build it."""
        raise NotImplementedError

    def part(self, divisor):
        """The size that takes that fraction of the work."""
        return max(1, self.size // divisor)

    def measure(self, flavour, threads, size, folder, limit=600):
        """One run in an empty folder, of at most `limit` seconds: its Usage and checksum."""
        wrapped = flavour.command([tool("rss"), folder / "usage", *self.command(flavour, threads, size, folder)], folder)
        output, seconds = run(wrapped, folder, flavour.environment(folder), flavour.exit_codes(), limit)
        return Usage.read(folder / "usage", seconds), self.checksum(output, folder)

    def command(self, flavour, threads, size, folder):
        raise NotImplementedError

    def time(self, usage):
        """Of the work alone, without what starts the program."""
        return usage.wall

    def checksum(self, output, folder):
        return expect(r"checksum (\d+)", output)


class Micro(Subject):
    def unpack(self, folder):
        shutil.copytree(HERE / "micro", folder)

    def steps(self, flavour):
        return [[*flavour.cxx.split(), "-O2", "-g", "-std=c++20", "-pthread", f"{self.name}.cpp", "-o", self.name]]

    def command(self, flavour, threads, size, folder):
        return [self.folder(flavour) / self.name, threads, size]


class Matmul(Micro):
    def part(self, divisor):
        return round(self.size / divisor ** (1 / 3))


class Compressor(Subject):
    """Compresses `size` bytes of text, a file named `data`."""

    program = None

    def options(self, threads):
        raise NotImplementedError

    def command(self, flavour, threads, size, folder):
        return [self.folder(flavour) / self.program, *self.options(threads), "data"]

    def measure(self, flavour, threads, size, folder, limit=600):
        shutil.copyfile(text(size), folder / "data")
        return super().measure(flavour, threads, size, folder, limit)

    def checksum(self, output, folder):
        (folder / "data").unlink()
        [packed] = folder.glob("data.*")
        run([self.folder(NATIVE) / self.program, "-d", packed.name], folder)
        return digest(folder / "data")


class Pbzip2(Compressor):
    """With a libbz2 of its own, since that is where the work is."""

    package, program = "pbzip2", "pbzip2"

    def unpack(self, folder):
        super().unpack(folder)
        shutil.copytree(source("bzip2"), folder / "bzip2", symlinks=True)

    def steps(self, flavour):
        return [["make", "-C", "bzip2", "-j2", "libbz2.a", f"CC={flavour.cc}", "CFLAGS=-O2 -g -D_FILE_OFFSET_BITS=64"],
                ["cp", "bzip2/libbz2.a", "bzip2/bzlib.h", "."],
                ["make", "pbzip2-static", "LDLIBS=-lpthread", "CPPFLAGS=-std=gnu++98"]]

    def options(self, threads):
        return ["-k", "-5", "-b5", f"-p{threads}"]


class Zstd(Compressor):
    package, program = "libzstd", "programs/zstd"

    def steps(self, flavour):
        return [["make", "-C", "programs", "-j2", "zstd", f"CC={flavour.cc}", "CFLAGS=-O2 -g", "HAVE_ZLIB=0", "HAVE_LZMA=0",
                 "HAVE_LZ4=0"]]

    def options(self, threads):
        return ["-q", "-k", "-9", f"-T{threads}"]


class Xz(Compressor):
    package, program = "xz-utils", "src/xz/xz"

    def steps(self, flavour):
        return [["./configure", "--quiet", "--disable-shared", "--disable-nls", "--disable-scripts", "--disable-doc",
                 "--disable-xzdec", "--disable-lzmadec", "--disable-lzmainfo", "--disable-lzma-links"],
                ["make", "-s", "-j2"]]

    def options(self, threads):
        return ["-q", "-k", "-1", "--block-size=1MiB", f"-T{threads}"]


class Leveldb(Subject):
    package = "leveldb"

    def steps(self, flavour):
        return [["cmake", "-S", ".", "-B", "out", "-DCMAKE_BUILD_TYPE=None", "-DLEVELDB_BUILD_TESTS=OFF", "-DHAVE_SNAPPY=OFF",
                 "-DHAVE_CRC32C=OFF", "-DHAVE_TCMALLOC=OFF"],
                ["cmake", "--build", "out", "--target", "db_bench", "-j", "2"]]

    def command(self, flavour, threads, size, folder):
        return [self.folder(flavour) / "out" / "db_bench", "--benchmarks=fillrandom,readrandom", f"--num={size // threads}",
                f"--threads={threads}", f"--db={folder}/db"]

    def checksum(self, output, folder):
        return expect(r"readrandom .*\((\d+ of \d+) found\)", output)


class Memcached(Subject):
    """A server under the load of eight connections, with as many worker threads as asked for.

    Time is that of the load, memory that of the server.
    """

    package = "memcached"
    connections = 8

    def steps(self, flavour):
        return [["./configure", "--quiet", "--disable-docs"], ["make", "-s", "-j2", "memcached"]]

    def measure(self, flavour, threads, size, folder, limit=600):
        port = free_port()
        server = [self.folder(flavour) / "memcached", "-l", "127.0.0.1", "-p", port, "-U", "0", "-t", threads, "-P",
                  folder / "pid", *(["-u", "root"] if os.geteuid() == 0 else [])]
        wrapped = flavour.command([tool("rss"), folder / "usage", *server], folder)
        with started(wrapped, folder, flavour.environment(folder)) as process:
            wait_for(port, process)
            (folder / "load").mkdir()
            output, _ = run([tool("load"), port, self.connections, size // self.connections], folder / "load",
                            timeout=limit)
            os.kill(int((folder / "pid").read_text()), signal.SIGTERM)
            code = process.wait(60)
        if code not in flavour.exit_codes():
            raise Failure(f"memcached ended with exit code {code}")
        return Usage.read(folder / "usage", float(expect(r"seconds ([\d.]+)", output))), self.checksum(output, folder)

    def time(self, usage):
        return usage.seconds


SUBJECTS = [
    Pbzip2("pbzip2", 20 * MIB),
    Zstd("zstd", 64 * MIB),
    Xz("xz", 16 * MIB),
    Leveldb("leveldb", 200_000),
    Memcached("memcached", 300_000),
    Micro("stencil", 4000),
    Matmul("matmul", 1000, quick=600),
    Micro("hashmap", 20_000_000),
    Micro("counter", 25_000_000),
    Micro("queue", 50_000_000),
]


def tool(name):
    """A small program of the benchmark itself, compiled when its source is newer."""
    binary, origin = ONLINE / "bin" / name, HERE / f"{name}.c"
    if not binary.exists() or binary.stat().st_mtime < origin.stat().st_mtime:
        binary.parent.mkdir(parents=True, exist_ok=True)
        run(["clang-19", "-O2", "-static", "-pthread", origin, "-o", binary], binary.parent)
    return binary


def text(size):
    """A file of words, the frequent ones more often, always the same for a size."""
    path = ONLINE / "data" / f"text-{size}"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_suffix(".part")
        scratch.write_bytes(words_of(size))
        scratch.rename(path)
    return path


def words_of(size):
    draw = random.Random(1)
    words = ["".join(draw.choices("etaoinshrdlucmfwypvbgkjqxz", range(26, 0, -1), k=draw.randint(2, 11))) for _ in range(20_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    parts, length = [], 0
    while length < size:
        part = " ".join(draw.choices(words, weights, k=10_000)) + "\n"
        parts.append(part)
        length += len(part)
    return "".join(parts).encode()[:size]


def digest(path):
    with open(path, "rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()[:16]


def expect(pattern, output):
    found = re.search(pattern, output)
    if not found:
        raise Failure(f"no '{pattern}' in the output: {output.strip()[-200:]}")
    return found[1]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(port, process, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise Failure("the server does not answer")
