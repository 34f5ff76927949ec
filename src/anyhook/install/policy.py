"""A team's policy: a folder with a manifest that an ssh key has signed. A pull reads all of it, checks it, and then
puts it into place as a whole, by replacing one file, the index. Whatever fails before that leaves the last good
one."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from tempfile import TemporaryDirectory
from time import time_ns

from anyhook.documents.files import Files
from anyhook.documents.parse import repeated_key
from anyhook.documents.read import Unreadable, read_bytes
from anyhook.install.packages import BadPackage, checkout, split_revision, write_files
from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.model.words import HookScope
from anyhook.platform.locks import locked
from anyhook.platform.other_programs import ask
from anyhook.platform.places import NO_LINK, NO_WAIT, replace_file
from anyhook.state.policies import BROKEN, CURRENT, INDEX, STALE, BadEntry, Policy, is_name, policy_of

MANIFEST, SIGNATURE, NAMESPACE = "manifest.json", "manifest.json.sig", "anyhook-policy"
MAX_FILES, MAX_BYTES, MAX_ALL_BYTES = 500, 1 << 20, 16 << 20
MAX_SIGNATURES = 8
MAX_VERSION = 2**53
VERIFY_S = 20.0
LOCK, LOCK_S = ".lock", 60.0
PUBLIC_KEY = re.compile(r"(?:sk-)?(?:ssh|ecdsa)-[a-z0-9@.-]+ [A-Za-z0-9+/]+={0,2}")
"""An OpenSSH public key without its comment."""


class PolicyRefused(Exception):  # noqa: N818 (it says what is wrong)
    """Why a policy is not installed."""

    keeps = False
    """Whether an older version is installed, and stays."""


class Unreachable(PolicyRefused):
    """Its source cannot be reached."""


class BadKey(Exception):  # noqa: N818 (it says what is wrong)
    """A file that has no public key."""


class Fetched(Record):
    """A policy as it was found: all of its bytes, checked against its manifest, which is not yet known to be signed."""

    source: str
    name: str
    version: int
    manifest: bytes
    signatures: tuple[bytes, ...]
    files: Mapping[str, bytes]
    agents: Mapping[str, str]


def read_keys(path: str) -> tuple[str, ...]:
    """The public keys in a file, one on a line. Raises BadKey."""
    try:
        lines = read_bytes(path, MAX_BYTES).decode().splitlines()
    except (OSError, Unreadable, UnicodeDecodeError) as error:
        raise BadKey(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    keys = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    found = [PUBLIC_KEY.match(line) for line in keys]
    if not found or not all(found):
        raise BadKey(f"{path} is not an OpenSSH public key, as `ssh-keygen` writes it into a file that ends in .pub")
    return tuple(dict.fromkeys(key[0] for key in found if key))


def source_of(what: str) -> str:
    """A source as it is remembered: a local folder by its whole path."""
    place, sign, folder = _fragment(what)
    address, revision = split_revision(place)
    if not _is_remote(address):
        address = os.path.realpath(os.path.expanduser(address))
    return f"{address}{f'@{revision}' if revision else ''}{sign}{folder}"


def fetch(source: str) -> Fetched:
    """A policy at a source. Raises PolicyRefused."""
    place, _, folder = _fragment(source)
    address, revision = split_revision(place)
    if revision.startswith("-"):
        raise PolicyRefused(f"`{revision}` is not a revision")
    if folder and {"..", "", ".", ".git"} & {*folder.rstrip("/").split("/")}:
        raise PolicyRefused(f"`#{folder}` must name a folder inside the policy's repository")
    if not _is_remote(address) and not os.path.isdir(address):
        raise Unreachable(f"{address} is not a folder")
    is_plain = not _is_remote(address) and not revision and not os.path.isfile(f"{address}/HEAD")
    tree: AbstractContextManager[tuple[str, str]] = nullcontext((address, "")) if is_plain else _cloned(place)
    with tree as (top, _commit):
        at = os.path.join(top, folder) if folder else top
        if os.path.realpath(at) != os.path.join(os.path.realpath(top), folder).rstrip("/"):
            raise PolicyRefused(f"`#{folder}` is a link, or below one")
        if not os.path.isdir(at):
            raise PolicyRefused(f"{source} has no such folder")
        return _checked(source, dict(_read(at)))


@contextmanager
def _cloned(place: str) -> Iterator[tuple[str, str]]:
    try:
        with checkout(*split_revision(place)) as tree:
            yield tree
    except BadPackage as why:
        raise Unreachable(str(why)) from None


def _fragment(what: str) -> tuple[str, str, str]:
    return (what, "", "") if os.path.isdir(what) else what.partition("#")


def _is_remote(address: str) -> bool:
    return re.match(r"[\w+.-]+://|[\w.-]+@[\w.-]+:", address) is not None


def _read(folder: str) -> Iterator[tuple[str, bytes]]:
    """All files of a folder but `.git`. Whatever is not a plain file or folder with a plain name is refused."""
    count = size = 0
    for where, folders, names in os.walk(folder, onerror=_fail):
        folders[:] = sorted(name for name in folders if name != ".git" or where != folder)
        for name in [*folders, *sorted(names)]:
            path = os.path.join(where, name)
            inside = os.path.relpath(path, folder)
            if not _is_plain(name):
                raise PolicyRefused(f"the name of {inside!r} cannot be used")
            if name in folders and not os.path.islink(path):
                continue
            if inside == ".git":
                continue
            data = _bytes_of(path, inside)
            count, size = count + 1, size + len(data)
            if count > MAX_FILES or size > MAX_ALL_BYTES:
                raise PolicyRefused(f"it has more than {MAX_FILES} files or {MAX_ALL_BYTES >> 20} MB")
            yield inside, data


def _fail(error: OSError) -> None:
    raise Unreachable(f"{error.filename} cannot be read ({error.strerror})")


def _bytes_of(path: str, inside: str) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY | NO_WAIT | NO_LINK)
    except OSError as error:
        what = "is a link" if os.path.islink(path) else f"cannot be read ({error.strerror})"
        raise PolicyRefused(f"{inside} {what}") from None
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise PolicyRefused(f"{inside} is not a regular file")
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise PolicyRefused(f"{inside} is larger than {MAX_BYTES >> 20} MB")
    return data


def _is_plain(name: str) -> bool:
    return name.isprintable() and "\\" not in name and name == name.strip()


def _checked(source: str, found: dict[str, bytes]) -> Fetched:
    """The files, if they are exactly those of the manifest."""
    manifest = found.pop(MANIFEST, None)
    names = (SIGNATURE, *(f"{SIGNATURE}.{number}" for number in range(2, MAX_SIGNATURES + 1)))
    signatures = tuple(found.pop(name) for name in names if name in found)
    if manifest is None:
        raise PolicyRefused(f"it has no {MANIFEST}")
    name, version, pins, agents = _manifest(manifest)
    for path, data in found.items():
        if path not in pins:
            raise PolicyRefused(f"{path} is not in {MANIFEST}")
        if hashlib.sha256(data).hexdigest() != pins[path]:
            raise PolicyRefused(f"{path} is not what {MANIFEST} says")
    missing = sorted(pins.keys() - found.keys())
    if missing:
        raise PolicyRefused(f"{missing[0]} is missing, and {MANIFEST} lists it")
    folded = {unicodedata.normalize("NFC", path).casefold() for path in found}
    if len(folded) < len(found):
        raise PolicyRefused("two of its files have the same name where upper and lower case are one")
    if not signatures:
        raise PolicyRefused(f"it is not signed: it has no {SIGNATURE}")
    return Fetched(source, name, version, manifest, signatures, found, agents)


def _manifest(data: bytes) -> tuple[str, int, dict[str, str], dict[str, str]]:
    try:
        text = data.decode()
        document = json.loads(text)
        if repeated_key(text, document):
            raise ValueError
    except (ValueError, RecursionError):
        raise PolicyRefused(f"{MANIFEST} is not a JSON object, or has a key twice") from None
    said = document if isinstance(document, dict) else {}
    name, version, files, agents = said.get("name"), said.get("version"), said.get("files"), said.get("agents", {})
    if not isinstance(name, str) or not is_name(name):
        raise PolicyRefused(f"`name` in {MANIFEST} must be one word of letters, digits, dots, dashes and underscores")
    if type(version) is not int or not 0 <= version < MAX_VERSION:
        raise PolicyRefused(f"`version` in {MANIFEST} must be a whole number")
    return name, version, _texts("files", files), _texts("agents", agents)


def _texts(key: str, value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        raise PolicyRefused(f"`{key}` in {MANIFEST} must be an object of texts")
    return value


# Signatures


def signers(fetched: Fetched, keys: Sequence[str]) -> set[str]:
    """Which of these keys have signed it."""
    if shutil.which("ssh-keygen") is None:
        raise PolicyRefused("ssh-keygen is not on the PATH, so its signature cannot be checked. Install OpenSSH")
    with TemporaryDirectory(prefix="anyhook-policy-") as folder:
        return {
            key for key in keys for signature in fetched.signatures if _signed(fetched.manifest, signature, key, folder)
        }


def _signed(data: bytes, signature: bytes, key: str, folder: str) -> bool:
    allowed, signed = f"{folder}/allowed", f"{folder}/signature"
    replace_file(allowed, f'policy namespaces="{NAMESPACE}" {key}\n'.encode())
    replace_file(signed, signature)
    words = ("ssh-keygen", "-Y", "verify", "-f", allowed, "-I", "policy", "-n", NAMESPACE, "-s", signed)
    try:
        return ask(words, VERIFY_S, stdin=data).status == 0
    except OSError as error:
        raise PolicyRefused(f"ssh-keygen could not check its signature: {error}") from None


# Installing


def pull(what: str, base: str, scope: HookScope, keys: Sequence[str] = (), threshold: int | None = None) -> Policy:
    """Install or update the policy at a source, in the folder of a scope's policies. Raises PolicyRefused; then what is
    installed stays, and its state says why."""
    source = source_of(what)
    os.makedirs(base, 0o755, exist_ok=True)
    fetched: Fetched | None = None
    try:
        fetched = fetch(source)
        with _alone(base):
            return _install(fetched, base, scope, keys, threshold)
    except PolicyRefused as why:
        state = STALE if isinstance(why, Unreachable) else BROKEN
        why.keeps = _note(base, scope, source, fetched.name if fetched else "", state, str(why))
        raise


@contextmanager
def _alone(base: str) -> Iterator[None]:
    with locked(base, LOCK, wait_s=LOCK_S) as has_it:
        if not has_it:
            raise PolicyRefused("another pull has not ended")
        yield


def _install(fetched: Fetched, base: str, scope: HookScope, keys: Sequence[str], threshold: int | None) -> Policy:
    installed = installed_in(base, scope)
    before = installed.get(fetched.name)
    pinned, needed = _pinned(fetched, before, keys, threshold)
    signed = signers(fetched, pinned)
    if len(signed) < needed:
        many = f"{len(signed)} of the pinned keys signed it, and {needed} must" if needed > 1 else ""
        raise PolicyRefused(many or "its signature is not by the pinned key")
    digest = hashlib.sha256(fetched.manifest).hexdigest()
    if before is not None:
        _check_version(fetched.version, digest, before)
    folder = f"{base}/{fetched.name}/{fetched.version}-{os.urandom(4).hex()}"
    pins = {path: hashlib.sha256(data).hexdigest() for path, data in fetched.files.items()}
    policy = Policy(
        fetched.name, scope, folder, fetched.source, fetched.version, tuple(pinned), needed, digest, pins, time_ns(),
        CURRENT, "", fetched.agents,
    )  # fmt: skip
    os.makedirs(folder, 0o755)
    write_files(fetched.files, folder)
    _keep(base, {**installed, policy.name: policy})
    return policy


def _pinned(
    fetched: Fetched, before: Policy | None, keys: Sequence[str], threshold: int | None
) -> tuple[Sequence[str], int]:
    """The keys that may sign it, and how many must."""
    if before is None:
        if not keys:
            raise PolicyRefused(f"no key is pinned for `{fetched.name}`: give its signer's public key with --key FILE")
        return keys, threshold or 1
    again = f"To trust another one, run `anyhook policy remove {before.name}` first"
    if keys and {*keys} != {*before.keys}:
        raise PolicyRefused(f"another key is pinned for `{before.name}`. {again}")
    if threshold not in (None, before.threshold):
        raise PolicyRefused(f"{before.threshold} signatures are pinned for `{before.name}`. {again}")
    return before.keys, before.threshold


def _check_version(version: int, digest: str, before: Policy) -> None:
    if version < before.version:
        raise PolicyRefused(f"it is version {version}, and version {before.version} is installed")
    if version == before.version and digest != before.manifest:
        raise PolicyRefused(f"it is version {version} like the installed one, with other content")


def remove(name: str, base: str, scope: HookScope) -> bool:
    """Take a policy away; False if it is not there."""
    if not os.path.isdir(base):
        return False
    with _alone(base):
        installed = installed_in(base, scope)
        if name not in installed:
            return False
        del installed[name]
        _keep(base, installed)
    return True


def installed_in(base: str, scope: HookScope) -> dict[str, Policy]:
    """What the index has. Raises PolicyRefused if it cannot be read: then the pinned keys are not known."""
    files = Files()
    document = files.document(f"{base}/{INDEX}", "json")
    listed = document.get("policies") if isinstance(document, dict) else {} if document is None else None
    if files.problems or not isinstance(listed, dict):
        raise PolicyRefused(f"{base}/{INDEX} cannot be read. Remove it, and pull each policy again with its key")
    try:
        return {name: policy_of(name, entry, base, scope) for name, entry in listed.items()}
    except BadEntry as bad:
        raise PolicyRefused(
            f"{base}/{INDEX} has an entry that cannot be used: {bad}. Remove it, and pull again"
        ) from None


def _keep(base: str, installed: Mapping[str, Policy]) -> None:
    """The one step that counts; then what nothing names any more is deleted."""
    policies: dict[str, Json] = {name: policy.entry() for name, policy in sorted(installed.items())}
    text = json.dumps({"version": 1, "policies": policies}, indent=1)
    replace_file(f"{base}/{INDEX}", f"{text}\n".encode(), 0o644)
    kept = {policy.folder for policy in installed.values()}
    for name in os.listdir(base):
        path = f"{base}/{name}"
        if name.startswith(f".{INDEX}."):
            os.unlink(path)
        elif os.path.isdir(path):
            for version in os.listdir(path):
                if f"{path}/{version}" not in kept:
                    shutil.rmtree(f"{path}/{version}", ignore_errors=True)
            if name not in installed:
                shutil.rmtree(path, ignore_errors=True)


def _note(base: str, scope: HookScope, source: str, name: str, state: str, why: str) -> bool:
    """Remember that a pull failed, for the policies that it was about; whether there are any."""
    try:
        with _alone(base):
            installed = installed_in(base, scope)
            about = [key for key, policy in installed.items() if key == name or policy.source == source]
            if about:
                changed = {key: installed[key].replace(state=state, why=why) for key in about}
                _keep(base, {**installed, **changed})
            return bool(about)
    except (PolicyRefused, OSError):
        return False  # the caller says why the pull failed
