"""`hooks.py`: functions with decorators → hooks. The file is parsed but not run: no part of a project runs before it is
approved, and decorators must be known before any call. So their arguments are literals."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from anyhook.documents.files import Files
from anyhook.model.hook import Hook
from anyhook.model.json_types import Json
from anyhook.model.problem import ERROR
from anyhook.model.words import Severity
from anyhook.rules.language import Names
from anyhook.rules.rule_file import RuleFile

if TYPE_CHECKING:
    from anyhook.rules.rule_file import Place

    Function = ast.FunctionDef | ast.AsyncFunctionDef

MODULE = "anyhook.hooks"
DECORATORS = ("before", "after")
ASKS = {
    "run": "runs", "read": "reads", "write": "writes", "delete": "deletes", "change": "changes", "touch": "touches",
    "connect": "connects", "tool": "tool",
}  # fmt: skip
"""Methods of `before` and `after`, and the word of a condition that each stands for."""
OPTIONS = ("unless", "agents", "tools", "timeout", "name", "enabled")
LABEL = "hooks.py"
MAX_MODULES = 200


class NotPlain(Exception):  # noqa: N818 (it says what is wrong)
    """Why a decorator cannot be read."""


class FunctionFile(RuleFile):
    """Reads the functions of one file. Used for one load."""

    def complain(self, code: str, what: str, place: Place, fix: str = "", severity: Severity = ERROR) -> None:
        self.files.problem(code, what, f"{self.path}:{self.line}" if self.line else self.path, "", fix, severity)

    def read_source(self, text: str) -> list[Hook]:
        """The hooks of the file, or a problem if it is not Python."""
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self.line = getattr(error, "lineno", None)
            why = getattr(error, "msg", error)
            self.complain("invalid-python", f"the file is not valid Python: {why}", (), "Correct it.")
            return []
        self.label = LABEL
        bound = dict(_bound(tree))
        self.modules = modules_beside(self.path, tree, self.files)
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for decorator in node.decorator_list:
                    self.decorated(node, decorator, bound)
        top = set(map(id, tree.body))
        for inner in ast.walk(tree):
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef) and id(inner) not in top:
                for decorator in inner.decorator_list:
                    if _named(decorator, bound):
                        self.broken(inner, "only functions at the top of the file can be hooks")
        return self.hooks

    def decorated(self, node: Function, decorator: ast.expr, bound: dict[str, str]) -> None:
        """Add a hook for one decorator of a function, if it is one of anyhook's."""
        named = _named(decorator, bound)
        if not named:
            return
        self.line = node.lineno
        try:
            if isinstance(node, ast.AsyncFunctionDef):
                raise NotPlain("it is asynchronous; write a plain function")
            key, condition = _condition(named, decorator)
            table: dict[str, Json] = {"name": node.name, **_options(decorator), key: condition}
            self.remembered = tuple(_earlier(node))
        except NotPlain as error:
            self.broken(node, str(error))
            return
        self.rule(table, Names(), (), node.name)

    def broken(self, node: Function, why: str) -> None:
        """A function that was meant to be a hook but cannot be one is a gate that is off, and is reported as such."""
        self.line = node.lineno
        self.complain("invalid-rule", f"`{node.name}` cannot be used: {why}", (), "Correct its decorator.")
        self.add({"name": node.name}, ["pre_tool"], {"then": "deny"}, (), self.limits.default_s, "broken", why)


