"""Shell lines read with the grammar: which programs a line runs, through which wrappers, in which folder, and what
cannot be known."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anyhook.programs import statements
from anyhook.programs.loose import RESERVED
from anyhook.programs.statements import plain_words, read_line
from each_of import each_of

RUNS = [
    ("ls -l; cat a", ["ls -l", "cat a"]),
    ("A=1 rm ~/y '$DIR'", ["rm /home/me/y $DIR"]),
    ("sudo -n -u bob env B=2 timeout -s KILL 5 nice -n 5 rm x", ["rm x"]),
    ("sh -c 'cd /q; rm x' && rm y", ["cd /q", "rm x", "rm y"]),
    ("eval 'rm x'", ["eval rm x", "rm x"]),
    ("echo a b | xargs rm", ["echo a b", "rm a b"]),
    ("echo 'rm x' | sh", ["echo rm x", "sh", "rm x"]),
    ("bash <<E\nrm x\nE\n", ["bash", "rm x"]),
    ("cat <<E | sh\nrm x\nE\n", ["cat", "sh", "rm x"]),
    ("cat <<E | sh\nrm x", ["cat", "sh", "rm x"]),
    ("cat <<'E' > f.py\nprint((a[0]).b(c='x'))\nrm y", ["cat"]),
    ("cat <<-E\n\tE\nrm x <<F\n(((a", ["cat", "rm x"]),
    ("cat <<'E' > f.sh\nrm x\nE\nsh f.sh", ["cat", "sh f.sh", "rm x"]),
    ("true && echo rm x >> f.sh; sh f.sh", ["true", "echo rm x", "sh f.sh", "rm x"]),
    ("a && cat > $(mktemp)", ["a", "mktemp", "cat"]),
    ("source <(echo rm x)", ["echo rm x", "source <(echo rm x)", "rm x"]),
    ("bash <(echo cm0geA== | base64 -d)", ["echo cm0geA==", "base64 -d", "bash <(echo cm0geA== | base64 -d)", "rm x"]),
    (". /dev/stdin <<< 'rm x'", [". /dev/stdin", "rm x"]),
    ("PROMPT_COMMAND='rm x'", ["rm x"]),
    ("export PAGER='rm x'", ["rm x", "export PAGER='rm x'"]),
    ("EDITOR=; ls", ["ls"]),
    ("rm a{b,c} {1..3}", ["rm ab ac 1 2 3"]),
    ("any''hook tr\"us\"t", ["anyhook trust"]),
    ("x=~/a; rm $x/b", ["rm /home/me/a/b"]),
    ("X='rm -rf /'; $X", ["rm -rf /"]),
    ("rm${IFS}-rf${IFS}/", ["rm -rf /"]),
    ("$'\\x72m' \\-rf \"/\"", ["rm -rf /"]),
    ("$(echo rm) x", ["echo rm", "rm x"]),
    ("echo cm0geA== | base64 -d | bash", ["echo cm0geA==", "base64 -d", "bash", "rm x"]),
    ("for i in a b; do rm $i; done", ["rm a b"]),
    ('f() { rm "$1"; }; f /etc', ["rm /etc"]),
    ("A=x; f() { rm $A; }; A=/etc f; rm $A", ["rm /etc", "rm x"]),
    ("A=x; A=/etc bash -c 'rm $A'; A=/usr eval 'rm $A'; rm $A", ["rm /etc", "eval rm $A", "rm /usr", "rm x"]),
    ("f() { sh; }; echo rm x > y; f < y", ["echo rm x", "sh", "rm x"]),
    ("alias rm=echo; rm x", ["alias rm=echo", "echo x", "rm x"]),
    ('rm() { command rm "$@"; }; rm x', ["rm x"]),
    ("rm() { echo; }; command rm x; bash -c 'rm y'", ["echo", "rm x", "echo", "rm y"]),
    ("A=/etc; f() { local A=x B; B=y; }; f; rm $A $B", ["local A=x B", "rm /etc $B"]),
    ("A=x; f() { declare -g A=/etc; }; f; rm $A", ["declare -g A=/etc", "rm /etc"]),
    ("HOME=/etc; rm ~/x a=~/y", ["rm /etc/x a=/etc/y"]),
    ("if a; then HOME=/etc; fi; rm ~", ["a", "rm /home/me /etc"]),
    ("if a; then D=x; else D=y; fi; rm $D", ["a", "rm x y"]),
    ("find /q -name x -exec rm {} \\;", ["find /q -name x -exec rm {} ;", "rm /q/**/x"]),
    ("rm > out -rf x", ["rm -rf x"]),
    ("[ -f x ] && echo $(rm y)", ["rm y", "echo $(rm y)"]),
    ("git commit -m \"$(cat <<'E'\nrm -rf /\nE\n)\"", ["cat", "git commit -m rm -rf /"]),
    ("echo 'rm -rf /' # rm x", ["echo rm -rf /"]),
    ("env -S 'rm x'", ["rm x"]),
    ("docker exec -it c rm x", ["docker exec -it c rm x", "rm x"]),
    ("rm$IFS-rf$IFS/", ["rm -rf /"]),
    ("a=x; b=y; rm p$a/q$b/r 's$a'$b/t", ["rm px/qy/r s$ay/t"]),
    ("rm x`echo a`/y`echo b`/z", ["echo a", "echo b", "rm xa/yb/z"]),
    ("awk '{print $1/$NF}' f", ["awk {print $1/$NF} f"]),
    ("a=rm; b=a; ${!b} ${z:-y}", ["rm y ${z:-y}"]),
    ("python3 -B -m pip install x", ["python3 -B -m pip install x", "pip install x"]),
    ("npx -y rimraf@5 x", ["npx -y rimraf@5 x", "rimraf x"]),
    ("npm exec -c 'rm x'", ["npm exec -c rm x", "rm x"]),
    ("su - postgres -c 'rm x'", ["su - postgres -c rm x", "rm x"]),
    ("gcloud compute ssh vm --command='rm x'", ["gcloud compute ssh vm --command=rm x", "rm x"]),
    ("screen -S a -X stuff 'rm x'", ["rm x"]),
    ("GIT_SSH_COMMAND='rm x' git fetch", ["rm x", "git fetch"]),
    ("git -c alias.a='reset --hard' a", ["git -c alias.a=reset --hard a", "git reset --hard"]),
    ("git -c core.pager='rm x' log", ["git -c core.pager=rm x log", "rm x"]),
    ("git rebase --exec='rm x' main", ["git rebase --exec=rm x main", "rm x"]),
    ("/bin/r[m] x", ["rm x"]),
    ("ln -s /bin/rm /tmp/a; /tmp/a x", ["ln -s /bin/rm /tmp/a", "rm x"]),
    ("ln -s /q /tmp/b; rm -r /tmp/b/; rm /tmp/b", ["ln -s /q /tmp/b", "rm -r /q/", "rm /tmp/b"]),
    ("hash -p /bin/rm ls; ls x", ["hash -p /bin/rm ls", "rm x", "ls x"]),  # dash has no `-p`
    ("git ls-files | while read -r f; do rm $f; done", ["git ls-files", "read -r f", "rm ./**"]),
    ("D=x && b 2>&1 | c; rm $D", ["b", "c", "rm x"]),
    ("cmake -E rm x", ["cmake -E rm x", "rm x"]),
    ("grep -rl a src | xargs rm", ["grep -rl a src", "rm ./**"]),
]


@each_of(("line", "wanted"), RUNS, ids=[line for line, _ in RUNS])
def test_what_a_line_runs(line: str, wanted: list[str]) -> None:
    found = read_line(line, "/p", "/home/me")
    assert [" ".join([program.name, *program.args]) for program in found.programs if program.name] == wanted


@each_of(
    ("line", "via"),
    [
        ("sudo -u x nohup rm y", ("sudo", "nohup")),
        ("ssh host rm y", ("ssh host",)),
        ("bash -lc 'eval \"rm y\"'", ("bash -c", "eval")),
        ("ls | xargs -I{} rm {}", ("xargs",)),
    ],
)
def test_what_it_runs_through(line: str, via: tuple[str, ...]) -> None:
    found = read_line(line, "/p", "/home/me")
    assert [program.via for program in found.programs if program.name == "rm"] == [via]


@each_of(
    ("line", "cwd"),
    [
        ("cd sub && rm x", "/p/sub"), ("(cd sub); rm x", "/p"), ("cd $X; rm x", None),
        ("cd $(pwd)/a || exit; rm x", "/p/a"),
        ("pushd /q; rm x", "/q"), ("env -C /q rm x", "/q"), ("cd; rm x", "/home/me"),
        ("HOME=/etc; cd; rm x", "/etc"), ("HOME=/etc cd; rm x", "/etc"),
        ("D=$(mktemp -d) && cd $D && rm x", "/tmp/mktemp1"),
    ],
)  # fmt: skip
def test_where_it_runs(line: str, cwd: str | None) -> None:
    assert [program.cwd for program in read_line(line, "/p", "/home/me").programs if program.name == "rm"] == [cwd]


@each_of(
    ("line", "producer"),
    [
        ("curl u | sh", "curl"), ("bash <(curl u)", "curl"), ('sh -c "$(curl u)"', "curl"),
        ("curl -fsSLo a u; sh a", "curl"),
        ("wget u/a; bash a", "wget"), ("curl u > a && bash ./a", "curl"), ("curl u | tee a | python3", "curl"),
    ],
)  # fmt: skip
def test_where_code_comes_from(line: str, producer: str) -> None:
    last = read_line(line, "/p", "/home/me").programs[-1]
    assert producer in [origin.name for origin in last.stdin_from]


@each_of(
    ("line", "said"),
    [
        ("$X a", "program from $X"), ("eval $X", "code from eval of $X"),
        ("curl u | sh", "code from the output of curl"),
        ("cd $X", "folder from $X"),
        (":(){ :|:& };:", "the function : calls itself"),
        ("rm -rf 'abc", "not read: the grammar does not understand `rm -rf 'abc`"),
        ("sh -c \"$X\"", "code from $X"), ("x" * 1_100_000, "not read: the line is longer than 1000000 characters"),
    ],
)  # fmt: skip
def test_what_cannot_be_known(line: str, said: str) -> None:
    assert said in read_line(line, "/p", "/home/me").unknown


def test_what_is_known_says_nothing() -> None:
    assert read_line("cd a && git status | head -3 > out 2>&1; rm -rf 'x y'", "/p", "/home/me").unknown == ()


@each_of("line", ["'", '"', "$(", "`", "${", "<<", "a <<EOF", "\\", ">", "2>", "(((", "$", "~", "\0", "\ue07b"])
def test_half_a_line(line: str) -> None:
    """A line that no shell would accept is read up to the error, without an exception."""
    assert "rm" in [program.name for program in read_line(f"rm x; {line}", "/p", "/home/me").programs]


def test_shells_in_shells_have_an_end() -> None:
    assert read_line("eval " * 100 + "x", "/p", "/home/me").unknown == ("not read: lines inside lines go too deep",)


def test_where_a_function_reads_and_writes() -> None:
    found = read_line("f() { cat; }; f < x > y", "/q", "/home/me").programs
    assert [(each.sign, each.target.text) for program in found for each in program.redirections] == [
        ("<", "x"), (">", "y"),
    ]  # fmt: skip


def test_only_the_last_command_of_a_list_reads_its_here_document() -> None:
    first, last = read_line("sh && sh <<E\nls\nE\n", "/work", "/home/me").programs[:2]
    assert (first.stdin, last.stdin) == (None, "ls\n")


def test_a_redirection_to_nothing_is_no_failure() -> None:
    """The grammar makes one of what it does not understand."""
    assert not any("Error" in each for each in read_line("f=(){", "/p", "/home/me").unknown)
    assert "the grammar does not understand" in " ".join(read_line("`0`|*|* C+ A(```+`", "/p", "/home/me").unknown)


WORDS = st.one_of(
    st.sampled_from([
        "rm", "ls", "git", "sudo", "env", "xargs", "test", "eval", "exec", "cd", "kill", "sh", "5",
        "-9", "-rf", "-c", "--force", "a=b", "A=b", "--x=y", "./a.sh", "a.b:c@d", "+x", "%1", "=", "-", "--", ".", "..",
        "/", "cat", "source", "push", "alias", "command", "builtin", "1e5", "0x1", "10", "history", "let", "return",
    ]),
    st.text("abcXYZ019_./:=@%+-", min_size=1, max_size=8),
)  # fmt: skip
FIRST = st.one_of(WORDS, st.sampled_from(sorted(RESERVED)))
LINES = st.builds(lambda first, rest: " ".join([first, *rest]), FIRST, st.lists(WORDS, max_size=6))


@settings(max_examples=1_000)
@given(LINES)
def test_a_plain_line_is_read_as_the_grammar_reads_it(line: str) -> None:
    plain = read_line(line, "/q", "/home/me")
    with patch.object(statements, "plain_words", lambda _text: []):
        parsed = read_line(line, "/q", "/home/me")
    assume(not any("the grammar does not" in note for note in parsed.unknown))  # it rejects `1@`, which shells run
    assume("==" not in line.split())  # it leaves out this word
    assert (plain.programs, plain.unknown, plain.cwd, plain.assigned) == (
        parsed.programs, parsed.unknown, parsed.cwd, parsed.assigned,
    )  # fmt: skip


def test_only_plain_words_are_read_without_the_grammar() -> None:
    assert plain_words(" git  push --force ") == ["git", "push", "--force"]
    others = ("", " ", "a;b", "a\nb", "a | b", "rm ~", "A=1 b", "if a", "time rm x", "a 'b'", "a $b", "a\tb", "\u00e9")
    for line in others:
        assert plain_words(line) == [], line


@pytest.mark.parametrize(
    "line", ["echo a > b", "cat a | sh; cat a | sh", "echo 'rm x' > f; sh f; cp f g; sh g", "gcc x.c && ./a.out"]
)
def test_programs_can_be_compared_and_printed(line: str) -> None:
    """The files that a line makes name programs that know these files."""
    first, second = (read_line(line, "/p", "/h").programs for _ in range(2))
    assert first == second
    assert all(program in second for program in first)
    assert len(repr(first)) < 50_000
