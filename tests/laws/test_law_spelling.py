"""However a line is spelled: what a shell reads as the same words gives the same facts. A real shell confirms that the
spellings are equal."""

from __future__ import annotations

import random
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from anyhook.programs.continuations import joined
from anyhook.programs.statements import read_line
from anyhook.rules.calls import facts_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="needs bash to confirm what it reads")
CUT = "\\\n"
LINES = (
    ("rm", "-rf", "/home/me/a"),
    ("git", "push", "--force", "origin", "main"),
    ("sudo", "-u", "root", "dd", "if=/dev/zero", "of=/dev/sda"),
    ("cat", "/home/me/.ssh/id_rsa"),
    ("anyhook", "disable", "a"),
    ("bash", "-c", "rm -rf /home/me/b"),
    ("chmod", "-R", "777", "/etc"),
)
EXACT: tuple[Callable[[str], str], ...] = (
    lambda text: f"'{text}'",
    lambda text: f'"{text}"',
    lambda text: "".join(f"\\{sign}" for sign in text),
    lambda text: "$'" + "".join(f"\\x{ord(sign):02x}" for sign in text) + "'",
    lambda text: "$'" + "".join(f"\\{ord(sign):03o}" for sign in text) + "'",
    lambda text: "$'" + "".join(f"\\u{ord(sign):04x}" for sign in text) + "'",
    lambda text: f"''{text}\"\"" if text.isalnum() else f"'{text}'",
    lambda text: f'$"{text}"',
    lambda text: f"{CUT}'{text}'{CUT}",
    lambda text: f'"{text[:1]}{CUT}{text[1:]}"',
    lambda text: f"$@'{text}'",
    lambda text: f"'{text}'$1",
    lambda text: f"'{text}'${{@}}",
    lambda text: f"\"$*\"'{text}'",
)
"""Spellings of a part of a word that give the same word."""
MORE: tuple[Callable[[str], str], ...] = (
    lambda text: f"\"$(printf %s '{text}')\"",
    lambda text: f'"`echo "{text}"`"',
    lambda text: f"\"$(ech{CUT}o '{text}')\"",
)
"""Spellings that also run something else."""
BETWEEN = (" ", "\t", f" {CUT}", f"{CUT} ", "  ")


def spelled(words: tuple[str, ...], chance: random.Random, ways: tuple[Callable[[str], str], ...]) -> str:
    made = []
    for word in words:
        first, second = sorted(chance.randrange(len(word) + 1) for _ in range(2))
        parts = [part for part in (word[:first], word[first:second], word[second:]) if part]
        made.append("".join(chance.choice(ways)(part) for part in parts))
    return "".join(f"{word}{chance.choice(BETWEEN)}" for word in made[:-1]) + made[-1]


def read_by_bash(lines: list[str], folder: Path) -> list[list[str]]:
    """The words of each line, as bash passes them on."""
    script = "".join(f"printf '%s\\0' {line}\nprintf '\\0'\n" for line in lines)
    ran = subprocess.run(
        [BASH or "", "--norc"], input=script.encode(), capture_output=True, cwd=folder, timeout=60, check=True
    )
    return [each.decode().split("\0") for each in ran.stdout.removesuffix(b"\0\0").split(b"\0\0")]


def told(line: str) -> tuple[object, ...]:
    facts = facts_of("Bash", {"command": line}, cwd="/home/me/p", home="/home/me", project=None)
    runs = [(program.name, program.args, program.via) for program in facts.runs]
    return runs, facts.reads, facts.writes, facts.deletes, facts.changes, facts.git, facts.secrets, facts.unknown


def test_every_spelling_gives_the_same_facts(tmp_path: Path) -> None:
    chance = random.Random(26)
    made = [(words, spelled(words, chance, EXACT)) for words in LINES * 40]
    for (words, line), read in zip(made, read_by_bash([line for _, line in made], tmp_path), strict=True):
        assert list(words) == read, line
        assert told(line) == told(" ".join(f"'{word}'" for word in words)), line


def test_spellings_that_run_something_else_hide_nothing(tmp_path: Path) -> None:
    chance = random.Random(27)
    made = [(words, spelled(words, chance, (*EXACT, *MORE))) for words in LINES * 40]
    for (words, line), read in zip(made, read_by_bash([line for _, line in made], tmp_path), strict=True):
        assert list(words) == read, line
        plain, found = (read_line(each, "/p", "/home/me") for each in (" ".join(f"'{word}'" for word in words), line))
        assert {each.name for each in plain.programs} <= {each.name for each in found.programs} or found.unknown, line


# -- continuations anywhere


