"""`make release`: what is published, made from the last commit, into dist/: wheels, the source package, an SBOM and
checksums, and the Homebrew formula. Everything is built twice and must be the same, byte for byte. Then every wheel
that fits this machine is installed with each installer in an empty home, without a network, from a folder that serves
as the index, and used."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
PURE, PLATFORMS = "off", ("x86_64-linux-musl", "aarch64-linux-musl")
LIMIT_S = 900
INSTALLERS = {
    "pip": ("{place}/venv/bin/pip install -q anyhook", "{place}/venv/bin/anyhook"),
    "pipx": ("{tools}/pipx install -q --python {python} anyhook", "{home}/.local/bin/anyhook"),
    "uv tool": ("{tools}/uv tool install -q anyhook", "{home}/.local/bin/anyhook"),
    "uvx": ("", "{tools}/uvx -q anyhook"),
}
"""How people install it: the line that does, and the command then."""


def run(*words: str, alone: dict[str, str] | None = None, **env: str) -> str:
    """Its output; `alone` is the whole environment instead of an addition to ours."""
    done = subprocess.run(
        words, env=alone or {**os.environ, **env}, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"release: {' '.join(words)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def built(tree: Path, out: Path, epoch: str, targets: tuple[str, ...]) -> None:
    """All wheels and the source package of a tree."""
    for target in targets:
        run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(out), str(tree),
            ANYHOOK_LAUNCHER=target, SOURCE_DATE_EPOCH=epoch)  # fmt: skip
    code = (
        "import os, sys; os.chdir(sys.argv[1]); import hatchling.build as build; print(build.build_sdist(sys.argv[2]))"
    )
    with tempfile.TemporaryDirectory() as name:
        run(sys.executable, "-m", "venv", name)
        run(f"{name}/bin/pip", "install", "-q", "hatchling")
        run(f"{name}/bin/python", "-c", code, str(tree), str(out), SOURCE_DATE_EPOCH=epoch)


def sums(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def sbom(wheel: Path, epoch: str) -> str:
    """The wheel and what it needs, as CycloneDX 1.5: https://cyclonedx.org/docs/1.5/json/."""
    with ZipFile(wheel) as file:
        name = next(each for each in file.namelist() if each.endswith(".dist-info/METADATA"))
        lines = file.read(name).decode().splitlines()
    fields = [line.partition(": ") for line in lines[: lines.index("") if "" in lines else None]]
    version = next(value for key, _, value in fields if key == "Version")
    needed = [value for key, _, value in fields if key == "Requires-Dist" and "extra ==" not in value]
    parts = []
    for each in needed:
        name = each.partition(">")[0].partition("=")[0].strip()
        parts.append({"type": "library", "name": name, "purl": f"pkg:pypi/{name.lower()}", "description": each})
    main = {
        "type": "application", "name": "anyhook", "version": version, "purl": f"pkg:pypi/anyhook@{version}",
        "licenses": [{"license": {"id": "MIT"}}],
    }  # fmt: skip
    made = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "components": parts}
    component = {"component": main, "properties": [{"name": "anyhook:source-date-epoch", "value": epoch}]}
    return json.dumps({**made, "metadata": component}, indent=1, sort_keys=True)


def formula(source: Path) -> str:
    """The Homebrew formula, with the version and the checksum of the source package."""
    version = source.name.removeprefix("anyhook-").removesuffix(".tar.gz")
    text = Path(ROOT, "packaging", "anyhook.rb").read_text()
    return text.replace("@VERSION@", version).replace("@SHA256@", hashlib.sha256(source.read_bytes()).hexdigest())


