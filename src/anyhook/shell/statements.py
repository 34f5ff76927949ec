"""The walk over a line's tree: statements in order, with the scope that a shell would have. Branches are all taken,
loops once with every value, functions where they are called."""

from __future__ import annotations

import os
import re

from anyhook.shell import expand
from anyhook.shell.grammar import text_of
from anyhook.shell.program import Redirection, Word
from anyhook.shell.scope import NOTHING, Stream
from anyhook.shell.simple import Commands, plain
from anyhook.shell.spelling import understood

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tree_sitter import Node

    from anyhook.shell.program import Program
    from anyhook.shell.scope import Scope

MAX_DEPTH = 12
"""How deeply nested lines are read."""
MAX_PROGRAMS = 2_000
BLOCKS = frozenset({"program", "compound_statement", "do_group", "else_clause", "elif_clause", "ERROR"})
REDIRECTS = ("file_redirect", "herestring_redirect", "heredoc_redirect")
STATEMENTS = ("pipeline", "command", "list", "redirected_statement", "subshell", "compound_statement")
HERE_PARTS = ("heredoc_start", "heredoc_body", "heredoc_end", "file_descriptor")


class LineReader(Commands):
    """Reads one line."""

    def line(self, text: str, scope: Scope, stdin: Stream = NOTHING) -> Stream:
        """Walks through one line, and changes the given scope."""
        if self.depth >= MAX_DEPTH or len(self.programs) > MAX_PROGRAMS:
            self.unknown.append("not read: lines inside lines go too deep")
            return NOTHING
        before, self.scope = self.scope, scope
        waiting, self.traps = self.traps, []
        self.depth += 1
        try:
            root = understood(text)
            out = self.run(root, stdin)
            for trap in self.traps:
                self._via("trap", lambda trap=trap: self._text(trap, NOTHING))  # type: ignore[misc]
            if root.has_error:
                self._doubt(text)
        finally:
            self.depth -= 1
            self.scope, self.traps = before, waiting
        return out

    def _doubt(self, text: str) -> None:
        """A line that the grammar does not understand: the parts between its operators also count as commands, so that
        nothing is missed that a shell might still run."""
        from anyhook.shell.loose import loose_commands

        shown = text.strip().splitlines()[0][:60] if text.strip() else ""
        self.unknown.append(f"not read: the grammar does not understand `{shown}`")
        seen = {(program.name, program.args) for program in self.programs}
        for words in loose_commands(text):
            made = [
                self.unknowns.word(expand._tilde(each, self.values)) for word in words for each in expand.braces(word)
            ]
            if made and (os.path.basename(made[0].text), tuple(word.source for word in made[1:])) not in seen:
                self.command(made, (), (), NOTHING)

    def run(self, node: Node, stdin: Stream) -> Stream:
        kind = node.type
        act: Callable[[Node, Stream], Stream] | None = getattr(self, f"_run_{kind}", None)
        if act is not None:
            return act(node, stdin)
        if kind in BLOCKS:
            return self._all(node.named_children, stdin)
        if kind != "comment":
            self._look_inside(node)
        return NOTHING

    def _all(self, nodes: Sequence[Node], stdin: Stream) -> Stream:
        texts: list[str | None] = []
        origins: tuple[Program, ...] = ()
        for child in nodes:
            if child.type == "comment":
                continue
            out = self.run(child, stdin)
            texts.append(out.text)
            origins += out.origins
        text = None if None in texts or not texts else "".join(str(each) for each in texts)
        return Stream(text, origins)

    def _look_inside(self, node: Node) -> None:
        """Substitutions in tests, arithmetic and other places run too."""
        for child in node.children:
            if child.type in ("command_substitution", "process_substitution"):
                self._substituted(child)
            else:
                self._look_inside(child)

    def _run_list(self, node: Node, stdin: Stream) -> Stream:
        left, right = node.named_children[0], node.named_children[-1]
        out = self.run(left, stdin)
        if any(child.type == "||" for child in node.children):
            before = self.scope.copy()
            other = self.run(right, stdin)
            kept = self.scope.cwd if before.cwd != self.scope.cwd and _leaves(right) else None
            self.scope.either(before)
            self.scope.cwd = self.scope.cwd or kept
            return Stream(None, out.origins + other.origins)
        return out.then(self.run(right, stdin))

    def _run_subshell(self, node: Node, stdin: Stream) -> Stream:
        return self._apart(lambda: self._all(node.named_children, stdin))

    def _run_pipeline(self, node: Node, stdin: Stream) -> Stream:
        stream = stdin
        for child in node.named_children:
            if child.type == "comment":
                continue
            feed, given = child, stream
            if _is_list(child):  # `a && b 2>&1 | c`: the grammar puts `a` into the pipe, but no shell does
                out = self.run(feed, given)
            else:
                out = self._apart(lambda feed=feed, given=given: self.run(feed, given))  # type: ignore[misc]
            stream = Stream(out.text, stream.origins + out.origins)
        return stream

    def _run_negated_command(self, node: Node, stdin: Stream) -> Stream:
        return self._all(node.named_children, stdin)

    def _run_if_statement(self, node: Node, stdin: Stream) -> Stream:
        """Every branch starts from the same scope, and the effects of any of them may apply afterwards."""
        branches: list[list[Node]] = [[]]
        for child in node.named_children:
            if child.type in ("elif_clause", "else_clause", "case_item"):
                branches.append([child])
            else:
                branches[0].append(child)
        before = self.scope.copy()
        ends: list[Scope] = []
        origins: tuple[Program, ...] = ()
        for branch in branches:
            self.scope.take(before.copy())
            origins += self._all(branch, stdin).origins
            ends.append(self.scope.copy())
        self.scope.take(before)
        for end in ends:
            self.scope.either(end)
        return Stream(None, origins)

    _run_while_statement = _run_if_statement

    _run_case_statement = _run_if_statement

    def _run_case_item(self, node: Node, stdin: Stream) -> Stream:
        closing = next((at for at, child in enumerate(node.children) if child.type == ")"), 0)
        return self._all([child for child in node.children[closing + 1 :] if child.is_named], stdin)

    def _run_for_statement(self, node: Node, stdin: Stream) -> Stream:
        body = next((child for child in node.named_children if child.type in ("do_group", "compound_statement")), None)
        name = next((text_of(child) for child in node.named_children if child.type == "variable_name"), "")
        items = [
            child
            for child in node.named_children
            if child is not body and child.type not in ("variable_name", "comment")
        ]
        items = [child for child in items if body is None or child.end_byte <= body.start_byte]
        values = [plain(each) for item in items for each in expand.expand(item, self.values)]
        self._assign(name, values or [self.unknowns.sign(f"${name}")])
        return self.run(body, stdin) if body is not None else NOTHING

    def _run_c_style_for_statement(self, node: Node, stdin: Stream) -> Stream:
        for child in node.named_children:
            if child.type == "variable_assignment":
                name = text_of(child).partition("=")[0]
                self._assign(name, [self.unknowns.sign(f"${name}")])
        return self._all(
            [child for child in node.named_children if child.type in ("do_group", "compound_statement")], stdin
        )

    def _run_function_definition(self, node: Node, _stdin: Stream) -> Stream:
        name = node.named_children[0]
        body = node.named_children[-1]
        self.scope.functions[text_of(name)] = body
        return NOTHING

    def _run_variable_assignment(self, node: Node, _stdin: Stream) -> Stream:
        self._set(node)
        return Stream("")

    def _run_variable_assignments(self, node: Node, _stdin: Stream) -> Stream:
        for child in node.named_children:
            self._set(child)
        return Stream("")

    def _run_declaration_command(self, node: Node, _stdin: Stream) -> Stream:
        words = []
        for child in node.named_children:
            if child.type == "variable_assignment":
                self._set(child)
                words.append(Word(text_of(child), text_of(child)))
            else:
                for each in expand.expand(child, self.values):
                    name, sign, value = plain(each).partition("=")
                    if sign and name.isidentifier():
                        self._declare(name, [value])
                    words.append(self.unknowns.word(each))
        self._tell(Word(text_of(node.children[0]), ""), words, (), (), NOTHING, ())
        return Stream("")

    def _run_unset_command(self, node: Node, _stdin: Stream) -> Stream:
        for child in node.named_children:
            self.scope.variables[text_of(child)] = ("",)
        return Stream("")

    def _run_redirected_statement(self, node: Node, stdin: Stream) -> Stream:
        body = node.child_by_field_name("body")
        nodes = [child for child in node.named_children if body is None or child.id != body.id]
        return self._redirected(body, nodes, stdin)

    def _redirected(self, body: Node | None, nodes: Sequence[Node], stdin: Stream) -> Stream:
        if body is not None and body.type in ("pipeline", "list") and len(body.named_children) > 1:
            return self._ends_in(body, nodes, stdin)
        redirections, given, after = self._redirections(nodes)
        stdin = given if given is not None else stdin
        if body is None:
            self._tell(Word("", ""), (), redirections, (), Stream(""), ())
            out = Stream("")
        elif body.type == "command":
            out = self._command(body, stdin, redirections, [word for node in nodes for word in _words_behind(node)])
        else:
            self._tell(Word("", ""), (), redirections, (), NOTHING, ())
            out = self.run(body, stdin)
        self._keep(redirections, out)
        for each in after:
            self.run(each, out) if each.type == "pipeline" else self.run(each, NOTHING)
        return out

    def _ends_in(self, body: Node, nodes: Sequence[Node], stdin: Stream) -> Stream:
        """A pipe or list whose last command is redirected."""
        *first, last = body.named_children
        stream = stdin
        for child in first:
            out = self.run(child, stream)
            stream = Stream(out.text, stream.origins + out.origins) if body.type == "pipeline" else stdin
        inner = last.child_by_field_name("body") if last.type == "redirected_statement" else last
        own = (
            [child for child in last.named_children if inner is None or child.id != inner.id]
            if inner is not last
            else []
        )
        return self._redirected(inner, [*own, *nodes], stream)

    def _redirections(self, nodes: Sequence[Node]) -> tuple[tuple[Redirection, ...], Stream | None, list[Node]]:
        """The named files, the text of a here-document, and statements that the grammar puts below one."""
        found: list[Redirection] = []
        given: Stream | None = None
        after: list[Node] = []
        for node in nodes:
            if node.type == "file_redirect" and node.named_children[-1].type == "process_substitution":
                text, origins = self._substituted(node.named_children[-1])
                given = Stream(text, origins)
            elif node.type == "file_redirect":
                found.extend(self._file_redirect(node))
            elif node.type == "herestring_redirect":
                words = expand.one(node.named_children[-1], self.values)
                given = Stream("\n".join(plain(each) for each in words) + "\n", self.unknowns.word(words[0]).origins)
            elif node.type == "heredoc_redirect":
                given = Stream(self._here_document(node))
                inner = [child for child in node.named_children if child.type not in HERE_PARTS]
                more, other, later = self._redirections([child for child in inner if child.type in REDIRECTS])
                found.extend(more)
                given = other if other is not None else given
                after += [*(child for child in inner if child.type in STATEMENTS), *later]
        return tuple(found), given, after

    def _file_redirect(self, node: Node) -> list[Redirection]:
        """The named file. (The grammar also includes words after it; see `_words_behind`.)"""
        sign = "".join(text_of(child) for child in node.children if not child.is_named or child.type == "ERROR").strip()
        named = [child for child in node.named_children if child.type not in ("file_descriptor", "ERROR")]
        if not named:
            return []
        target = named[0]
        if target.type == "number" and "&" in sign:
            return []
        words = [self.unknowns.word(each) for each in expand.one(target, self.values)]
        return [Redirection(sign, word) for word in words if word.text not in ("-", "")]

    def _here_document(self, node: Node) -> str:
        start = next((text_of(child) for child in node.children if child.type == "heredoc_start"), "")
        body = next((child for child in node.children if child.type == "heredoc_body"), None)
        if body is None:
            return ""
        if start[:1] in ("'", '"', "\\"):
            text = text_of(body)
        else:
            text = plain(expand._pieces(body, self.values, quoted=True)[0])
            for inner in re.findall(r"(?<!\\)`((?:[^`\\]|\\.)*)`", text_of(body), re.DOTALL):
                self._apart(lambda inner=inner: self.line(inner, self.scope))  # type: ignore[misc]
        return (
            re.sub(r"^\t+", "", text, flags=re.MULTILINE)
            if any(child.type == "<<-" for child in node.children)
            else text
        )

    def _run_command(self, node: Node, stdin: Stream) -> Stream:
        return self._command(node, stdin, (), ())

    def _command(
        self, node: Node, stdin: Stream, redirections: tuple[Redirection, ...], behind: Sequence[Node]
    ) -> Stream:
        words: list[Word] = []
        set_: list[tuple[str, str]] = []
        own: list[Node] = []
        for child in (*node.named_children, *behind):
            kind = child.type
            if kind == "variable_assignment":
                set_.append((text_of(child).partition("=")[0], self._value_of(child)[0]))
            elif kind in REDIRECTS:
                own.append(child)
            elif kind != "comment":
                words += [self.unknowns.word(each) for each in expand.expand(child, self.values)]
        more, given, after = self._redirections(own) if own else ((), None, [])
        stdin = given if given is not None else stdin
        redirections = (*more, *redirections)
        if not words or (len(words) == 1 and not words[0].text):
            for name, value in set_:
                self._declare(name, [value])
            self._tell(Word("", ""), (), redirections, (), NOTHING, ())
            return Stream("")
        out = self.command(words, redirections, tuple(set_), stdin)
        if more:
            self._keep(more, out)
        for each in after:
            self.run(each, out)
        return out

    def _set(self, node: Node) -> None:
        name = text_of(node.named_children[0]) if node.named_children else ""
        values = self._value_of(node)
        if any(child.type == "+=" for child in node.children):
            before = self.scope.variables.get(name, ("",))
            is_list = any(child.type == "array" for child in node.children)
            values = [*before, *values] if is_list else [old + new for old in before for new in values]
        self._declare(name.partition("[")[0], values)

    def _value_of(self, node: Node) -> list[str]:
        children = node.named_children[1:]
        if not children:
            return [""]
        if children[0].type == "array":
            return [plain(each) for child in children[0].named_children for each in expand.expand(child, self.values)]
        return [plain(each) for each in expand.one(children[0], self.values)]

    def _substituted(self, node: Node) -> tuple[str | None, tuple[Program, ...]]:
        """Runs what is in `$(…)`, `` `…` `` or `<(…)`; returns its output if that is known."""
        start = len(self.programs)
        out = self._apart(
            lambda: self._all([child for child in node.named_children if child.type != "comment"], NOTHING)
        )
        origins = out.origins or tuple(self.programs[start:])
        if len(node.named_children) == 1 and node.named_children[0].type == "file_redirect":  # $(< file)
            target = self._file_redirect(node.named_children[0])
            self._tell(Word("cat", "cat"), [each.target for each in target], (), (), NOTHING, ())
        return out.text, origins


def _words_behind(node: Node) -> list[Node]:
    """The arguments of a command after a redirection, which the grammar puts below it."""
    if node.type == "file_redirect":
        named = [child for child in node.named_children if child.type not in ("file_descriptor", "ERROR")]
        following = node.next_sibling
        is_stream = following is not None and following.type in REDIRECTS and named and named[-1].type == "number"
        if is_stream and following is not None and following.start_byte == named[-1].end_byte:
            named = named[:-1]  # the `0` of `>& a 0>&1`
        return named[1:]
    if node.type != "heredoc_redirect":
        return []
    return [
        word
        for child in node.named_children
        for word in ([child] if child.type not in (*HERE_PARTS, *REDIRECTS, *STATEMENTS) else _words_behind(child))
    ]


def _is_list(node: Node) -> bool:
    body = node.child_by_field_name("body") if node.type == "redirected_statement" else node
    return body is not None and body.type == "list"


def _leaves(node: Node) -> bool:
    """Whether what follows `||` exits or does nothing, so that the left side's folder stays."""
    return text_of(node).split(" ")[0] in ("exit", "return", "true", ":", "echo", "{")
