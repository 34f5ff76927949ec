"""The documents: links work, commands parse, examples do what they say, generated pages are current."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from anyhook.cli.app import VERBS, app
from anyhook.documents.files import Files
from anyhook.state.settings import Settings, read_settings
from anyhook.tables.rows import Dialect
from each_of import each_of

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "examples/*/README.md", "src/anyhook/extra/testing/conformance/README.md")
    for path in ROOT.glob(pattern)
)
WRITTEN = [path for path in PAGES if path.parent.name != "dialects"]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
INLINE = re.compile(r"`anyhook ([a-z]+(?:-[a-z]+)*)")


def blocks(page: Path, language: str) -> list[str]:
    return [body for found, body in FENCE.findall(page.read_text(encoding="utf-8")) if found == language]


SHELLS = ("sh", "bash", "console")
NO_RULES = {
    "docs/add-an-agent.md": "a part of a pyproject.toml",
    "docs/agent.md": "settings of our agent, which its own tests read",
    "docs/config.md": "settings, which have a test of their own",
    "docs/refused.md": "settings, which the test of `docs/config.md` covers",
}
"""Pages whose TOML is something else than a rule file."""


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def calls() -> Iterator[tuple[str, str]]:
    """Every call of the command in a shell block, with its page."""
    for page in WRITTEN:
        for block in (block for language in SHELLS for block in blocks(page, language)):
            for line in block.splitlines():
                if (call := line.removeprefix("$ ")).startswith("anyhook "):
                    yield name_of(page), call


CALLS = list(calls())


def test_there_is_something_to_check() -> None:
    assert len(PAGES) >= 15
    assert len(CALLS) >= 20


def test_every_page_is_on_the_site() -> None:
    named = set(re.findall(r"[\w-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    assert named == {path.name for path in (ROOT / "docs").glob("*.md")}, "docs/site.py adds the dialects"


@each_of("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    links = [link for link in LINK.findall(text) if not link.startswith(("http://", "https://"))]
    lost = [link for link in links if not (page.parent / link.partition("#")[0]).exists()]
    assert lost == []


@each_of(("page", "line"), CALLS)
def test_a_call_in_the_docs_parses(page: str, line: str) -> None:
    words = shlex.split(line, comments=True)[1:]
    context = click.Context(app)
    command = app.get_command(context, words[0])
    assert command is not None, f"{page}: there is no verb {words[0]}"
    command.make_context(words[0], words[1:], parent=context)


def test_a_wrong_call_would_be_noticed() -> None:
    context = click.Context(app)
    command = app.get_command(context, "fire")
    assert command is not None
    with pytest.raises(click.UsageError):
        command.make_context("fire", ["Stop", "--no-such-option"], parent=context)


@each_of("page", WRITTEN, ids=name_of)
def test_verbs_in_the_text_exist(page: Path) -> None:
    unknown = set(INLINE.findall(page.read_text(encoding="utf-8"))) - set(VERBS)
    assert unknown == set()


def test_fields_in_the_guide_to_agents_exist() -> None:
    page = (ROOT / "docs" / "add-an-agent.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| field \| says \|\n(?:\|.*\n)+", page, re.MULTILINE)
    named = {name for line in "".join(cells).splitlines() for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    assert "layering" in named
    assert named <= {*Dialect.fields}


def test_generated_pages_are_current() -> None:
    check = [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False, timeout=240)
    assert (done.returncode, done.stderr) == (0, "")


def test_no_path_of_a_machine() -> None:
    folders = ("docs", "examples", "scripts", ".ci")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    files += [ROOT / name for name in ("README.md", "CHANGELOG.md", "Makefile", "pyproject.toml")]
    pattern = re.compile(rb"/(?:root|work|opt)/|/home/[a-z]|/Users/[A-Za-z]")
    found = [name_of(path) for path in files if "__pycache__" not in path.parts and pattern.search(path.read_bytes())]
    assert found == []


@pytest.fixture
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project as the current folder, with a home next to it."""
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    command = tmp_path / "bin" / "anyhook"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m anyhook "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(command.parent), os.environ["PATH"]]))
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return project


def test_the_minute_in_the_docs(clean: Path) -> None:
    page = ROOT / "docs" / "systems.md"
    (minute,) = [block for block in blocks(page, "sh") if "anyhook trust" in block]
    (promised,) = [block for block in blocks(page, "") if "pre_tool:" in block]
    assert last_lines(clean, minute, promised) == [without_time(line) for line in promised.splitlines()]


