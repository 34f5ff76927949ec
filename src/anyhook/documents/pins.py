"""What is pinned: `anyhook.lock` with the packages that `anyhook add` put next to a rule file, with the SHA-256 of each
of their files; and some keys of a JSON file, if an approval covers only those."""

from __future__ import annotations

import json
from collections.abc import Sequence

from anyhook.documents.files import Files

LOCK, FOLDER = "anyhook.lock", "packages"


def json_keys(data: bytes | str, keys: Sequence[str]) -> bytes:
    """Some keys of a JSON object, `type` or `scripts.test`, as an approval covers them."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        document = {}
    kept: dict[str, object] = {}
    for key in keys:
        value: object = document
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value is not None:
            kept[key] = value
    return json.dumps(kept, sort_keys=True, indent=1).encode()


def packages_in(folder: str, files: Files) -> dict[str, dict[str, str]]:
    """The packages of a folder: name → path in the package → SHA-256. A lock that cannot be read is a problem."""
    document = files.document(f"{folder}/{LOCK}", "json")
    listed = document.get("packages") if isinstance(document, dict) else None
    found: dict[str, dict[str, str]] = {}
    for name, pin in listed.items() if isinstance(listed, dict) else ():
        pinned = pin.get("files") if isinstance(pin, dict) else None
        if isinstance(pinned, dict) and _plain(name):
            found[name] = {path: str(digest) for path, digest in pinned.items()}
    return found


def changed_files(folder: str, pinned: dict[str, str], files: Files) -> list[str]:
    """The files of a package that are no longer what the lock pins, by their path in it."""
    return [path for path, digest in pinned.items() if files.digest(f"{folder}/{path}")[0] != digest]


def _plain(name: str) -> bool:
    return bool(name.strip(".")) and "/" not in name
