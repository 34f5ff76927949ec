"""What others decide over the user's settings: the organisation, and policies that `anyhook policy pull` has installed,
which are signed folders with rules, hook files and settings. This module reads them. A policy whose files are not what
was pulled is damaged: none of its hooks counts, and what guards could have refused is refused until it is whole
again."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from anyhook.documents.files import Files
from anyhook.documents.managed import SCOPE, believed, managed_dir
from anyhook.model.hook import OF_POLICY, Hook
from anyhook.model.json_types import Json
from anyhook.model.problem import ERROR, WARNING
from anyhook.model.record import Record
from anyhook.model.words import MODE, OFF, ON_FAILURE, HookScope
from anyhook.platform.places import config_file
from anyhook.state.settings import Settings, read_settings

FOLDER, INDEX = "policies", "index.json"
CURRENT, STALE, BROKEN = "current", "stale", "broken"
RULES, FUNCTIONS, SETTINGS = "hooks.toml", "hooks.py", "config.toml"
OF_A_POLICY = ("off", "on_failure", "mode", "protect", "require", "ask", "hooks")
"""The settings that a policy may have."""
LAXEST_FIRST: dict[str, tuple[str, ...]] = {
    "on_failure": ("allow", "native", "deny"),
    "off": ("pass", "tell", "deny"),
    "mode": ("shadow", "enforce"),
}
"""Of two values, the stricter one counts: a policy adds guards, and switches none off."""
assert all(  # noqa: S101 (a new word needs its place)
    sorted(LAXEST_FIRST[key]) == sorted(words)
    for key, words in (("on_failure", ON_FAILURE), ("off", OFF), ("mode", MODE))
)


class Policy(Record):
    """One installed policy, as the index next to it describes it."""

    name: str
    scope: HookScope
    folder: str
    """Where its files are."""
    source: str
    version: int
    keys: tuple[str, ...]
    threshold: int
    manifest: str
    """The SHA-256 of its manifest."""
    files: Mapping[str, str]
    pulled: int
    """When, in nanoseconds since 1970."""
    state: str
    why: str
    agents: Mapping[str, str]
    """The versions of agents that it was tried with."""
    damage: str = ""
    """Why its files are not what was pulled; "" if they are."""

    @property
    def place(self) -> str:
        """The folder that it has in every version."""
        return os.path.dirname(self.folder)

    def entry(self) -> dict[str, Json]:
        """What the index has about it."""
        kept: dict[str, Json] = {key: getattr(self, key) for key in ENTRY_KEYS}
        return {
            **kept,
            "folder": os.path.basename(self.folder),
            "keys": [*self.keys],
            "files": {**self.files},
            "agents": {**self.agents},
        }


class BadEntry(ValueError):  # noqa: N818 (it says what is wrong)
    """What the index has about a policy cannot be used."""


def policy_of(name: str, entry: Json, base: str, scope: HookScope) -> Policy:
    """A policy from the index. Raises BadEntry."""
    if not (isinstance(entry, dict) and is_name(name)):
        raise BadEntry(name)
    said: dict[str, Any] = {key: entry.get(key) for key in ENTRY_KEYS}
    folder, keys = said["folder"], said["keys"]
    if not all(isinstance(said[key], kind) for key, kind in ENTRY_KEYS.items()) or not (is_name(folder) and keys):
        raise BadEntry(name)
    return Policy(name=name, scope=scope, **said | {"folder": f"{base}/{name}/{folder}", "keys": tuple(map(str, keys))})


ENTRY_KEYS: dict[str, type] = {
    **dict.fromkeys(("folder", "source", "manifest", "state", "why"), str),
    **dict.fromkeys(("version", "pulled", "threshold"), int),
    **dict.fromkeys(("files", "agents"), dict),
    "keys": list,
}
"""What an index has about a policy."""


def is_name(name: str) -> bool:
    """Whether it can name a policy: one plain part of a path."""
    return 0 < len(name) <= 64 and name[0].isalnum() and name.isascii() and not set(name.lower()) - NAME_LETTERS


NAME_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")


def base_of_scope(scope: HookScope, env: Mapping[str, str]) -> str:
    """The folder of a scope's policies."""
    return f"{managed_dir(env) if scope == SCOPE else os.path.dirname(config_file(env))}/{FOLDER}"