def test_the_first_rule_in_the_readme(clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME")
    readme = ROOT / "README.md"
    (rule,) = [block for block in blocks(readme, "sh") if "[[rule]]" in block]
    (promised,) = [block for block in blocks(readme, "") if "refused by" in block]
    assert last_lines(clean, rule, promised) == promised.splitlines()


def test_the_readme_fits_two_screens() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 110


def last_lines(folder: Path, script: str, promised: str) -> list[str]:
    """What a script prints at its end: as many lines as are promised. It must exit with status 2."""
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 2, done.stderr
    return [without_time(line) for line in done.stdout.splitlines()[-len(promised.splitlines()) :]]


def without_time(line: str) -> str:
    return re.sub(r"\d+ ms", "N ms", line)


def test_the_program_in_the_docs(clean: Path) -> None:
    (program,) = blocks(ROOT / "docs" / "api.md", "python")
    names: dict[str, object] = {}
    code = compile(program, "api.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    asyncio.run(eval(code, names))
    assert getattr(names["decision"], "verdict", None) == "none"


def test_the_program_in_the_guide(clean: Path) -> None:
    (program,) = blocks(ROOT / "docs" / "guide.md", "python")
    call = [sys.executable, "-c", program]
    done = subprocess.run(call, cwd=clean, capture_output=True, text=True, check=False, timeout=240)
    assert (done.stdout, done.stderr) == ("block deny_tool Refusing to pass a secret on.\n", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_load(clean: Path, shell: str) -> None:
    made = subprocess.run(["anyhook", "completion", shell], capture_output=True, text=True, check=True, timeout=240)
    assert "_ANYHOOK_COMPLETE" in made.stdout
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    subprocess.run([shell, "-n"], input=made.stdout, text=True, check=True, timeout=240)


def first_hooks(project: Path) -> None:
    """The guide's first hooks, laid out as the guide says."""
    guide = ROOT / "docs" / "guide.md"
    (kode,) = blocks(guide, "yaml")
    kodik, kolega, _ = blocks(guide, "json")
    (agenthooks,) = blocks(guide, "markdown")
    (kodelet,) = [block for block in blocks(guide, "sh") if block.startswith("#!")]
    files = {
        ".kode/config.yaml": kode,
        ".kodik/hooks/hooks.json": kodik,
        ".agents/hooks/guard/HOOK.md": agenthooks,
        ".agents/hooks/guard/scripts/run.sh": "exit 2\n",
        ".kolega/hooks.json": kolega,
        ".kolega/guard.sh": "#!/bin/sh\n! grep -q 'rm -rf' || exit 2\n",
        "rules/guard.py": "def check(event):\n    return None\n",
        ".kodelet/hooks/guard": kodelet,
    }
    for name, text in files.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if text.startswith("#!") else 0o644)


@pytest.mark.parametrize(
    ("dialect", "tool"),
    [("kode", "shell"), ("kodik", "Bash"), ("agenthooks", "Shell"), ("kolega", "Bash"), ("kodelet", "bash")],
)
def test_the_first_hooks_of_the_guide(clean: Path, dialect: str, tool: str) -> None:
    first_hooks(clean)
    for command, status in (("rm -rf build", 2), ("ls build", 0)):
        given = json.dumps({"command": command})
        words = ["fire", "pre_tool", "--tool", tool, "--input", given, "--dialect", dialect, "--trust", "all", "--json"]
        done = subprocess.run(["anyhook", *words], capture_output=True, text=True, check=False, timeout=240)
        decision = json.loads(done.stdout)
        broken = [problem for problem in decision["problems"] if not problem["code"].startswith("KODE-HOOK")]
        assert (done.returncode, broken) == (status, [])


def test_the_handlers_that_ask_a_model_in_the_guide(clean: Path) -> None:
    (clean / ".kolega").mkdir()
    (clean / ".kolega" / "hooks.json").write_text(blocks(ROOT / "docs" / "guide.md", "json")[2])
    call = ["anyhook", "check", ".kolega/hooks.json", "--format", "json"]
    assert json.loads(subprocess.run(call, capture_output=True, text=True, check=True, timeout=240).stdout) == {
        "problems": []
    }
    listed = subprocess.run(["anyhook", "list", "--json"], capture_output=True, text=True, check=True, timeout=240)
    assert [hook["handler"] for hook in json.loads(listed.stdout)["hooks"]] == ["prompt", "agent"]


def rule_files() -> Iterator[tuple[str, str]]:
    """Every rule file on a page, with the page."""
    for page in WRITTEN:
        for text in blocks(page, "toml"):
            if name_of(page) not in NO_RULES and "require = " not in text:
                yield name_of(page), text


@each_of(("page", "text"), [*rule_files()])
def test_a_rule_file_in_the_docs_is_understood(clean: Path, page: str, text: str) -> None:
    """No key, condition, rule or pack that it names is wrong."""
    folder = Path(os.environ["XDG_CONFIG_HOME"]) / "anyhook"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "team.toml").write_text('[[rule]]\nname = "no push to main"\nwhen = "runs git push"\n')
    (folder / "hooks.toml").write_text(text)
    done = subprocess.run(
        ["anyhook", "check", "--format", "json"], capture_output=True, text=True, check=False, timeout=240
    )
    assert json.loads(done.stdout) == {"problems": []}, page


def test_what_the_readme_shows_of_a_refusal_is_what_stands_there(clean: Path) -> None:
    subprocess.run(["anyhook", "add", "guard", "--yes"], capture_output=True, check=True, timeout=240)
    (shown,) = blocks(ROOT / "README.md", "console")
    line, *promised = shown.splitlines()
    done = subprocess.run(["bash", "-c", line[2:]], capture_output=True, text=True, check=False, timeout=240)
    said = done.stdout.splitlines()
    assert done.returncode == 2
    assert [each for each in promised if each != "…"] == [each for each in said if each in promised]


def test_the_settings_of_the_page_are_settings(tmp_path: Path) -> None:
    (text,) = blocks(ROOT / "docs" / "config.md", "toml")
    path = tmp_path / "config.toml"
    path.write_text(text)
    files = Files()
    config = read_settings(str(path), files, "/h")
    assert files.problems == []
    assert config == Settings(
        ("/h/kodik/plugins/security-guidance",),
        "native",
        {"agenthooks": {"cwd": "hook"}},
        {"kodik:project:PreToolUse:git_guard.py": "deny"},
        {"fast": "openai:gpt-5-mini", "thinking": "anthropic:some-model"},
        {"openai": {"base_url": "http://localhost:8000/v1", "api_key_env": "MY_KEY"}},
        {"bodies": "full", "keep_days": 90, "keep_mb": 1024},
        hook_off={"kodik:project:PreToolUse:git_guard.py": "deny"},
        hook_mode={"kodik:project:PreToolUse:git_guard.py": "enforce"},
        ask={"where": "agent", "wait_s": 60, "notify": ["desktop"]},
    )