def _bound(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Names in the file that refer to `anyhook.hooks`: name → what it imports (`before`), or "" for the module."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == MODULE:
            yield from ((each.asname or each.name, each.name) for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "anyhook":
            yield from ((each.asname or each.name, "") for each in node.names if each.name == "hooks")
        elif isinstance(node, ast.Import):
            yield from ((each.asname or MODULE, "") for each in node.names if each.name == MODULE)


def _named(decorator: ast.expr, bound: dict[str, str]) -> str:
    """A decorator's name, such as `before.write`; "" if it is not ours."""
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    words = ast.unparse(node)
    for name, stands_for in bound.items():
        if words == name or words.startswith(f"{name}."):
            rest = words[len(name) :].lstrip(".")
            full = ".".join(filter(None, (stands_for, rest)))
            if full.partition(".")[0] in (*DECORATORS, "on"):
                return full
    return ""


def _condition(named: str, decorator: ast.expr) -> tuple[str, str]:
    """The key of a rule, and the condition under it."""
    moment, _, asks = named.partition(".")
    if not isinstance(decorator, ast.Call):
        raise NotPlain(f"call the decorator: @{named}(…)")
    words = [_text(each) for each in decorator.args]
    if moment == "on":
        if not words:
            raise NotPlain('`on` needs an event, as on("session_start")')
        return "before", f"event {' '.join(words)}"
    if not asks:
        if len(words) > 1:
            raise NotPlain(f"`{moment}` takes one condition")
        return moment, words[0] if words else f"event {'pre_tool' if moment == 'before' else 'post_tool'}"
    if asks not in ASKS:
        raise NotPlain(f"there is no `{named}`; there are {', '.join(f'{moment}.{each}' for each in ASKS)}")
    return moment, _asked(ASKS[asks], words)


def _asked(verb: str, words: list[str]) -> str:
    if verb == "runs":
        return " or ".join(f"runs {word}" for word in words) or "runs *"
    quoted = [word if word and not any(char.isspace() for char in word) else f"'{word}'" for word in words]
    return " ".join([verb, *quoted])


def _earlier(node: Function) -> Iterator[str]:
    """The conditions that a function asks its session about: `call.session.earlier("reads @secrets")`."""
    for call in ast.walk(node):
        asked = call.func if isinstance(call, ast.Call) else None
        if not isinstance(asked, ast.Attribute) or asked.attr != "earlier" or not isinstance(call, ast.Call):
            continue
        if isinstance(asked.value, ast.Attribute) and asked.value.attr == "session":
            if len(call.args) != 1:
                raise NotPlain("`session.earlier` takes one condition")
            yield _text(call.args[0])


def _options(decorator: ast.expr) -> dict[str, Json]:
    made: dict[str, Json] = {}
    for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
        if keyword.arg not in OPTIONS:
            raise NotPlain(f"`{keyword.arg}` is not one of {', '.join(OPTIONS)}")
        try:
            value = ast.literal_eval(keyword.value)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            raise NotPlain(f"`{keyword.arg}` is not a plain value") from None
        value = list(value) if isinstance(value, tuple) else value
        if value not in ("", []):
            made[str(keyword.arg)] = value
    return made


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value:
        return node.value
    raise NotPlain(f"`{ast.unparse(node)}` is not a plain text; anyhook reads it without running the file")


def modules_beside(path: str, tree: ast.Module, files: Files) -> dict[str, str]:
    """The modules that a file imports from its own folder, and those that they import: name → file."""
    folder = os.path.dirname(path)
    found: dict[str, str] = {}
    waiting = [*_imports(tree, "")]
    for name in waiting:  # grows while it is walked
        for place in (f"{folder}/{name.replace('.', '/')}{end}" for end in (".py", "/__init__.py")):
            if name in found or len(found) >= MAX_MODULES or place == path or not files.is_file(place):
                continue
            found[name] = place
            try:
                inner = ast.parse(files.text(place) or "")
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue  # importing it will fail and say why
            package = name if place.endswith("/__init__.py") else name.rpartition(".")[0]
            waiting.extend(_imports(inner, package))
    return found


def _imports(tree: ast.Module, package: str) -> Iterator[str]:
    """The modules that a file imports anywhere, with their parent packages."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join(filter(None, (*above, node.module)))
            names = [base, *(f"{base}.{each.name}".lstrip(".") for each in node.names)]
        for name in filter(None, names):
            parts = name.split(".")
            yield from (".".join(parts[: end + 1]) for end in range(len(parts)))