class Maker:
    """Makes lines with everything that can be open when a continuation comes."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def word(self, depth: int) -> str:
        pick = self.chance.choice
        plain = ("a", "b#c", "1", "x=1", "case", "esac", "in", "'q#'", "'\"'", "\\\\", "\\'", "$'\\''", "$x", "#n",
                 "'`'",
                 "'('", '"\'"', "'<<E'", "'\\'")  # fmt: skip
        if depth <= 0:
            return pick(plain)
        inner = (
            lambda: pick(plain),
            lambda: f'"{"".join(pick(("a", " ", "#", self.substituted(depth), "$((1<<2))")) for _ in range(2))}"',
            lambda: self.substituted(depth),
            lambda: f"${{x:-{self.word(depth - 1)}}}",
            lambda: "$((1+(2<<1)))",
            lambda: f"<({self.command(depth - 1)})",
            lambda: pick(("`a`", "`a 'b'`", "`a # c`")),
            lambda: self.word(depth - 1) + self.word(depth - 1),
        )
        return pick(inner)()

    def substituted(self, depth: int) -> str:
        return f"$({self.command(depth - 1)}{self.chance.choice(('', chr(10)))})"

    def simple(self, depth: int) -> str:
        return " ".join(["echo", *(self.word(depth) for _ in range(self.chance.randrange(4)))])

    def command(self, depth: int) -> str:
        pick = self.chance.choice
        if depth <= 0:
            return self.simple(depth)
        inner = (
            lambda: self.simple(depth),
            lambda: (
                f"case {self.word(depth - 1)} in a) {self.command(depth - 1)};; (b) {self.command(depth - 1)};; esac"
            ),
            lambda: f"{self.simple(depth - 1)} # it's {pick(chr(34) + '()a')}\n{self.command(depth - 1)}",
            lambda: (
                f"echo <<{pick(('E', chr(39) + 'E' + chr(39), '-E', chr(92) + 'E'))}\n"
                f"{pick(('b', '$x', chr(39), chr(34)))}\nE\n{self.command(depth - 1)}"
            ),
            lambda: f"({self.command(depth - 1)})",
            lambda: f"{self.command(depth - 1)}{pick(('; ', ' && ', ' | ', chr(10)))}{self.command(depth - 1)}",
            lambda: f"if {self.command(depth - 1)}; then {self.command(depth - 1)}; fi",
            lambda: f"((1<<2)); {self.command(depth - 1)}",
        )
        return pick(inner)()

    def line(self) -> str:
        text = self.command(3)
        for _ in range(self.chance.randrange(1, 4)):
            place = self.chance.randrange(len(text) + 1)
            text = f"{text[:place]}{CUT}{text[place:]}"
        return text


def test_continuations_go_where_bash_removes_them(tmp_path: Path) -> None:
    """A function with the line is the same function with the line that we made of it."""
    maker = Maker(28)
    lines = [line for line in (maker.line() for _ in range(700)) if CUT in line]
    script = ""
    for each in (either for line in lines for either in (line, joined(line))):
        quoted = "f() {\n{}\n}".replace("{}", each).replace("'", "'\\''")
        script += f"(unset -f f; eval '{quoted}' >/dev/null 2>&1 </dev/null; declare -f f); printf '\\0'\n"
    env = {"PATH": str(tmp_path)}
    ran = subprocess.run(
        [BASH or "", "--norc"],
        input=script.encode(),
        capture_output=True,
        cwd=tmp_path,
        env=env,
        timeout=120,
        check=False,
    )
    seen = ran.stdout.split(b"\0")[:-1]
    assert len(seen) == 2 * len(lines)
    pairs = [(line, one, two) for line, one, two in zip(lines, seen[::2], seen[1::2], strict=True) if one]
    assert len(pairs) > 200
    for line, one, two in pairs:
        assert one.replace(b"\\\n", b"") == two.replace(b"\\\n", b"") if '"${x:-' in line else one == two, line


def test_examples() -> None:
    for line, runs in (
        ("r\\\nm -rf x", ["rm -rf x"]),
        ("ls &\\\n& rm x", ["ls", "rm x"]),
        ("a=$\\\n(echo y); rm x", ["echo y", "rm x"]),
        ("${no_such:-rm} -rf x", ["rm -rf x"]),
        ('r"${no_such:-m}" -rf x', ["rm -rf x"]),
        ("$\\\n{no_such:-ba\\\nsh} -c 'rm x'", ["rm x"]),
        ("echo 'r\\\nm'", ["echo r\\\nm"]),
        ("echo # \\\nrm x", ["echo", "rm x"]),
        ("cat <<E\na\\\nE\nE\nrm x", ["cat", "rm x"]),
        ("cat <<'E'\na\\\nE\nrm x", ["cat", "rm x"]),
        (
            'echo "$(case x in a) echo \'"\';; esac)"; r\\\nm x',
            ['echo "', "echo $(case x in a) echo '\"';; esac)", "rm x"],
        ),
    ):
        found = [" ".join([program.name, *program.args]) for program in read_line(line, "/p", "/h").programs]
        assert found == runs, line
