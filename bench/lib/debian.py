"""Debian source packages, fetched and unpacked into the cache without touching the machine's own apt configuration.

The sources are those of the machine's apt, asked for source packages too, in a configuration of our own.
"""
import fcntl
import re
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

from common import CACHE, Failure

APT = CACHE / "apt"
SOURCES = CACHE / "sources"


def source(package):
    """The folder with the package's patched source."""
    return _cached(package, package, lambda folder: _unpack_all(package, folder))


def source_part(package, name, patterns):
    """A folder, kept as `name`, with only those files of the upstream tarball that match the patterns."""
    return _cached(package, name, lambda folder: _unpack_some(package, folder, patterns))


def _cached(package, name, unpack):
    target = SOURCES / name
    with _locked():
        if not target.exists():
            scratch = SOURCES / f"{name}.part"
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir(parents=True)
            try:
                unpack(scratch).rename(target)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
    return target


@contextmanager
def _locked():
    """Two benchmarks at a time do not unpack into each other's folder."""
    SOURCES.mkdir(parents=True, exist_ok=True)
    with open(SOURCES / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _unpack_all(package, folder):
    _apt_source(["--only-source", package], folder)
    return next(path for path in folder.iterdir() if path.is_dir())


def _unpack_some(package, folder, patterns):
    _apt_source(["--only-source", "--download-only", package], folder)
    tarball = next(folder.glob("*.orig.tar.*"))
    content = folder / "content"
    content.mkdir()
    _run(["tar", "-xf", tarball, "-C", content, "--strip-components=1", "--wildcards", *patterns], folder)
    return content


def _apt_source(arguments, folder):
    _configure()
    _run(["apt-get", "-q", "source", *arguments], folder)


def _configure():
    """Writes the configuration and fetches the lists, once."""
    if (APT / "apt.conf").exists():
        return
    for name in ("lists/partial", "cache/archives/partial", "parts"):
        (APT / name).mkdir(parents=True, exist_ok=True)
    _write_sources(Path("/etc/apt"))
    settings = {"Dir::Etc::SourceList": "/dev/null", "Dir::Etc::SourceParts": APT / "parts", "Dir::State::Lists": APT / "lists",
                "Dir::Cache": APT / "cache", "APT::Sandbox::User": "root"}
    scratch = APT / "apt.conf.part"
    scratch.write_text("".join(f'{key} "{value}";\n' for key, value in settings.items()))
    _run(["apt-get", "-q", "update"], APT, scratch)
    scratch.rename(APT / "apt.conf")


def _write_sources(etc):
    """The machine's sources, each as a source of source packages."""
    for path in [*etc.glob("sources.list.d/*.sources"), *etc.glob("sources.list.d/*.list"), etc / "sources.list"]:
        if path.exists():
            text = re.sub(r"^Types:.*", "Types: deb-src", path.read_text(), flags=re.MULTILINE)
            text = re.sub(r"^deb(-src)?\b", "deb-src", text, flags=re.MULTILINE)
            (APT / "parts" / path.name).with_suffix(path.suffix or ".list").write_text(text)


def _run(command, folder, configuration=APT / "apt.conf"):
    environment = {"APT_CONFIG": str(configuration), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}
    done = subprocess.run(["nice", *map(str, command)], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        last = done.stdout.strip().splitlines()[-1:] or ["no output"]
        raise Failure(f"{command[0]} {command[-1]}: {last[0]}")
