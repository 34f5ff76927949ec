"""`anyhook update`: whether a newer anyhook, or a newer version of an added package of rules, exists where the person
has named a source, and what it would change. It installs nothing."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

import anyhook
from anyhook.cli import DONE, FINDINGS, BadCall, render
from anyhook.cli.options import JsonOptions, option
from anyhook.cli.person import require_person
from anyhook.cli.verbs import verb
from anyhook.cli.view.record_text import when
from anyhook.cli.view.text import visible
from anyhook.documents.files import Files
from anyhook.documents.pins import FOLDER
from anyhook.install import packages
from anyhook.install.newer import CannotLook, install_line, newest_at
from anyhook.install.packages import BadPackage
from anyhook.install.used_packs import change_used, rule_file, used_in
from anyhook.model.json_types import Json, JsonView
from anyhook.model.record import Record
from anyhook.platform.other_programs import ask
from anyhook.platform.places import config_file, home_of, state_dir
from anyhook.replay.trial import sandbox_of, works
from anyhook.rules.pack_list import FOLDER as PACKS
from anyhook.state.settings import read_settings

CODE = os.path.dirname(os.path.dirname(os.path.abspath(anyhook.__file__)))
"""The folder of the package that runs."""
EVERY_RULE = "anyhook:*"
MAX_FINDINGS = 100_000
"""How many calls that were judged differently from then are compared."""
JUDGING_S = 3_600.0
STRONGEST_FIRST = ("fails", "blocks", "asks", "lets go", "rewrites")
VERDICT_TEXTS = {
    "blocks": "would be refused",
    "asks": "would be asked about",
    "fails": "a rule would fail",
    "lets go": "would pass",
    "rewrites": "would be rewritten",
}
AS_THEN = "would go on as it went then"
MAX_TOLD = 10


class UpdateOptions(JsonOptions):
    from_: str | None = option(
        "--from", "Look for anyhook here: a folder, a package index, or a git repository.", "SOURCE"
    )
    since: str | None = option("--since", "Judge your calls from this time on; default: 30d.", "TIME")
    sandbox: str | None = option(
        "--sandbox", "bwrap (default), or none to let the newer anyhook judge without a sandbox.", "KIND",
        choices=("bwrap", "none"),
    )  # fmt: skip


class Newer(Record):
    """Something newer, and what it would change."""

    name: str
    source: str
    now: str
    there: str
    rules: tuple[str, ...]
    """What changes in the rules: a line for each file."""
    install: str
    calls: int = 0
    """How many calls both versions judged."""
    different: tuple[dict[str, Json], ...] = ()
    unjudged: str = ""
    """Why they could not be judged."""


class NotJudged(Exception):  # noqa: N818 (it says why)
    """Why the past cannot be judged by a version."""


@verb("update", UpdateOptions, "anyhook update --from ~/wheels")
def update(options: UpdateOptions) -> int:
    """Say whether a newer anyhook, or a newer version of a package of rules that you added, exists, and show what would
    change: in the rules, and for your own calls of the last 30 days.

    It looks only where you say: at `update` in config.toml or --from for anyhook, and for a package where you added it
    from. It installs nothing and prints the command that does. A newer anyhook judges your calls in a sandbox, without
    a network.

    \b
    Exit status: 0 done, 1 a source could not be read, 3 bad call.
    """
    require_person("update")
    path = config_file(os.environ)
    source = options.from_ or read_settings(path, Files(), home_of(os.environ)).update
    mine = rule_file("user", "", os.environ)
    found: list[Newer] = []
    same: list[str] = []
    failed: list[str] = []
    judged = _Past(options)
    if source:
        try:
            found += _anyhook(source, judged, same)
        except CannotLook as why:
            failed.append(f"anyhook: {source} cannot be read: {why}.")
    for name, pin in _pins(mine):
        try:
            found += _package(name, pin, mine, judged, same)
        except BadPackage as why:
            failed.append(f"{name}: {why}")
    if options.json:
        rows: list[JsonView] = [each.as_dict() for each in found]
        render.json_out({"newer": rows, "same": same, "failed": failed}, indent=2)
    else:
        _tell(found, same)
        if not source:
            short = render.short_path(path)
            render.say(f'No source for anyhook is named. Name one: --from SOURCE, or update = "SOURCE" in {short}.')
    for line in failed:
        render.say(f"anyhook update: {line}")
    return FINDINGS if failed else DONE


def _pins(mine: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The packages next to the user's own rules. A project's are not the person's choice."""
    try:
        pins = packages.read_lock(mine)
    except BadPackage as why:
        raise BadCall(str(why)) from None
    yield from ((name, pin) for name, pin in pins.items() if isinstance(pin, dict) and pin.get("source"))


