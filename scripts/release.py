"""`make release`: what is published, made from the last commit, into dist/: wheels, the source package, an SBOM and
checksums. Everything is built twice and must be the same, byte for byte. Then the pure wheel is installed in an empty
home, without a network, from a folder that serves as the index, and used."""

from __future__ import annotations

import hashlib
import json
import os
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


def run(*words: str, **env: str) -> str:
    done = subprocess.run(
        words, env={**os.environ, **env}, capture_output=True, text=True, timeout=LIMIT_S, check=False
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


def tried(out: Path) -> None:
    """The pure wheel, in an empty home, without a network, from a folder as the index."""
    with tempfile.TemporaryDirectory() as name:
        home, index = Path(name, "home"), Path(name, "index")
        home.mkdir()
        wheel = next(out.glob("*-none-any.whl"))
        run(sys.executable, "-m", "pip", "download", "-q", "-d", str(index), str(wheel))
        run(sys.executable, "-m", "venv", f"{name}/venv")
        offline = {"HOME": str(home), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index), "PIP_CONFIG_FILE": os.devnull}
        run(f"{name}/venv/bin/pip", "install", "-q", "anyhook", **offline)
        command = f"{name}/venv/bin/anyhook"
        run(command, "add", "guard", "--yes", HOME=str(home))
        said = subprocess.run(
            [command, "try", "git push --force"], env={**os.environ, "HOME": str(home)}, cwd=home, check=False,
            capture_output=True, timeout=LIMIT_S,
        )  # fmt: skip
        if said.returncode != 2:
            raise SystemExit(f"release: the installed guards do not refuse: {said.stdout.decode()}")


def main() -> None:
    if run("git", "-C", str(ROOT), "status", "--porcelain"):
        raise SystemExit("release: the tree has changes. Commit them first.")
    targets = (PURE, *PLATFORMS) if "--pure" not in sys.argv[1:] else (PURE,)
    epoch = run("git", "-C", str(ROOT), "log", "-1", "--format=%ct").strip()
    with tempfile.TemporaryDirectory() as name:
        found: list[dict[str, str]] = []
        for number in ("one", "two"):
            tree, out = Path(name, number, "tree"), Path(name, number, "out")
            tree.mkdir(parents=True)
            out.mkdir()
            archive = Path(name, "tree.tar")
            run("git", "-C", str(ROOT), "archive", "-o", str(archive), "HEAD")
            with tarfile.open(archive) as file:
                file.extractall(tree, filter="data")
            built(tree, out, epoch, targets)
            found.append(sums(out))
        different = [each for each in found[0] if found[0][each] != found[1].get(each)]
        if different or found[0].keys() != found[1].keys():
            raise SystemExit(f"release: not the same when built twice: {', '.join(different) or 'the names'}")
        Path(out, "sbom.cdx.json").write_text(sbom(next(out.glob("*-none-any.whl")), epoch))
        tried(out)
        Path(out, "SHA256SUMS").write_text("".join(f"{digest}  {each}\n" for each, digest in sums(out).items()))
        shutil.copytree(out, ROOT / "dist", dirs_exist_ok=True)
    print(Path(ROOT, "dist", "SHA256SUMS").read_text(), end="")


if __name__ == "__main__":
    main()
