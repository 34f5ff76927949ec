"""Python hooks in running interpreters, tested end to end: every Python hook of the vectors and the examples answers as
it does cold. Settings say whose hooks may run warm. Functions in a `hooks.py` run warm without a setting."""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from anyhook.extra.testing.conformance.runner import run_vector
from anyhook.extra.testing.conformance.vectors import load_suite
from anyhook.extra.testing.kit.box import call
from anyhook.extra.warm.warm_python import MAX_ZYGOTES
from warm_box import eventually

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anyhook.extra.testing.kit.box import Ended
    from conftest import World
    from warm_box import Door

EXAMPLES = sorted(path for path in (Path(__file__).parents[3] / "examples").iterdir() if path.is_dir())
RUNS = 3
"""Cold, then in an interpreter that has loaded nothing, then in one that has learned."""
WHO = "import sys; is_warm = b'/zygote.py\\0' in open('/proc/self/cmdline', 'rb').read()\n"
VOLATILE = re.compile(r'("duration_ms": )[0-9.]+|session-\w{16}')


def interpreters(door: Door) -> set[str]:
    """The sockets of the interpreters. Those of killed interpreters stay until the next one is started."""
    folder = Path(door.runtime, "anyhook", "python")
    return {path.name for path in folder.iterdir() if "." not in path.name} if folder.exists() else set()


def warmed(
    door: Door, words: Sequence[str], stdin: str | None, env: Mapping[str, str], cwd: Path, limit_s: float
) -> Ended:
    """The last of several answers. The files are restored after each call, so every call starts from the same state."""
    root = cwd.parent
    kept = root.with_name(f"{root.name}-kept")
    given = {**env, "XDG_RUNTIME_DIR": door.runtime, "ANYHOOK_WARM": "on"}
    settings = Path(env.get("XDG_CONFIG_HOME") or f"{env['HOME']}/.config", "anyhook", "config.toml")
    if words[1] != "fire":
        return call(words, stdin, env, cwd, limit_s)
    settings.parent.mkdir(parents=True, exist_ok=True)
    before = settings.read_text() if settings.exists() else ""
    if "warm_python" not in before:
        settings.write_text(f'warm_python = "all"\n{before}')
    shutil.copytree(root, kept, symlinks=True)
    for number in range(RUNS):
        ended = call(words, stdin, given, cwd, limit_s)
        time.sleep(0.5)  # time for an interpreter to start or learn
        if number < RUNS - 1:
            for part in kept.iterdir():
                shutil.rmtree(root / part.name)
                shutil.copytree(part, root / part.name, symlinks=True)
    shutil.rmtree(kept)
    return ended


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_python_hook_of_the_vectors_answers_the_same(door: Door) -> None:
    served, wrong = 0, dict[str, list[str]]()
    for vector in load_suite(None, ()).all():
        has_peer = any("sh" in step for step in vector.steps)  # a server that answers only once
        if has_peer or "python" not in repr(vector.layout) + repr(vector.steps):
            continue
        before = interpreters(door)
        result = run_vector(vector, [str(door.launcher)], caller=partial(warmed, door))
        if result.failures:
            wrong[vector.id] = result.failures
        served += bool(interpreters(door) - before)
    assert wrong == {}
    assert served > 20, "hardly any of them was run in an interpreter"


