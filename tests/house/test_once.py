"""What a test can hold of the table "Once" in docs/house.md."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from sources import SOURCE, nodes_of

from anyhook.programs.table import PROGRAMS as KNOWN


def _calls(*names: str) -> list[str]:
    """The modules that call one of these names."""
    return sorted(
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
    )


def test_engines_are_built_in_one_place() -> None:
    assert _calls("Engine") == ["engine/engine.py"]
    assert _calls("Context") == ["engine/engine.py"]


def test_only_the_walk_changes_a_walk() -> None:
    """The special cases take and return values: besides the module itself, only the engine and the bridge know the
    class, and they only drive it."""
    users: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        named = {node.id for node in nodes_of(path) if isinstance(node, ast.Name)}
        if "Walk" in named:
            users[path.relative_to(SOURCE).as_posix()] = {
                f"{node.value.id}.{node.attr}"
                for node in nodes_of(path)
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "begun"
            }
    assert users.pop("engine/walk.py", None) is not None
    assert users.pop("engine/engine.py") == {"begun.run_async", "begun.run_to_end", "begun.part", "begun.context"}
    assert users.pop("engine/bridge.py") == {"begun.run_to_end"}
    assert not users


SENTENCES = ("why", "what", "reason")
LOOKED_AT = {
    "cli/render.py": 3,  # rules that do not apply are counted, not listed; so are many hooks with one reason
    "cli/verb_doctor.py": 1,  # a reason that was printed is not printed twice
    "cli/verb_status.py": 1,  # a reason that the agent's line repeats is not printed twice
    "engine/catalog.py": 1,  # the command in a package's reason names the package's folder
    "engine/interpret.py": 1,  # the same problem is reported once
    "cli/view/backtest_text.py": 1,  # indents lines
    "gates/turned_on.py": 1,  # a pack whose problem is reported is not reported twice
    "gates/gate.py": 1,  # the command is named at the end of the line, not after each reason
    "journal/record.py": 1,  # rules that do not apply are counted, not recorded
}
"""Where a text is still compared, and how often: to print or record less, never to decide about a gate. The list only
gets shorter."""


def test_no_decision_looks_at_a_sentence() -> None:
    """A state and its cause are words of closed sets (`model/words.py`); sentences are for people."""
    found: dict[str, int] = {}
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).as_posix()
        if room.split("/")[0] in ("agents", "extra"):
            continue
        looks = sum(_looks_at_sentence(node) for node in nodes_of(path))
        if looks:
            found[room] = looks
    assert {room: looks for room, looks in found.items() if looks > LOOKED_AT.get(room, 0)} == {}


def _looks_at_sentence(node: ast.AST) -> bool:
    def is_sentence(part: ast.AST) -> bool:
        return isinstance(part, ast.Attribute) and part.attr in SENTENCES

    if isinstance(node, ast.Compare):
        texts = (*map(is_sentence, (node.left, *node.comparators)),)
        plain = all(isinstance(op, (ast.Eq, ast.NotEq, ast.In, ast.NotIn)) for op in node.ops)
        return any(texts) and plain and not isinstance(node.comparators[0], ast.Constant)
    cuts = ("startswith", "endswith", "removesuffix", "removeprefix", "replace", "partition", "rpartition")
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in cuts
        and any(is_sentence(part) for part in ast.walk(node.func.value))
    )


OTHER_WORDS = """
    age at builtin clear cmd code command convert delta diff dir enable env exit expect export false fetch file hash
    groovy help history host http https id install let link mail make node open page patch perl python read return ruby
    script set sh skill source strings task test timeout times true type view watch yes anyhook anyhook-python