def read_policies(env: Mapping[str, str], files: Files, scopes: Iterable[HookScope] = (SCOPE, "user")) -> list[Policy]:
    """The installed policies, the organisation's first. What cannot be read is a problem."""
    return [policy for scope in scopes for policy in _of_scope(base_of_scope(scope, env), scope, files)]


def _of_scope(base: str, scope: HookScope, files: Files) -> list[Policy]:
    index = f"{base}/{INDEX}"
    if scope == SCOPE and not believed(index, files):
        return []
    owner, files.owner = files.owner, ("anyhook", scope)
    document = files.document(index, "json")
    files.owner = owner
    listed = document.get("policies") if isinstance(document, dict) else None
    if document is None:
        return []  # there is none, or a problem says why it cannot be read
    found: list[Policy] = []
    for name, entry in (listed if isinstance(listed, dict) else {"": None}).items():
        try:
            policy = policy_of(name, entry, base, scope)
        except BadEntry:
            what = f"what is known about the policy `{name}` cannot be used" if name else "this index has no policies"
            fix = "Pull the policies again, or remove this file if there should be none."
            files.problem("damaged-policy", what, index, fix=fix, dialect="anyhook", scope=scope)
            continue
        policy = policy.replace(damage=_damage(policy, files))
        _tell(policy, files)
        found.append(policy)
    return found


def _damage(policy: Policy, files: Files) -> str:
    """The first file that is not what was pulled."""
    if policy.scope == SCOPE and not believed(policy.folder, files):
        return f"{policy.folder} could have been changed by others than root"
    for path, digest in policy.files.items():
        if (found := files.digest(f"{policy.folder}/{path}")[0]) != digest:
            return f"{path} has changed" if found else f"{path} is gone"
    extra = sorted(_names(policy.folder, files) - policy.files.keys())
    return f"{extra[0]} does not belong to it" if extra else ""


def _names(folder: str, files: Files, inside: str = "") -> set[str]:
    """The files of a folder, by their path in it. What Python compiled beside a hook does not count."""
    found: set[str] = set()
    for name in files.names(f"{folder}/{inside}".rstrip("/")):
        path = f"{inside}{name}"
        if files.is_folder(f"{folder}/{path}") and not os.path.islink(f"{folder}/{path}"):
            found |= _names(folder, files, f"{path}/") if name != "__pycache__" else set()
        else:
            found.add(path)
    return found


def _tell(policy: Policy, files: Files) -> None:
    """Report a policy that is damaged, or that the last pull could not bring up to date."""
    again = f"anyhook policy pull {policy.source}{' --managed' if policy.scope == SCOPE else ''}"
    if policy.damage:
        files.problem(
            "damaged-policy",
            f"the policy `{policy.name}` is damaged ({policy.damage}), so what it could guard is refused",
            policy.place,
            fix=f"Install it again: {again}. Or remove it: anyhook policy remove {policy.name}",
            dialect="anyhook",
            scope=policy.scope,
        )
    if policy.state != CURRENT:
        what = "could not be reached" if policy.state == STALE else "was refused"
        files.problem(
            f"policy-{policy.state}",
            f"the last update of the policy `{policy.name}` {what}; version {policy.version} still counts",
            policy.place,
            policy.why,
            f"Try again: {again}",
            WARNING,
            "anyhook",
            policy.scope,
        )


# Settings. A policy can only make them stricter; the organisation can do both.


