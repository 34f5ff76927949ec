"""Where the socket of a user's server is, for one installation, and whether a call may use one. `native/launcher.c`
computes the same paths."""

from __future__ import annotations

import os
import sys

from anyhook.platform.places import NoPlace, config_file, open_regular, runtime_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

VARIABLE = "ANYHOOK_WARM"
SCRIPTS = ("anyhook", "anyhook-python")
"""The command: the script alone, or the script next to the native launcher, which then has the first name."""
READ_AT_START = ("LC_", "LD_", "MALLOC_")
"""Prefixes of variables that the C library, or an isolated Python, reads before our first line."""
READ_BY_NAME = (b"LANG", b"LANGUAGE", b"LOCPATH", b"GLIBC_TUNABLES", b"GCONV_PATH")
NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts")
SEEN = ".seen"
OTHER_FILES = (".lock", SEEN)
"""The ends of names next to a socket."""
MAX_PATH = 107
"""The longest path of a socket, in bytes."""


def is_module(called: str) -> bool:
    """Whether the command was called as `python -m anyhook`."""
    return called.endswith("__main__.py")


def installation() -> str:
    """The folder of the command that was called, which identifies the installation."""
    script = os.path.realpath(sys.argv[0])
    if os.path.basename(script) not in SCRIPTS:
        script = os.path.join(os.path.realpath(os.path.dirname(sys.executable)), "anyhook")
    return os.path.dirname(script)


def checksum(text: str) -> str:
    return f"{_fnv(os.fsencode(text)):016x}"


def _fnv(data: bytes) -> int:
    """FNV-1a with 64 bits."""
    found = 0xCBF29CE484222325
    for byte in data:
        found = ((found ^ byte) * 0x100000001B3) & 0xFFFF_FFFF_FFFF_FFFF
    return found


def given_env() -> dict[bytes, bytes]:
    """The variables that this process was started with. `os.environ` has also what Python has added."""
    try:
        with open("/proc/self/environ", "rb") as file:
            return parse_env(file.read().split(b"\0"))
    except OSError:
        return dict(os.environb)  # this is not Linux, and there is no server


def parse_env(entries: Iterable[bytes]) -> dict[bytes, bytes]:
    """The variables of a process. If one is given twice, the first counts."""
    env: dict[bytes, bytes] = {}
    for entry in entries:
        name, equals, value = entry.partition(b"=")
        if name and equals:
            env.setdefault(name, value)
    return env


def surroundings(env: Mapping[bytes, bytes]) -> str:
    """A checksum of what a server must have in common with its callers and cannot take over: namespaces, cgroups, and
    how Python starts. A caller that differs has a server of its own."""
    data = b""
    for name in NAMESPACES:
        try:
            data += os.fsencode(os.readlink(f"/proc/self/ns/{name}"))
        except OSError:
            continue  # this system does not have it
    try:
        with open("/proc/self/cgroup", "rb", buffering=0) as file:
            data += file.read(4096)
    except OSError:
        pass
    found = _fnv(data) + sum([_fnv(b"%b=%b" % item) for item in read_at_start(env).items()])
    return f"{(found ^ (found & 0xFFFF_FFFF_FFFF_FFFF) >> 32) & 0xFFFF_FFFF:08x}"


def has_terminal() -> bool:
    """Whether this process has a controlling terminal, which a hook could open."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def socket_path(env: Mapping[str, str]) -> str:
    """The socket of the server for this call. Each session with a terminal has its own server, because a process cannot
    use another session's terminal."""
    session = f".{os.getsid(0)}" if has_terminal() else ""
    path = f"{runtime_dir(env)}/{checksum(installation())}-{surroundings(given_env())}{session}"
    if len(os.fsencode(path)) > MAX_PATH:
        raise NoPlace(f"{path} is too long for a socket")
    return path


def is_wanted(env: Mapping[str, str]) -> bool:
    """Whether this call may use a server: the variable decides, then the user's settings."""
    if (asked := env.get(VARIABLE)) in ("on", "off"):
        return asked == "on"
    try:
        with open_regular(config_file(env)) as file:
            text = file.read()
    except OSError:
        return True
    if b"warm" not in text:
        return True
    import tomllib

    try:
        return bool(tomllib.loads(text.decode()).get("warm") != "off")
    except (ValueError, RecursionError):
        return True  # the code that loads the settings reports it


def read_at_start(env: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """The variables that affect how Python starts."""
    starts = tuple(word.encode() for word in READ_AT_START)
    return {name: value for name, value in env.items() if name.startswith(starts) or name in READ_BY_NAME}