def _anyhook(source: str, past: _Past, same: list[str]) -> Iterator[Newer]:
    with newest_at(source) as found:
        if not found.folder:
            same.append(f"anyhook {anyhook.__version__}: the newest version at {source} is {found.version}.")
            return
        rules = _changes(_files(PACKS), _files(f"{found.folder}/anyhook/rules/packs"))
        line = install_line(found)
        yield past.compared(
            Newer("anyhook", source, anyhook.__version__, found.version, rules, line), code=found.folder
        )


def _package(name: str, pin: Mapping[str, Any], mine: str, past: _Past, same: list[str]) -> Iterator[Newer]:
    source = str(pin["source"])
    package = packages.fetch(source)
    before = packages.current_files(mine, name)
    if before == package.files:
        same.append(f"{name}: as at {source}.")
        return
    now, there = str(pin.get("revision") or "")[:12], package.revision[:12]
    newer = Newer(name, source, now, there, _changes(before, package.files), shlex.join(["anyhook", "add", source]))
    with TemporaryDirectory(prefix="anyhook-update-") as folder:
        config = f"{folder}/config"
        shutil.copytree(os.path.dirname(mine), f"{config}/anyhook", symlinks=True)
        copied = f"{config}/anyhook/{os.path.basename(mine)}"
        used = packages.put(package, copied)
        old = [each for each in used_in(copied) if each.startswith(f"{FOLDER}/{name}/") and each not in used]
        change_used(copied, add=used, remove=old)
        yield past.compared(newer, config=config)


def _files(folder: str) -> dict[str, bytes]:
    found = {}
    for name in sorted(os.listdir(folder) if os.path.isdir(folder) else ()):
        with open(f"{folder}/{name}", "rb") as file:
            found[name] = file.read()
    return found


