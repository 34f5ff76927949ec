"""Programs, paths and wildcards in conditions."""

from __future__ import annotations

import pytest

from anyhook.rules.paths import Places, compile_path, matches
from anyhook.rules.programs import asks_help, has_operands, has_option, sort_words
from anyhook.rules.templates import shell_line, wrong_template
from anyhook.rules.wildcards import alternatives, like
from each_of import each_of

PLACES = Places("/home/me", "/home/me/work/app")


@each_of(
    ("line", "option", "found"),
    [
        ("rm -fr x", "-r", True),
        ("rm -fr x", "--recursive", True),
        ("rm --recurs x", "-r", True),
        ("rm --rec x", "--recursive", True),
        ("rm -- -r", "-r", False),
        ("rm -f x", "-r", False),
        ("git push --force-with-lease", "--force", False),
        ("git push --force", "--force-with-lease", False),
        ("git push -uf", "--force", True),
        ("git push --force=yes", "--force", True),
        ("git commit -n", "--no-verify", True),
        ("git clean -n", "--no-verify", False),
        ("git clean -n", "--dry-run", True),
        ("kubectl get -ojson x", "-n", False),
        ("kubectl get -ojson x", "-o=json", True),
        ("kubectl get -o json x", "-o=json", True),
        ("kubectl get -o yaml x", "-o=json", False),
        ("find . -delete", "-delete", True),
        ("find . -type d", "-delete", False),
        ("tar -xzf a", "-x", True),
        ("some --dry-runs", "--dry-run", False),
    ],
)
def test_options(line: str, option: str, found: bool) -> None:
    name, *args = line.split()
    assert has_option(name, sort_words(name, args), option) is found


@each_of(
    ("line", "operands", "found"),
    [
        ("git push", "push", True),
        ("git stash push", "push", False),
        ("git -C dir -c a.b=c push", "push", True),
        ("git -C push status", "push", False),
        ("kubectl -n prod delete pod x", "delete pod", True),
        ("aws s3 --profile p rm x", "s3 rm", True),
        ("unheard --with value delete", "delete", True),
        ("unheard --with delete", "delete", True),
        ("docker -- system prune", "system prune", True),
    ],
)
def test_operands(line: str, operands: str, found: bool) -> None:
    name, *args = line.split()
    assert has_operands(sort_words(name, args), tuple((word,) for word in operands.split())) is found


@each_of(
    ("pattern", "path", "covers", "found"),
    [
        (".env*", "/home/me/work/app/a/.env.local", False, True),
        (".env*", "/etc/.env", False, True),
        (".env*", "/etc/env", False, False),
        ("migrations/**", "/home/me/work/app/migrations/1/up.sql", False, True),
        ("migrations/**", "/home/me/work/app/a/migrations/1", False, False),
        ("**/migrations/**", "/x/a/migrations/1", False, True),
        ("~/.ssh/*", "/home/me/.ssh/id_rsa", False, True),
        ("~/.ssh/*", "/home/me/.ssh/a/b", False, False),
        ("/etc/**", "/etc/passwd", False, True),
        ("src/keep/**", "/home/me/work/app/src", True, True),
        ("src/keep/**", "/home/me/work/app/src", False, False),
        ("src/keep/**", "/home/me/work/app/*", True, True),
        ("src/keep/**", "/", True, True),
        ("src/keep/**", "/home/me/work/app/other", True, False),
        ("~/.ssh/id_*", "/home/me", True, True),
        ("**/*.py", "/home/me", True, False),
        ("@home", "/home/me", False, True),
        ("@home", "/home/me/*", False, True),
        ("@home", "/home", False, True),
        ("@home", "/home/other", False, True),
        ("@home", "/home/me/Documents", False, True),
        ("@home", "/home/me/Documents/a/b", False, False),
        ("@home", "/home/me/work/app/x", False, False),
        ("@root", "/", False, True),
        ("@root", "/*", False, True),
        ("@root", "/home", False, False),
        ("@project", "/home/me/work/app", False, True),
        ("@project", "/home/me/work/app/*", False, True),
        ("@project", "/home/me", False, True),
        ("@project", "/home/me/work/app/x", False, False),
        ("@system", "/etc/passwd", False, True),
        ("@system", "/usr/*", False, True),
        ("@system", "/var/tmp/x", False, False),
        ("@system", "/home/me/work/app/etc/x", False, False),
        ("@outside", "/home/me/other", False, True),
        ("@outside", "/tmp/x", False, False),
        ("@outside", "/dev/null", False, False),
        ("@outside", "/home/me/work/app/x", False, False),
        ("@temp", "/tmp", False, False),
        ("@temp", "/tmp/x", False, True),
        ("@git", "/home/me/work/app/.git/config", False, True),
        ("@build", "/home/me/work/app/node_modules/x", False, True),
        ("@device", "/dev/sda", False, True),
        ("@device", "/dev/null", False, False),
    ],
)
def test_paths(pattern: str, path: str, covers: bool, found: bool) -> None:
    assert matches(compile_path(pattern), path, PLACES, covers=covers) is found


@pytest.mark.parametrize("temp", ["/tmp", "/dev/shm"])
def test_a_project_in_a_temporary_folder_is_not_temporary(temp: str) -> None:
    places = Places("/home/me", f"{temp}/work")
    assert not matches(compile_path("@temp"), f"{temp}/work/x", places, covers=False)
    assert matches(compile_path("@temp"), f"{temp}/other", places, covers=False)
    assert not matches(compile_path("@device"), f"{temp}/work/x", places, covers=False)


@each_of(
    ("pattern", "text", "found"),
    [
        ("*", "", True),
        ("a*c", "abc", True),
        ("a*c", "abcd", False),
        ("*.py", "x.py", True),
        ("mkfs.*", "mkfs.ext4", True),
        ("[ab]?", "bx", True),
        ("[!ab]", "a", False),
        ("[0-9]*", "7z", True),
        ("[", "[", True),
        ("a", "A", False),
    ],
)
def test_wildcards(pattern: str, text: str, found: bool) -> None:
    assert like(pattern, text) is found


@each_of(
    ("line", "asked"),
    [
        ("shred --help", True),
        ("git push --help", True),
        ("docker --version", False),
        ("shred --version", True),
        ("helm uninstall web --version 1", False),
        ("kubectl delete ns prod -n --help", False),
        ("python3 x.py --help", False),
        ("npx evil --help", False),
    ],
)
def test_a_program_that_is_asked_how_it_is_used(line: str, asked: bool) -> None:
    name, *args = line.split()
    assert asks_help(name, args) is asked


def test_alternatives() -> None:
    assert alternatives("a|b{c,d}") == ("a", "bc", "bd")
    assert alternatives("{a,b}/{c,d}") == ("a/c", "a/d", "b/c", "b/d")
    assert alternatives("{a}") == ("{a}",)
    assert alternatives("a|") == ("a|",)


def test_commands_are_quoted() -> None:
    paths = ("/a b", "/c'd; rm -rf x", "$(x)")
    line = shell_line("fmt {path}", {}, paths[:1])
    assert line == "fmt '/a b'"
    assert shell_line("fmt {paths} {tool}", {"tool": "Bash"}, paths) == (
        "fmt '/a b' '/c'\"'\"'d; rm -rf x' '$(x)' 'Bash'"
    )
    assert wrong_template("fmt {path} ${x} {X} {}", quoted=True) == ""
    assert "quotes" in wrong_template('fmt "{path}"', quoted=True)
    assert wrong_template('say "{path}"', quoted=False) == ""
    assert "`path`" in wrong_template("fmt {pth}", quoted=True)
