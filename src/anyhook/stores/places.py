"""Where anyhook's own files are. It creates folders for their owner only, and nothing else."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def _base(env: Mapping[str, str], variable: str, fallback: str) -> str:
    value = env.get(variable, "")
    # A relative value is ignored: it would let the current folder, which may be a cloned project, hold our records.
    return value if value.startswith("/") else f"{env.get('HOME') or '/'}/{fallback}"


def state_dir(env: Mapping[str, str]) -> str:
    """Approvals, journal, compiled plans."""
    return _base(env, "XDG_STATE_HOME", ".local/state") + "/anyhook"


def config_file(env: Mapping[str, str]) -> str:
    """The user's settings."""
    return _base(env, "XDG_CONFIG_HOME", ".config") + "/anyhook/config.toml"


def write_private(path: str, data: bytes) -> None:
    """Replaces a file as a whole, readable by its owner only: a reader sees the old bytes or the new ones."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    temporary = f"{path}.{os.getpid()}.{os.urandom(4).hex()}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