def tried(out: Path) -> list[str]:
    """Every wheel that fits this machine, with each installer, in an empty home, without a network, from a folder as
    the index. Returns what was tried."""
    done = []
    with tempfile.TemporaryDirectory() as name:
        fitting = ("any", platform.machine()) if sys.platform == "linux" else ("any",)
        wheels = [each for each in sorted(out.glob("*.whl")) if each.stem.endswith(fitting)]
        run(sys.executable, "-m", "pip", "download", "-q", "-d", f"{name}/needed", str(wheels[0]))
        Path(name, "needed", wheels[0].name).unlink()
        run(sys.executable, "-m", "venv", f"{name}/tools")
        run(f"{name}/tools/bin/pip", "install", "-q", "uv", "pipx")
        for wheel in wheels:
            for installer in INSTALLERS:
                with tempfile.TemporaryDirectory(dir=name) as place:
                    shutil.copytree(f"{name}/needed", f"{place}/index")
                    shutil.copy(wheel, f"{place}/index")
                    _installed(installer, place, f"{name}/tools/bin")
                done.append(f"{wheel.name}: {installer}")
    return done


def _installed(installer: str, place: str, tools: str) -> None:
    """Installs anyhook and lets its guards judge a call. Only the PATH is taken from this environment."""
    home, index = f"{place}/home", f"{place}/index"
    os.mkdir(home)
    env = {
        "HOME": home, "PATH": os.environ["PATH"],
        "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": index, "PIP_CONFIG_FILE": os.devnull,
        "UV_NO_INDEX": "1", "UV_FIND_LINKS": index, "UV_OFFLINE": "1", "UV_NO_CONFIG": "1", "UV_PYTHON": sys.executable,
    }  # fmt: skip
    words, command = INSTALLERS[installer]
    known = {"tools": tools, "place": place, "home": home, "python": sys.executable}
    if installer == "pip":
        run(sys.executable, "-m", "venv", f"{place}/venv")
    if words:
        run(*words.format(**known).split(), alone=env)
    anyhook = command.format(**known).split()
    run(*anyhook, "add", "guard", "--yes", alone=env)
    said = subprocess.run(
        [*anyhook, "try", "git push --force"], env=env, cwd=home, check=False, capture_output=True, timeout=LIMIT_S
    )
    if said.returncode != 2:
        raise SystemExit(f"release: the guards installed by {installer} do not refuse: {said.stdout.decode()}")


def main() -> None:
    if run("git", "-C", str(ROOT), "status", "--porcelain"):
        raise SystemExit("release: the tree has changes. Commit them first.")
    targets = (PURE, *PLATFORMS) if "--pure" not in sys.argv[1:] else (PURE,)
    commit, epoch = run("git", "-C", str(ROOT), "log", "-1", "--format=%H %ct").split()
    with tempfile.TemporaryDirectory() as name:
        found: list[dict[str, str]] = []
        for number in ("one", "two"):
            tree, out = Path(name, number, "tree"), Path(name, number, "out")
            tree.mkdir(parents=True)
            out.mkdir()
            archive = Path(name, "tree.tar")
            run("git", "-C", str(ROOT), "archive", "-o", str(archive), commit)
            with tarfile.open(archive) as file:
                file.extractall(tree, filter="data")
            built(tree, out, epoch, targets)
            found.append(sums(out))
        different = [each for each in found[0] if found[0][each] != found[1].get(each)]
        if different or found[0].keys() != found[1].keys():
            raise SystemExit(f"release: not the same when built twice: {', '.join(different) or 'the names'}")
        Path(out, "sbom.cdx.json").write_text(sbom(next(out.glob("*-none-any.whl")), epoch))
        Path(out, "anyhook.rb").write_text(formula(next(out.glob("*.tar.gz"))))
        done = tried(out)
        Path(out, "SHA256SUMS").write_text("".join(f"{digest}  {each}\n" for each, digest in sums(out).items()))
        shutil.copytree(out, ROOT / "dist", dirs_exist_ok=True)
    print(Path(ROOT, "dist", "SHA256SUMS").read_text(), end="")
    print("\n".join(f"installed without a network, and it refuses: {each}" for each in done))


if __name__ == "__main__":
    main()