"""
"""Names of programs that mean something else where the code has them: kinds of handlers, keys, verbs, languages."""
PROGRAMS = {name for name in KNOWN if name.isidentifier() or len(name) > 2} - {*OTHER_WORDS.split()}
NAMES_ELSEWHERE = {
    "cli/verb_add.py": 1,  # a pack of rules that is called `git`
    "cli/verb_completion.py": 1,  # the shells that completion is written for
    "engine/loads.py": 1,  # a function of Node
    "extra/live/model_server.py": 1,  # an encoding of HTTP
    "extra/warm/warm_python.py": 2,  # what these shells add to the environment
    "guard/calls.py": 3,  # files of shells and of git; functions that change files; sub-commands of agents
    "programs/code.py": 14,  # functions of other languages that are called like programs
    "programs/commands.py": 2,  # what hooks are not named after; words in the names of tools
    "programs/effects.py": 1,  # schemes of addresses
    "programs/git.py": 3,  # sub-commands of git
    "programs/loose.py": 1,  # words of the grammar
    "programs/losses.py": 1,  # sub-commands of git
    "programs/named.py": 1,  # what dialects and first lines put before a script
    "programs/quick.py": 5,  # of the table's rows; a test compares them
    "programs/scripts.py": 1,  # functions of other languages
    "programs/secrets.py": 1,  # folders with keys
    "programs/special.py": 1,  # sub-commands of tools of the desktop
    "programs/respelled.py": 2,  # words of the grammar
    "programs/statements.py": 1,  # words of the grammar
    "programs/tasks.py": 2,  # where tasks begin, and keys of plays
    "programs/wrappers.py": 1,  # a sub-command of git
    "rules/calls.py": 3,  # words in the names of tools
    "rules/paths.py": 1,  # folders of builds
    "state/repository.py": 1,  # schemes of addresses
}
"""Other modules with names of programs, and how many lists. The list only gets shorter."""
THE_TABLE = ("programs/table.py", "programs/rows.py")
CELL_TYPES = {
    node.targets[0].id
    for node in nodes_of(SOURCE / "programs/rows.py")
    if isinstance(node, ast.Assign)
    and isinstance(node.targets[0], ast.Name)
    and node.targets[0].id[0].isupper()
    and node.targets[0].id != "TYPE_CHECKING"
}
"""The types of cells with a closed set of words, some of which are also programs: `Special`, `Prints`."""


def _programs_in(node: ast.AST) -> set[str]:
    """The programs in a list of names, or in a comparison with one."""
    if isinstance(node, ast.Compare):
        return _texts(node.left, *node.comparators) & PROGRAMS
    if isinstance(node, ast.MatchValue):
        return _texts(node.value) & PROGRAMS
    texts: set[str] = set()
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        texts = _texts(*node.elts)
    elif isinstance(node, ast.Dict):
        texts = _texts(*filter(None, node.keys))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "split":
            texts = {word for text in _texts(node.func.value) for word in text.split()}
        elif isinstance(node.func.value, ast.Name) and node.func.value.id in ("re", "regex") and node.args:
            texts = _words_in(node.args[0])
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "later" and node.args:
        texts = _words_in(node.args[0])
    found = texts & PROGRAMS
    return found if len(found) > 1 else set()


def _of_cells(tree: Iterable[ast.AST]) -> set[int]:
    """The nodes that list or compare words of cells: `row.special == "git"`, `X: dict[Special, …] = {…}`."""
    found: set[int] = set()
    for node in tree:
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute) and node.left.attr in CELLS:
            found.update(map(id, ast.walk(node)))
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            types = {each.id for each in ast.walk(node.annotation) if isinstance(each, ast.Name)}
            found.update([id(node.value)] if types & CELL_TYPES else [])
    return found


CELLS = {
    node.target.id
    for node in nodes_of(SOURCE / "programs/rows.py")
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    and isinstance(node.annotation, ast.Name) and node.annotation.id in CELL_TYPES
}  # fmt: skip


def _words_in(pattern: ast.expr) -> set[str]:
    return {word for text in _texts(*ast.walk(pattern)) for word in re.findall(r"[\w-]+", text)}


def _texts(*nodes: ast.AST) -> set[str]:
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_only_the_table_lists_programs() -> None:
    """What is known about a program is in its row. An agent's own file may name the programs that the agent starts."""
    found: dict[str, int] = {}
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).as_posix()
        if room in THE_TABLE or room.startswith("agents/"):
            continue
        of_cells = _of_cells(nodes_of(path))
        if named := sum(bool(_programs_in(node)) for node in nodes_of(path) if id(node) not in of_cells):
            found[room] = named
    assert {room: named for room, named in found.items() if named > NAMES_ELSEWHERE.get(room, 0)} == {}
    assert {room: allowed for room, allowed in NAMES_ELSEWHERE.items() if allowed > found.get(room, 0)} == {}


def test_the_search_for_programs_finds_them() -> None:
    for source in (
        '("rm", "mv")',
        "name == 'git'",
        "'cp mv'.split()",
        "re.compile('(npm|pip)[0-9]*')",
        "{'rm': 1, 'mv': 2}",
    ):
        assert any(map(_programs_in, ast.walk(ast.parse(source)))), source
    for source in ('("git", "-C")', "kind == 'command'", "'a b'.split()"):
        assert not any(map(_programs_in, ast.walk(ast.parse(source)))), source


def test_only_the_room_of_programs_splits_command_lines() -> None:
    splitting = {
        path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if any(map(_splits, nodes_of(path)))
    }
    assert splitting
    assert {room for room in splitting if not room.startswith("programs/")} == set()


def _splits(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.module in ("shlex", "tree_sitter", "tree_sitter_bash")
    is_shlex = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "shlex"
    return isinstance(node, ast.Attribute) and is_shlex and node.attr not in ("quote", "join")
