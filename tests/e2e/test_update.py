"""`anyhook update`: what it finds at real sources (a folder, a package index over HTTP, a git repository), and
what it says about the person's own calls. The newer version is this one with another rule and another number."""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import pytest

import anyhook
from policy_box import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import World

SOURCE = Path(anyhook.__file__).parent
NEW_RULE = '\n[[rule]]\nname = "push"\nwhen = "runs git push"\nbecause = "Not now."\n'
WHEEL = "anyhook-{}-py3-none-any.whl"


def package(folder: Path, version: str) -> Path:
    """This package with another version, and a rule more."""
    made = folder / "anyhook"
    left_out = shutil.ignore_patterns("__pycache__", "vectors", "*.zip")
    shutil.copytree(SOURCE, made, ignore=left_out)
    text = (made / "__init__.py").read_text().replace(f'"{anyhook.__version__}"', f'"{version}"')
    (made / "__init__.py").write_text(text)
    with open(made / "rules/packs/git.toml", "a") as file:
        file.write(NEW_RULE)
    return made


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with wheels of versions 9.0, 9.10 and, which does not count, 10.0 before it is final."""
    root = tmp_path_factory.mktemp("newer")
    package(root / "tree", "9.10")
    folder = root / "wheels"
    folder.mkdir()
    with ZipFile(folder / WHEEL.format("9.10"), "w") as file:
        for path in sorted((root / "tree").rglob("*")):
            file.write(path, path.relative_to(root / "tree"))
    for version in ("9.0", "10.0rc1"):
        (folder / WHEEL.format(version)).write_bytes(b"never opened")
    return folder


@pytest.fixture
def past(world: World) -> World:
    """A person who has the pack `git`, and made three calls."""
    assert world.command("add", "git", "--yes").returncode == 0
    for line in ("ls", "git push", "git push --force"):
        world.fire("pre_tool", "--tool", "Bash", "--input", json.dumps({"command": line}))
    return world


def updated(world: World, *words: str, status: int = 0) -> dict[str, Any]:
    done = world.command("update", "--json", *words)
    assert (done.returncode, "Traceback" in done.stderr) == (status, False), done.stderr
    made: dict[str, Any] = json.loads(done.stdout)
    return made


def of_anyhook(world: World, source: object, *words: str) -> dict[str, Any]:
    (found,) = updated(world, "--from", str(source), "--sandbox", "none", *words)["newer"]
    assert (found["name"], found["there"], found["unjudged"]) == ("anyhook", "9.10", "")
    assert "git.toml: new: push" in found["rules"]
    assert (found["calls"], len(found["different"])) == (3, 1)
    (different,) = found["different"]
    assert (different["about"], different["now"], different["then"]) == ("git push", "", "blocks")
    install: str = found["install"]
    return {"install": install}


def test_without_a_source_it_looks_nowhere(past: World) -> None:
    done = past.command("update")
    assert (done.returncode, done.stdout) == (0, "")
    assert "No source for anyhook is named" in done.stderr


def test_a_folder_of_wheels(past: World, wheels: Path) -> None:
    found = of_anyhook(past, wheels)
    assert found["install"].endswith(f"install --find-links {wheels} anyhook==9.10")


def test_the_setting_names_a_source(past: World, wheels: Path) -> None:
    past.write(past.home / "config/anyhook/config.toml", f'update = "{wheels}"\n')
    done = past.command("update", "--sandbox", "none")
    assert done.returncode == 0, done.stderr
    assert "1 of your last 3 calls would be judged differently." in done.stdout
    assert "git push  would be refused" in done.stdout
    past.write(past.home / "config/anyhook/config.toml", "update = 3\n")
    assert "`update` must be a folder, or an address" in past.command("check").stdout


def test_it_leaves_the_persons_files_as_they_were(past: World, wheels: Path) -> None:
    def files() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in past.home.rglob("*") if path.is_file()}

    before = files()
    of_anyhook(past, wheels)
    assert files() == before


class Index:
    """A package index (PEP 503) on the loopback interface."""

    def __init__(self, root: Path, address: str) -> None:
        self.root, self.address = root, address

    def page(self, *links: str) -> None:
        (self.root / "simple/anyhook").mkdir(parents=True, exist_ok=True)
        (self.root / "simple/anyhook/index.html").write_text("<!DOCTYPE html>" + "\n".join(links))


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def index(tmp_path: Path, wheels: Path) -> Iterator[Index]:
    shutil.copytree(wheels, tmp_path / "files")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield Index(tmp_path, f"http://127.0.0.1:{server.server_port}/simple")
    server.shutdown()
    thread.join()
    server.server_close()


def link(version: str, wheels: Path, attributes: str = "", digest: str = "") -> str:
    name = WHEEL.format(version)
    digest = digest or hashlib.sha256((wheels / name).read_bytes()).hexdigest()
    return f'<a href="../../files/{name}#sha256={digest}" {attributes}>{name}</a>'


def test_a_package_index(past: World, index: Index, wheels: Path) -> None:
    later = f'<a href="../../files/{WHEEL.format("11.0")}" data-yanked="broken">…</a>'
    other = f'<a href="../../files/{WHEEL.format("12.0")}" data-requires-python="&gt;=3.99">…</a>'
    index.page(link("9.0", wheels), link("9.10", wheels, 'data-requires-python="&gt;=3.11"'), later, other)
    found = of_anyhook(past, index.address)
    assert found["install"].endswith(f"install --index-url {index.address}/ anyhook==9.10")


def test_a_wheel_that_is_not_what_the_index_says_is_not_used(past: World, index: Index, wheels: Path) -> None:
    index.page(link("9.10", wheels, digest="0" * 64))
    found = updated(past, "--from", index.address, status=1)
    assert found["newer"] == []
    assert "is not what the index says" in found["failed"][0]


def test_a_source_that_cannot_be_read_is_named(past: World, index: Index, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for source in (f"{index.address}/none", tmp_path / "empty", tmp_path / "gone", "http://user:secret@127.0.0.1:1/x"):
        found = updated(past, "--from", str(source), status=1)
        assert (found["newer"], len(found["failed"])) == ([], 1)


def test_a_git_repository(past: World, tmp_path: Path) -> None:
    folder = tmp_path / "repository"
    run("git", "init", "-q", str(folder))
    for version, tag in (("9.10", "v9.10"), ("9.20", "")):
        shutil.rmtree(folder / "src", ignore_errors=True)
        package(folder / "src", version)
        run("git", "-C", str(folder), "add", "-A")
        run("git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", version)
        if tag:
            run("git", "-C", str(folder), "tag", tag)
    found = of_anyhook(past, folder)
    assert found["install"].endswith(f"'anyhook @ git+file://{folder}@v9.10'")
    of_anyhook(past, f"{folder}@v9.10")
    run("git", "-C", str(folder), "tag", "v0.0.1")
    run("git", "-C", str(folder), "tag", "-d", "v9.10")
    found = updated(past, "--from", str(folder))
    assert (found["newer"], len(found["same"])) == ([], 1)


def test_nothing_newer(past: World, tmp_path: Path) -> None:
    (tmp_path / WHEEL.format(anyhook.__version__)).write_bytes(b"never opened")
    done = past.command("update", "--from", str(tmp_path))
    assert (done.returncode, done.stdout) == (0, f"anyhook {anyhook.__version__}: the newest version at {tmp_path} is "
                                                 f"{anyhook.__version__}.\n")  # fmt: skip


def test_without_a_sandbox_a_newer_version_does_not_run(past: World, wheels: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    git = shutil.which("git")
    assert git is not None
    (tmp_path / "bin/git").symlink_to(git)
    past.env["PATH"] = str(tmp_path / "bin")
    (found,) = updated(past, "--from", str(wheels))["newer"]
    assert "bubblewrap (`bwrap`) is not installed" in found["unjudged"]
    assert "git.toml: new: push" in found["rules"]


def test_a_package_of_rules_that_was_added(past: World, tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    folder.mkdir()
    (folder / "rules.toml").write_text('[[rule]]\nname = "release"\nwhen = "runs make release"\nbecause = "CI."\n')
    assert past.command("add", str(folder), "--yes").returncode == 0
    assert updated(past) == {"newer": [], "same": [f"acme: as at {folder}."], "failed": []}
    with open(folder / "rules.toml", "a") as file:
        file.write('[[rule]]\nname = "list"\nwhen = "runs ls"\nbecause = "No."\n')
    (found,) = updated(past)["newer"]
    assert (found["name"], found["rules"], found["calls"]) == ("acme", ["rules.toml: new: list"], 3)
    assert [each["about"] for each in found["different"]] == ["ls"]
    assert found["install"] == f"anyhook add {folder}"
    assert past.fire("pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}')["verdict"] == "none"
    assert past.command(*found["install"].split()[1:], "--yes").returncode == 0
    assert past.fire("pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}')["verdict"] == "block"
    shutil.rmtree(folder)
    assert updated(past, status=1)["failed"]
