"""Newer versions of anyhook, where the person has named a source: a folder with wheels, a package index, or a git
repository. What is found is unpacked into a temporary folder. It is not installed, and none of it runs here."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html.parser import HTMLParser
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from urllib.parse import urldefrag, urljoin, urlsplit
from urllib.request import Request, urlopen
from zipfile import BadZipFile, ZipFile

from anyhook import __version__
from anyhook.install.packages import BadPackage, checkout, git, is_repository, split_revision
from anyhook.model.record import Record

WHEEL = re.compile(r"anyhook-(\d+(?:\.\d+)*)-py3-none-[\w.]+\.whl")
TAG = re.compile(r"refs/tags/(v?(\d+(?:\.\d+)*))")
VERSION = re.compile(r'^__version__ = "([\w.]+)"$', re.MULTILINE)
OLDEST_PYTHON = re.compile(r">=\s*(\d+)\.(\d+)")
MAX_FETCHED = 64 << 20
FETCH_S = 60.0


class CannotLook(Exception):  # noqa: N818 (it says what is wrong)
    """Why a source cannot be read."""


class Found(Record):
    """The newest version at a source."""

    version: str
    folder: str
    """Where the package `anyhook` is unpacked; "" if it is not newer than the one that runs."""
    words: tuple[str, ...]
    """What `pip install` is given."""


def rank(version: str) -> tuple[int, ...]:
    """What versions are compared by; the lowest for anything but a final one."""
    if not re.fullmatch(r"\d+(?:\.\d+)*", version):
        return ()
    numbers = [int(part) for part in version.split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return (1, *numbers)


def is_newer(version: str) -> bool:
    return rank(version) > rank(__version__)


@contextmanager
def newest_at(source: str) -> Iterator[Found]:
    """The newest final version at a source. Raises CannotLook."""
    try:
        with TemporaryDirectory(prefix="anyhook-newer-") as name:
            place = os.path.expanduser(source)
            if os.path.isdir(place) and not is_repository(place):
                yield _in_folder(os.path.realpath(place), name)
            elif urlsplit(source).scheme in ("http", "https") and not source.endswith(".git"):
                yield _in_index(source.rstrip("/") + "/", name)
            else:
                with _in_repository(place.removeprefix("git+")) as found:
                    yield found
    except BadPackage as why:
        raise CannotLook(str(why).rstrip(".")) from None
    except (OSError, ValueError, BadZipFile) as error:  # urllib raises both
        raise CannotLook(str(getattr(error, "reason", None) or getattr(error, "strerror", None) or error)) from None


def _best(names: Sequence[str]) -> str:
    """The wheel of the newest version; of several, any has the same package."""
    wheels = [(rank(match[1]), name) for name in names if (match := WHEEL.fullmatch(name))]
    if not wheels:
        raise CannotLook("it has no wheel of anyhook for this Python")
    return max(wheels)[1]


def _in_folder(folder: str, into: str) -> Found:
    wheel = _best(os.listdir(folder))
    return _unpacked(wheel, f"{folder}/{wheel}", into, ("--find-links", folder))


def _unpacked(wheel: str, path: str, into: str, where: tuple[str, str]) -> Found:
    version = wheel.split("-")[1]
    words = (*where, f"anyhook=={version}")
    if not is_newer(version):
        return Found(version, "", words)
    with ZipFile(path) as file:
        mine = [each for each in file.infolist() if each.filename.startswith("anyhook/")]
        if sum(each.file_size for each in mine) > MAX_FETCHED:
            raise CannotLook(f"{wheel} is larger than {MAX_FETCHED >> 20} MB")
        for each in mine:
            file.extract(each, into)
    return Found(version, into, words)


class _Links(HTMLParser):
    """The files that a page of a package index has for this Python: https://packaging.python.org/specifications/
    simple-repository-api."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        oldest = OLDEST_PYTHON.search(said.get("data-requires-python") or "")
        fits = oldest is None or sys.version_info >= (int(oldest[1]), int(oldest[2]))
        if tag == "a" and said.get("href") and "data-yanked" not in said and fits:
            self.found.append(str(said["href"]))


def _in_index(index: str, into: str) -> Found:
    at, page = _fetched(f"{index}anyhook/", "text/html")
    links = _Links()
    links.feed(page.decode("utf-8", "replace"))
    urls = {os.path.basename(urlsplit(link).path): urljoin(at, link) for link in links.found}
    wheel = _best([*urls])
    path = f"{into}/{wheel}"
    if is_newer(wheel.split("-")[1]):
        url, wanted = urldefrag(urls[wheel])
        _, data = _fetched(url, "*/*")
        kind, _, digest = wanted.partition("=")
        if kind in hashlib.algorithms_guaranteed and hashlib.new(kind, data).hexdigest() != digest:
            raise CannotLook(f"{wheel} is not what the index says: another {kind}")
        with open(path, "wb") as file:
            file.write(data)
    return _unpacked(wheel, path, into, ("--index-url", index))


def _fetched(url: str, kind: str) -> tuple[str, bytes]:
    """Where a redirect led, and what is there."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise CannotLook(f"{url} is not on the web")
    with urlopen(Request(url, headers={"Accept": kind}), timeout=FETCH_S) as answer:  # noqa: S310 (asked for above)
        data = answer.read(MAX_FETCHED + 1)
        if len(data) > MAX_FETCHED:
            raise CannotLook(f"{url} is larger than {MAX_FETCHED >> 20} MB")
        return answer.url, data


@contextmanager
def _in_repository(source: str) -> Iterator[Found]:
    """At the revision that the source names; else at the tag with the newest version; else at the newest commit."""
    address, revision = split_revision(source)
    if not revision:
        tags = TAG.findall(git("ls-remote", "--tags", "--", address))
        revision, version = max(tags, key=lambda tag: rank(tag[1]), default=("", ""))
        if version and not is_newer(version):
            yield Found(version, "", ())
            return
    with checkout(address, revision) as (tree, commit):
        try:
            with open(f"{tree}/src/anyhook/__init__.py", encoding="utf-8") as file:
                named = VERSION.search(file.read())
        except OSError:
            named = None
        if named is None:
            raise CannotLook("this repository is not anyhook's: src/anyhook/__init__.py names no version")
        newer = f"{tree}/src" if is_newer(named[1]) else ""
        where = re.sub(r"^([\w.-]+@[\w.-]+):", r"ssh://\1/", address)
        where = where if "://" in where else f"file://{os.path.realpath(where)}"
        yield Found(named[1], newer, (f"anyhook @ git+{where}@{revision or commit}",))


def install_line(found: Found) -> str:
    """The line that installs it with what has installed this anyhook."""
    *where, _ = found.words
    what, python = shlex.join(found.words), shlex.quote(sys.executable)
    if os.path.exists(f"{sys.prefix}/uv-receipt.toml"):
        return f"uv tool install --force {what}"
    if os.path.exists(f"{sys.prefix}/pipx_metadata.json"):
        arguments = shlex.quote(f"--pip-args={shlex.join(where)}")
        return f"pipx install --force {arguments} {shlex.quote(found.words[-1])}"
    return f"{python} -m pip install {what}" if find_spec("pip") else f"uv pip install --python {python} {what}"