def _changes(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> tuple[str, ...]:
    """What changes, a line for each file."""
    paths = [path for path in sorted({*before, *after}) if before.get(path) != after.get(path)]
    return tuple(f"{path}: {_change(before.get(path), after.get(path))}" for path in paths)


def _change(before: bytes | None, after: bytes | None) -> str:
    """Of rules their names; of any other file only whether it is there."""
    old, new = _by_name(before or b""), _by_name(after or b"")
    kinds = {
        "new": [name for name in new if name not in old],
        "changed": [name for name in new if name in old and new[name] != old[name]],
        "gone": [name for name in old if name not in new],
    }
    parts = [f"{word}: {', '.join(names)}" for word, names in kinds.items() if names]
    return "; ".join(parts) or ("a new file" if before is None else "gone" if after is None else "changed")


def _by_name(data: bytes) -> dict[str, Mapping[str, object]]:
    return {str(rule.get("name")): rule for rule in packages.rules_in(data)}


class _Past:
    """The person's own calls, judged by every rule that is on, by `anyhook backtest` of a version."""

    def __init__(self, options: UpdateOptions) -> None:
        self.options = options
        self._today: dict[str, Any] | None = None

    def compared(self, newer: Newer, code: str = CODE, config: str = "") -> Newer:
        """With what would be judged differently."""
        try:
            if self._today is None:
                self._today = self._judged(CODE, "")
            there = self._judged(code, config)
        except NotJudged as why:
            return newer.replace(unjudged=str(why))
        here = self._today
        calls = max((row["events"] for said in (here, there) for row in said["hooks"].values()), default=0)
        before, after = _verdicts(here), _verdicts(there)
        keys = [key for key in dict.fromkeys((*before, *after)) if _kind(before.get(key)) != _kind(after.get(key))]
        different = tuple(_difference(before.get(key), after.get(key)) for key in keys)
        return newer.replace(calls=calls, different=different)

    def _judged(self, code: str, config: str) -> dict[str, Any]:
        """What `backtest` of a version says."""
        kind = self.options.sandbox or "bwrap"
        with TemporaryDirectory(prefix="anyhook-update-") as folder:
            env = {**os.environ, "PYTHONPATH": code, "XDG_STATE_HOME": f"{folder}/state"}
            env |= {"XDG_CONFIG_HOME": config} if config else {}
            sandbox: tuple[str, ...] = ()
            if code != CODE and kind != "none":  # this version needs none: rules start nothing
                env["XDG_STATE_HOME"] = f"{gettempdir()}/anyhook-update-state"
                sandbox = self._sandbox(kind, [code, config])
            home, past, since = home_of(os.environ), state_dir(os.environ), self.options.since or "30d"
            words = [
                *(sys.executable, "-P", "-m", "anyhook", "backtest", EVERY_RULE, "--json"),
                *("--dialect", "anyhook", "--project", home, "--from", past, "--since", since),
                *("--last", str(MAX_FINDINGS), "--sandbox", "none"),
            ]
            try:
                done = ask((*sandbox, *words), JUDGING_S, env=env, cwd=home)
                said = json.loads(done.out) if done.status == 0 else {}
            except (OSError, ValueError) as error:
                raise NotJudged(f"`backtest` did not answer as it should: {error}") from None
        if done.status:
            raise NotJudged(done.complaint())
        if not (isinstance(said, dict) and isinstance(said.get("hooks"), dict)):
            raise NotJudged("`backtest` of that version answers otherwise")
        return said

    def _sandbox(self, kind: str, needed: Sequence[str]) -> tuple[str, ...]:
        instead = "Install it, or let the newer version run without a sandbox: anyhook update --sandbox none"
        places = [*needed, state_dir(os.environ), os.path.dirname(config_file(os.environ)), sys.prefix, sys.base_prefix]
        try:
            sandbox = sandbox_of(kind, home_of(os.environ), places)
        except LookupError as error:
            raise NotJudged(f"there is no sandbox: {error}. {instead}") from None
        if wrong := works(sandbox):
            raise NotJudged(f"the sandbox does not work here: {wrong}. {instead}")
        return sandbox


_Findings = list[dict[str, Any]]


def _verdicts(said: Mapping[str, Any]) -> dict[tuple[Json, ...], _Findings]:
    """What is different from then, by call."""
    found: dict[tuple[Json, ...], _Findings] = {}
    for each in said.get("findings", ()):
        found.setdefault((each["n"], each["at"], each["tool"], each["about"]), []).append(each)
    return found


def _kind(findings: _Findings | None) -> str:
    kinds = {each["kind"] for each in findings or ()}
    return next((kind for kind in STRONGEST_FIRST if kind in kinds), "")


def _difference(before: _Findings | None, after: _Findings | None) -> dict[str, Json]:
    one = (after or before or [{}])[0]
    rules: list[Json] = [*sorted({str(each["hook"]) for each in after or before or ()})]
    about: dict[str, Json] = {key: one.get(key) for key in ("at", "tool", "about")}
    return {**about, "now": _kind(before), "then": _kind(after), "rules": rules}


def _tell(found: Sequence[Newer], same: Sequence[str]) -> None:
    for line in same:
        render.out(line)
    for each in found:
        versions = f"{each.there} is there, {each.now} is installed" if each.now and each.there else "it has changed"
        render.out(f"{each.name}: {versions} ({each.source})")
        for line in each.rules or ("no rule changes",):
            render.out(f"  {line}")
        _tell_calls(each)
        render.say(f"Install it:  {each.install}")


def _tell_calls(newer: Newer) -> None:
    if newer.unjudged:
        render.out(f"Your calls were not judged by it: {newer.unjudged}")
        return
    render.out(f"{len(newer.different):,} of your last {newer.calls:,} calls would be judged differently.")
    for each in newer.different[-MAX_TOLD:]:
        about = visible(str(each["about"]))[:100]
        then = VERDICT_TEXTS.get(str(each["then"]), AS_THEN)
        render.out(f"  {when(each['at'], '%Y-%m-%d %H:%M')}  {visible(str(each['tool']))}: {about}  {then}")