EVENTS = (
    ("pre_tool", "--tool", "Bash", "--input", '{"command": "git push --force"}'),
    ("pre_tool", "--tool", "Write", "--input", '{"file_path": "a.py", "content": "password = 1"}'),
    ("post_tool", "--tool", "Bash", "--input", '{"command": "ls"}', "--output", "sk-12345678901234567890"),
    ("user_prompt_submit", "--prompt", "hello"),
    ("session_start",), ("turn_start",), ("stop",), ("session_end",),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_every_python_hook_of_the_examples_answers_the_same(door: Door, world: World, example: Path) -> None:
    shutil.copytree(example, world.project, dirs_exist_ok=True)
    world.config('warm_python = "all"')
    door.start()
    for event in EVENTS:
        words = ("fire", *event, "--trust", "all", "--json", "--session", "s")
        answers = []
        for number in range(RUNS + 1):
            done = door.call(*words) if number else door.cold(*words)
            answers.append((done.returncode, VOLATILE.sub("", done.stdout.decode()), done.stderr))
            time.sleep(0.3)
        assert answers.count(answers[0]) == len(answers), event


def scripted(world: World, where: str) -> None:
    path = world.root / f"{where}.py"
    path.write_text(f"{WHO}print('{{}}')\nsys.stderr.write(f'{{is_warm}}')\n")
    folder = world.home / "Documents/Kodik/Hooks" if where == "user" else world.project / ".kodik/hooks"
    folder.mkdir(parents=True, exist_ok=True)
    hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": f"{sys.executable} {path}"}]}]}
    (folder / "hooks.json").write_text(json.dumps({"hooks": hooks}))


def seen(door: Door) -> dict[str, str]:
    """What each hook reports about itself."""
    done = door.call("fire", "pre_tool", "--tool", "Bash", "--input", "{}", "--trust", "all", "--json")
    return {hook["scope"]: hook["stderr"] for hook in json.loads(done.stdout)["hooks"]}


def is_warm_at_last(door: Door, scope: str) -> None:
    eventually(lambda: seen(door)[scope] == "True", f"the {scope}'s hook never ran in a warm interpreter")


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("", {"user": "True", "project": "False"}),
        ('warm_python = "all"', {"user": "True", "project": "True"}),
        ('warm_python = "off"', {"user": "False", "project": "False"}),
        ('[hooks."kodik:project:PreToolUse:project.py"]\nwarm = "on"', {"user": "True", "project": "True"}),
        ('[hooks."kodik:user:PreToolUse:user.py"]\nwarm = "off"', {"user": "False", "project": "False"}),
    ],
)
def test_settings_say_whose_scripts_may_be_warm(door: Door, world: World, said: str, wanted: dict[str, str]) -> None:
    scripted(world, "user")
    scripted(world, "project")
    world.config(said)
    door.start()
    assert set(seen(door).values()) == {"False"}, "the first call starts the interpreters"
    for scope in [scope for scope, is_warm in wanted.items() if is_warm == "True"]:
        is_warm_at_last(door, scope)
    if "True" not in wanted.values():
        time.sleep(0.5)  # enough time to start one
    assert seen(door) == wanted
    door.call("warm", "--stop")


def test_killed_interpreters_do_not_count(door: Door, world: World) -> None:
    """A server has at most eight interpreters. Files of killed ones are deleted."""
    scripted(world, "user")
    door.start()
    folder = Path(door.runtime, "anyhook", "python")
    folder.mkdir(0o700)
    for number in range(MAX_ZYGOTES):
        for end in ("", ".lesson", ".lock"):
            (folder / f"killed-{number}{end}").touch()
    is_warm_at_last(door, "user")
    assert [path.name for path in folder.iterdir() if path.name.startswith("killed")] == []


def test_a_function_is_warm_without_being_asked(door: Door, world: World) -> None:
    folder = world.project / ".anyhook"
    folder.mkdir()
    guard = "@before.run('ls')\ndef guard(call):\n    deny(f'{is_warm}')\n"
    (folder / "hooks.py").write_text(f"from anyhook.hooks import before, deny\n{WHO}\n{guard}")
    door.start()
    words = ("fire", "pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}', "--trust", "all", "--json")

    def is_warm() -> bool:
        answer = json.loads(door.call(*words).stdout)
        assert answer["verdict"] == "block", answer
        return bool(answer["reason"] == "True")

    eventually(is_warm, "it never ran in a warm interpreter")


@pytest.mark.parametrize("change", ["json.py", "enum/__init__.py", "helper.py", "helper/__init__.py"])
def test_code_beside_an_approved_script_does_not_run_in_a_running_interpreter_either(
    door: Door, world: World, change: str
) -> None:
    log = world.root / "log"
    script = f"{WHO}import json, helper\njson.load(sys.stdin)\nopen({str(log)!r}, 'a').write(f'ran {{is_warm}}\\n')\n"
    world.write(world.project / "tools" / "guard.py", script)
    world.write(world.project / "tools" / "helper.py", "")
    hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": f"{sys.executable} tools/guard.py"}]}]}
    world.write(world.project / ".kodik" / "hooks" / "hooks.json", json.dumps({"hooks": hooks}))
    world.config('warm_python = "all"\n')
    world.approve()
    door.start()

    def fire() -> str:
        words = ("fire", "pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}', "--json")
        return str(json.loads(door.call(*words, env={"ANYHOOK_WARM": "on"}).stdout)["hooks"][0]["status"])

    def ran_warm() -> bool:
        assert fire() == "ran"
        return "ran True" in log.read_text()

    eventually(ran_warm, "no interpreter was kept for it")
    world.write(world.project / "tools" / change, f"open({str(log)!r}, 'a').write('evil\\n')\n")
    assert fire() == "untrusted"
    assert "evil" not in log.read_text()