def with_managed(settings: Settings, env: Mapping[str, str], files: Files, home: str) -> Settings:
    """The user's settings, overridden by the organisation's if there are any. Neither users nor projects can turn its
    hooks off."""
    path = f"{managed_dir(env)}/config.toml"
    if not believed(path, files):
        return settings
    theirs, said = _said_in(path, files, home, SCOPE)
    whole = {key: getattr(theirs, key) for key in (*LAXEST_FIRST, "protect", "require") if key in said}
    merged = {
        key: {**getattr(settings, key), **getattr(theirs, key)}
        for key in ("dialects", "hooks", "hook_off", "hook_mode", "models", "providers", "journal")
    }
    return settings.replace(plugins=(*settings.plugins, *theirs.plugins), **whole, **merged)


def _said_in(path: str, files: Files, home: str, scope: HookScope) -> tuple[Settings, Collection[str]]:
    """What a file says that counts over the user's, and its keys; all that can be stricter, if it cannot be read."""
    theirs = read_settings(path, files, home, scope)
    document = Files().document(path, "toml")  # its problems are reported already
    return theirs, document if isinstance(document, dict) else LAXEST_FIRST


def required(settings: Settings, hooks: Iterable[Hook]) -> Settings:
    """The settings that keep the organisation's hooks on, and make them refuse if they break."""
    own = [hook.id for hook in hooks if hook.scope == SCOPE]
    if not own:
        return settings
    return settings.replace(
        hook_mode={**settings.hook_mode, **dict.fromkeys(own, "enforce")},
        hooks={**settings.hooks, **dict.fromkeys(own, "deny")},
        hook_off={**settings.hook_off, **dict.fromkeys(own, "deny")},
    )


def with_policies(settings: Settings, policies: Sequence[Policy], files: Files, home: str) -> Settings:
    """The settings with what policies add."""
    for policy in policies:
        if policy.damage:
            settings = settings.replace(hook_off={**settings.hook_off, policy.place: "deny"})
        elif SETTINGS in policy.files:
            settings = _with_one(settings, policy, files, home)
    # An index that cannot be read or used may have had any guard.
    wheres = [each.where.partition(f"/{FOLDER}/{INDEX}") for each in files.problems if each.severity == ERROR]
    blind = {f"{base}{index}": "deny" for base, index, _line in wheres if index}
    return settings.replace(hook_off={**settings.hook_off, **blind}) if blind else settings


def _with_one(settings: Settings, policy: Policy, files: Files, home: str) -> Settings:
    path = f"{policy.folder}/{SETTINGS}"
    theirs, said = _said_in(path, files, home, policy.scope)
    for key in said:
        if key not in OF_A_POLICY:
            what = f"a policy cannot set `{key}`; it is ignored"
            fix = f"A policy's settings: {', '.join(OF_A_POLICY)}."
            files.problem("bad-setting", what, path, fix=fix, severity=WARNING)
    whole = {
        key: max(getattr(settings, key), getattr(theirs, key), key=words.index)
        for key, words in LAXEST_FIRST.items()
        if key in said
    }
    hooks = {
        field: _of_hooks(key, getattr(settings, field), getattr(theirs, field), policy)
        for key, field in (("on_failure", "hooks"), ("off", "hook_off"), ("mode", "hook_mode"))
    }
    own = {hook: until for hook, until in theirs.hook_until.items() if _is_own(hook, policy)}
    return settings.replace(
        protect=settings.protect or ("protect" in said and theirs.protect),
        require=tuple(dict.fromkeys((*settings.require, *theirs.require))),
        ask={**theirs.ask, **settings.ask},
        hook_until={**own, **settings.hook_until},
        **whole,
        **hooks,
    )


def _of_hooks(key: str, ours: Mapping[str, str], theirs: Mapping[str, str], policy: Policy) -> dict[str, str]:
    """What is said about single hooks: of its own a policy may say anything that the user does not, of others only
    what is stricter."""
    made = dict(ours)
    for hook, value in theirs.items():
        if _is_own(hook, policy):
            made.setdefault(hook, value)
        elif value == LAXEST_FIRST[key][-1]:
            made[hook] = value
    return made


def _is_own(hook: str, policy: Policy) -> bool:
    return hook.split(":", 1)[-1].startswith(f"{OF_POLICY}:{policy.name}:")
