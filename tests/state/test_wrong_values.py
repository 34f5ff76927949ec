"""For every key of every file that a person writes for us: wrong values, and what counts then. A slip never weakens a
guard: what cannot be understood is reported at its line, and the stricter reading counts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from anyhook.documents.files import Files
from anyhook.rules.rule_file import KEYS, RELAXED, TOP
from anyhook.state.settings import (
    ASK_KEYS,
    ENDPOINT,
    JOURNAL_BOUNDS,
    OF_A_HOOK,
    ROLES,
    SETTINGS,
    Settings,
    read_settings,
)
from anyhook.tables.registry import DIALECTS, dialect

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import World

HOOK, PROVIDER, KODE = '[hooks."a:user:b"]\n', "[providers.openai]\n", "[dialect.kode]\n"


class Wrong(NamedTuple):
    """Settings with a slip, and what counts then: a field of the settings, and its value."""

    text: str
    field: str
    counts: Any


def usual(field: str) -> Any:
    return getattr(Settings(), field)


OF_SETTINGS: dict[str, list[Wrong]] = {
    "plugins": [
        Wrong('plugins = "/x"', "plugins", ("/x",)), Wrong("plugins = 7", "plugins", ()),
        Wrong('plugins = ["x", "/y"]', "plugins", ("/y",)),
    ],
    "on_failure": [Wrong(f"on_failure = {said}", "on_failure", "deny") for said in ('"dney"', "7", "true", "[]")],
    "off": [Wrong(f"off = {said}", "off", "deny") for said in ('"dney"', "false", "7")],
    "mode": [Wrong(f"mode = {said}", "mode", "enforce") for said in ('"shdow"', "7")],
    "protect": [Wrong(f"protect = {said}", "protect", True) for said in ('"false"', "0", '"no"')],
    "update": [Wrong("update = 3", "update", "")],
    "facts": [Wrong('facts = "yes"', "facts", False)],
    "require": [
        Wrong('require = "git/clean"', "require", ("git/clean",)), Wrong("require = 7", "require", ("7",)),
        Wrong('require = ["git/clean", 7]', "require", ("git/clean", "7")), Wrong('require = [""]', "require", ("",)),
    ],
    "warm": [Wrong('warm = "of"', "off", "tell")],
    "warm_python": [Wrong('warm_python = "al"', "warm_python", "user")],
    "hooks": [Wrong("hooks = 7", "hooks", {}), Wrong('hooks = {"a:user:b" = 7}', "hooks", {})],
    "hooks.on_failure": [Wrong(f'{HOOK}on_failure = "dney"', "hooks", {"a:user:b": "deny"})],
    "hooks.off": [Wrong(f"{HOOK}off = 7", "hook_off", {"a:user:b": "deny"})],
    "hooks.mode": [Wrong(f'{HOOK}mode = "shdow"', "hook_mode", {"a:user:b": "enforce"})],
    "hooks.until": [Wrong(f'{HOOK}mode = "shadow"\nuntil = "soon"', "hook_mode", {"a:user:b": "enforce"})],
    "hooks.warm": [Wrong(f'{HOOK}warm = "maybe"', "hook_warm", {})],
    "models": [Wrong("models = 7", "models", {})],
    **{f"models.{role}": [Wrong(f"[models]\n{role} = 7", "models", {})] for role in ROLES},
    "providers": [Wrong("providers = 7", "providers", {}), Wrong("providers = {openai = 7}", "providers", {})],
    **{f"providers.{key}": [Wrong(f"{PROVIDER}{key} = 7", "providers", {})] for key in ENDPOINT},
    "journal": [Wrong("journal = 7", "journal", {})],
    "journal.bodies": [Wrong('[journal]\nbodies = "hashd"', "journal", {"bodies": "none"})],
    **{
        f"journal.{key}": [Wrong(f"[journal]\n{key} = {said}", "journal", {}) for said in ("0", '"9"', "true")]
        for key in JOURNAL_BOUNDS
    },
    "ask": [Wrong("ask = 1", "ask", {})],
    "ask.where": [Wrong(f"[ask]\nwhere = {said}", "ask", {}) for said in ('"elswhere"', "1")],
    "ask.wait_s": [Wrong(f"[ask]\nwait_s = {said}", "ask", {}) for said in ("0", '"60"', "true")],
    "ask.notify": [
        Wrong('[ask]\nnotify = "desktop"', "ask", {"notify": ["desktop"]}),
        Wrong('[ask]\nnotify = ["mail"]', "ask", {"notify": []}),
    ],
    "dialect": [Wrong("dialect = 7", "dialects", {}), Wrong('[dialect.kde]\nmissing_binary = "pass"', "dialects", {})],
    **{
        f"dialect.{name}.{key}": [Wrong(f'[dialect.{name}]\n{key} = "x"', "dialects", {})]
        for name in DIALECTS
        for key in dialect(name).settings
    },
    "agent": [],  # read by our own agent alone, which refuses to start with a wrong one
}  # fmt: skip
"""What each setting is called, and slips in it. Where nothing stricter exists, the usual value counts."""
CASES = [case for cases in OF_SETTINGS.values() for case in cases]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.text)
def test_a_wrong_setting(tmp_path: Path, case: Wrong) -> None:
    path = tmp_path / "config.toml"
    path.write_text(f"{case.text}\n")
    files = Files()
    assert getattr(read_settings(str(path), files, str(tmp_path)), case.field) == case.counts
    [problem] = files.problems
    assert (problem.code, problem.where.rpartition(":")[0]) == ("bad-setting", str(path))


def test_every_setting_has_its_slips() -> None:
    nested = [
        *(f"hooks.{key}" for key in (*OF_A_HOOK, "until")), *(f"ask.{key}" for key in ASK_KEYS), "journal.bodies",
    ]  # fmt: skip
    assert {*SETTINGS, *nested} <= {*OF_SETTINGS}


@pytest.mark.parametrize(
    ("text", "meant"),
    [('of = "deny"', "off"), ("protcet = true", "protect"), ('[hook."x"]\noff = "deny"', "hooks"), ("ask_ = 1", "ask")],
)
def test_a_misspelt_setting_is_guessed(tmp_path: Path, text: str, meant: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(f"{text}\n")
    files = Files()
    read_settings(str(path), files, str(tmp_path))
    [problem] = files.problems
    assert (problem.where, f"Did you mean `{meant}`?" in problem.fix) == (f"{path}:1", True)


# -- rules, relaxations, packs and their lock

RULE, RELAX = '[[rule]]\nname = "mine"\nwhen = "runs xx"\n', 'use = ["git"]\n[[relax]]\nrule = "git/forced-push"\n'
OF_RULES: dict[str, list[str]] = {
    "name": ["name = 7", 'name = ""'],
    "when": ["when = 7", 'when = "rnus xx"', 'when = ""'],
    "before": ["before = 7"],
    "after": ['after = "runs ("'],
    "unless": ['unless = "rnus x"', "unless = 7", 'unless = ["runs yy", 7]'],
    "then": ['then = "aks"', "then = 7", "then = []", 'then = "rewrite"', 'then = "run"'],
    "because": ["because = 7"],
    "instead": ["instead = []"],
    "run": ["run = 7", 'run = ""'],
    "severity": ['severity = "hihg"', "severity = 3"],
    "agents": ['agents = "claude"', "agents = [7]"],
    "tools": ['tools = "Read"', "tools = 7"],
    "except": ["except = 7", 'except = "~/x"', "except = [7]"],
    "to": ["to = 7", "to = {}"],
    "timeout": ['timeout = "soon"', "timeout = -1", "timeout = 0"],
    "enabled": ['enabled = "false"', "enabled = 0"],
    "env": ["env = 7", "env = [7]", 'env = "HOME"'],
    "unknown": ['unles = "runs xx"', "enabeld = false", 'agnets = ["codex"]'],
}
OF_RELAXATIONS: dict[str, list[str]] = {
    "rule": ['rule = "git/force-push"', "rule = 7", 'rule = ""'],
    "then": ['then = "aks"', "then = 7", 'then = "rewrite"', 'then = "run"'],
    "unless": ['unless = "rnus git"', "unless = 7"],
    "except": ["except = 7", "except = [7]", "except = {}"],
    "enabled": ['enabled = "false"', "enabled = 0"],
    "projects": ['enabled = false\nprojects = "/x"', "enabled = false\nprojects = [7]"],
}


def test_every_key_of_a_rule_has_its_slips() -> None:
    assert {*OF_RULES} == {*KEYS, "unknown"}
    assert {*OF_RELAXATIONS} == {*RELAXED}
    assert {*TOP} == {"rule", "relax", "use", "words", "paths", "pack", "end", "$schema"}


def refused(world: World, line: str) -> bool:
    told = world.fire("pre_tool", "--tool", "Bash", "--input", json.dumps({"command": line}))
    return bool(told["verdict"] == "block")


def complaints(world: World) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(world.command("check", "--format", "json").stdout)["problems"]
    return found


def with_key(table: str, text: str) -> str:
    """The table with this key: instead of its own, where it has one."""
    key = text.partition(" ")[0]
    kept = [line for line in table.splitlines() if line.partition(" ")[0] != key]
    return "\n".join([*kept, text, ""])


@pytest.mark.parametrize("text", [text for texts in OF_RULES.values() for text in texts])
def test_a_wrong_value_in_a_rule_refuses_or_is_off_and_says_so(world: World, text: str) -> None:
    """Without its condition a rule cannot refuse: it is reported as off, and `off = "deny"` closes what it guards."""
    path = world.write(world.home / "config/anyhook/hooks.toml", with_key(RULE, text))
    found = complaints(world)
    assert found, "it is said"
    line = path.read_text().splitlines().index(text) + 1
    assert {each["where"] for each in found} == {f"{path}:{line}"}
    status = json.loads(world.command("status", "--json").stdout)
    assert status["protected"] == refused(world, "xx")
    if not status["protected"]:
        assert [gate["state"] for gate in status["gates"]] == ["broken"]
        world.config('off = "deny"\n')
        assert refused(world, "xx")


HALF_UNDERSTOOD = [
    'enabled = false\nexept = ["./x"]',
    'enabled = false\nproject = "/x"',
    'then = "ask"\nunless = "runs ("',
]
"""What can be understood in these could take away more than their author wants."""


@pytest.mark.parametrize("text", [*(text for texts in OF_RELAXATIONS.values() for text in texts), *HALF_UNDERSTOOD])
@pytest.mark.parametrize("named", ["git/forced-push", "git/*"])
def test_a_wrong_value_in_a_relaxation_leaves_the_rule(world: World, text: str, named: str) -> None:
    written = with_key(RELAX.replace("git/forced-push", named), text)
    path = world.write(world.home / "config/anyhook/hooks.toml", written)
    assert refused(world, "git push --force")
    found = complaints(world)
    assert {each["severity"] for each in found} == {"error"}
    assert {each["where"].rpartition(":")[0] for each in found} == {str(path)}, "never a file of the package"


@pytest.mark.parametrize(
    "text",
    [
        "rule = 7", "[rule]", "relax = 7", 'use = ["gti"]', "use = 7", 'use = "git"', "words = 7", "words = {a = 7}",
        "paths = 7", 'paths = {a = "x"}', 'paths = {secrets = "x"}', "rules = []", "[[rul]]",
    ],
)  # fmt: skip
def test_a_wrong_table_is_reported_and_the_rest_counts(world: World, text: str) -> None:
    rule = "" if text.startswith(("rule =", "[rule]")) else f"\n{RULE}"
    path = world.write(world.home / "config/anyhook/hooks.toml", f"{text}\n{rule}")
    found = complaints(world)
    assert {each["where"].rpartition(":")[0] or str(path) for each in found} == {str(path)}
    assert refused(world, "xx") == bool(rule)


@pytest.mark.parametrize(
    "text",
    ["7", "{", '{"packages": 7}', '{"packages": {"mine": 7}}', '{"packages": {"mine": {"files": ["hooks.toml"]}}}'],
)
def test_a_lock_that_cannot_be_understood_is_reported_and_the_package_s_rules_count(world: World, text: str) -> None:
    package = world.root / "mine"
    world.write(package / "hooks.toml", RULE)
    assert world.command("add", str(package), "--yes").returncode == 0
    assert refused(world, "xx")
    rules = world.home / "config/anyhook/hooks.toml"
    line = next(at for at, text in enumerate(rules.read_text().splitlines(), 1) if text.startswith("use"))
    world.write(world.home / "config/anyhook/anyhook.lock", text)
    assert refused(world, "xx") or not json.loads(world.command("status", "--json").stdout)["protected"]
    assert [each["where"] for each in complaints(world) if each["code"] == "unpinned-package"] == [f"{rules}:{line}"]


OF_STATE = {
    "trust.json": ('{"projects": 7}', '{"projects": {"/p": 7}}'),
    "switches.json": ('{"": 7}', '{"": {"x": true}}'),
    "installs/index.json": ('{"/a": 7}',),
    "installs/turned-on.json": ('{"/a": 7}',),
}
"""Files that only anyhook writes, each with values of the wrong kind."""


@pytest.mark.parametrize("name", OF_STATE)
@pytest.mark.parametrize("at", range(4))
def test_a_damaged_file_of_state_is_never_a_guard_less_in_silence(world: World, name: str, at: int) -> None:
    """What it held is asked for all the same, or `status` says that it is off, and `off = "deny"` refuses."""
    for words in (("add", "git", "--yes"), ("install", "claude")):
        assert world.command(*words).returncode == 0
    world.hook("kodik", "PreToolUse", "exit 2", scope="project")
    assert world.command("trust", "--yes").returncode == 0
    assert world.command("disable", "git/clean").returncode == 0
    path = world.state / name
    assert path.is_file(), name
    path.write_text(("", "{", "[]", *OF_STATE[name])[at % (3 + len(OF_STATE[name]))])
    told = json.loads(world.command("status", "--json").stdout)
    asked = {gate["id"] for gate in told["gates"] if gate["state"] == "armed"}
    assert "anyhook:user:git:pre_tool:forced-push" in asked
    assert refused(world, "git push --force")
    if not refused(world, "ls"):
        assert not told["protected"]
        assert name in world.command("status").stderr
        world.config('off = "deny"\n')
        assert refused(world, "ls")


@pytest.mark.parametrize("name", ["git/forced-push", "anyhook:user:git:pre_tool:forced-pusch"])
def test_settings_for_a_hook_that_is_not_there_are_reported(world: World, name: str) -> None:
    assert world.command("add", "git", "--yes").returncode == 0
    world.config(f'[hooks."{name}"]\noff = "deny"\n')
    [problem] = complaints(world)
    assert (problem["code"], "Did you mean `anyhook:user:git:pre_tool:forced-push`?" in problem["fix"]) == (
        "bad-setting", True,
    )  # fmt: skip
    world.config('[hooks."anyhook:project:git:pre_tool:forced-push"]\noff = "deny"\n')
    assert complaints(world) == [], "it may be for another project"


def test_a_plugin_that_is_gone_is_no_guard_in_silence(world: World) -> None:
    assert world.command("add", "git", "--yes").returncode == 0
    world.config('plugins = ["/no/such"]\n')
    assert [each["where"] for each in complaints(world)] == ["/no/such"]
    assert json.loads(world.command("status", "--json").stdout)["protected"] is False


@pytest.mark.parametrize("text", ["require = 7", 'require = "git/nonsense"', 'require = ["git/forced-push", 7]'])
def test_ci_fails_where_it_cannot_understand_what_is_required(world: World, text: str) -> None:
    assert world.command("add", "git", "--yes").returncode == 0
    world.config(f"{text}\n")
    assert world.command("ci").returncode == 1
    world.config('require = ["git/forced-push"]\n')
    assert world.command("ci").returncode == 0
    assert world.command("ci", "--require", "git/hard reset").returncode == 0


# -- what a slip in the settings means for a call

CALL = {"on_failure": "exit 1", "off": "exit 0", "mode": "exit 2"}


@pytest.mark.parametrize("wrong", ['"dney"', "7"])
@pytest.mark.parametrize("whose", ["", '[hooks."ID"]\n'])
@pytest.mark.parametrize("key", CALL)
def test_a_slip_in_a_posture_refuses(world: World, key: str, whose: str, wrong: str) -> None:
    """A hook that fails, one that nobody approved, and one that refuses."""
    world.hook("kodik", "PreToolUse", CALL[key], scope="project" if key == "off" else "user")
    one = json.loads(world.command("list", "--json").stdout)["hooks"][0]["id"]
    world.config(f"{whose.replace('ID', one)}{key} = {wrong}\n")
    assert refused(world, "xx")
