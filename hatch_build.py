"""The build hook: a wheel for a platform has the native launcher as `anyhook`, with the script beside it as
`anyhook-python`. A pure wheel has the script alone, and everything works with it, more slowly. Every wheel has the
conformance vectors in one file: as they are, they would take more room than the rest.

`ANYHOOK_LAUNCHER` says which: `auto` (the default) takes `musl-gcc`, or the system's C compiler if it can link
statically (such a program starts more slowly); `off` makes a pure wheel; a target such as `x86_64-linux-musl` takes the
`ziglang` package, which builds for other machines.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TAGS = {
    "x86_64-linux-musl": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "aarch64-linux-musl": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
}
"""Targets, and the platforms that a static program for each runs on."""


VECTORS = "anyhook/extra/testing/conformance/vectors"


class LauncherHook(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        return ["ziglang>=0.14"] if _wanted() in TAGS else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        script = str(Path(self.root, "scripts", "anyhook"))
        build_data["shared_scripts"][script] = "anyhook"
        if version != "editable":
            build_data["force_include"][str(_packed(Path(self.root)))] = f"{VECTORS}.zip"
        wanted = _wanted()
        program = Path(self.root, "build", "launcher", wanted)
        if wanted == "off" or (wanted == "auto" and sys.platform != "linux"):
            return
        if wanted not in (*TAGS, "auto"):
            raise SystemExit(f"ANYHOOK_LAUNCHER={wanted}: must be auto, off or one of {', '.join(TAGS)}")
        program.parent.mkdir(parents=True, exist_ok=True)
        if wanted == "auto":
            if not any(_compiled([compiler, "-static"], self.root, program) for compiler in ("musl-gcc", "cc")):
                return
            platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        else:
            if not _compiled([sys.executable, "-m", "ziglang", "cc", "-target", wanted, "-static"], self.root, program):
                raise SystemExit("the launcher could not be built")
            platform = TAGS[wanted]
        build_data["shared_scripts"].update({str(program): "anyhook", script: "anyhook-python"})
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"


def _packed(root: Path) -> Path:
    """The vectors in one file, with the same bytes in every build."""
    folder, packed = root / "src" / VECTORS, root / "build" / "vectors.zip"
    packed.parent.mkdir(exist_ok=True)
    with ZipFile(packed, "w", ZIP_DEFLATED) as file:
        for path in sorted(folder.rglob("*.json")):
            file.writestr(ZipInfo(path.relative_to(folder).as_posix()), path.read_bytes(), ZIP_DEFLATED)
    return packed


def _wanted() -> str:
    return os.environ.get("ANYHOOK_LAUNCHER", "auto")


def _compiled(compiler: list[str], root: str, program: Path) -> bool:
    sources = [str(path) for path in sorted(Path(root, "native").glob("*.c"))]
    try:
        done = subprocess.run(
            [*compiler, "-Os", "-s", "-Wall", "-Wextra", "-o", str(program), *sources], check=False, capture_output=True
        )
    except OSError:
        return False
    return done.returncode == 0
