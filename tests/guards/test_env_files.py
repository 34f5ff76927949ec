"""Files of variables, read where they are: asked about if there is a secret in them, or if that is not known."""

from __future__ import annotations

from pathlib import Path

import pytest
from guard_corpus import Judge

HARMLESS = "PORT=3000\n# the key is in the vault\nAPI_KEY=\nOTHER_TOKEN=your_token_here\nNAME=Größe\n"
SECRETS = (
    "OPENAI_API_KEY=sk-proj-Zk83jfQ0pWm2XcV7rT5yUa91\n",
    "DATABASE_URL=postgres://admin:hunter2@db.example.com/app\n",
    "SMTP_PASS=Sommer2024!\n",
    "X=Zk83jfQ0pWm2XcV7rT5yUa91\n",
    "PORT=3000\n" + "#" * 70_000,
    "PORT=3000\n\0",
)
READS = ("cat .env", "head -20 .env 2>/dev/null || true", "ls -la && cat < .env", "grep PORT= .env", "sed -n 1,5p .env")


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    return Judge(None, str(tmp_path))


def asked(judge: Judge, *lines: str) -> set[str]:
    return {line for line in lines if "secrets/read .env" in judge.refusals(line)}


def test_a_file_without_secrets_is_read(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(HARMLESS, "utf-8")
    assert asked(judge, *READS) == set()
    assert judge.verdict("Read", {"file_path": f"{tmp_path}/.env"}) == ""
    (tmp_path / ".env.dev").write_text("PORT=1\n")
    assert asked(judge, "rg -n swagger src .env*") == set()
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/.env").write_text("PORT=1\n")
    (tmp_path / "a/b/.env").write_text(SECRETS[0])
    assert asked(judge, "cat */.env", "cat **/.env", "cat a/*/.env") == {"cat */.env", "cat **/.env", "cat a/*/.env"}
    (tmp_path / ".env.prod").write_text(SECRETS[0])
    assert asked(judge, "rg -n swagger src .env*") == {"rg -n swagger src .env*"}


@pytest.mark.parametrize("content", SECRETS)
def test_a_file_with_secrets_is_asked_about(judge: Judge, tmp_path: Path, content: str) -> None:
    (tmp_path / ".env").write_text(content)
    assert asked(judge, "cat .env") == {"cat .env"}
    assert judge.verdict("Read", {"file_path": f"{tmp_path}/.env"}) == "ask"


def test_what_cannot_be_known_is_asked_about(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(HARMLESS, "utf-8")
    (tmp_path / ".env.local").write_bytes("SMTP_PASS=Sommer2024!".encode("utf-16"))
    (tmp_path / ".env.staging").mkdir()
    (tmp_path / "app.tfstate").write_text("{}")
    lines = (
        "cat .env.prod", "cat .env.local", "cat .env.staging", "cat app.tfstate", "cat .env .env.prod", "cat .env*",
        "cat x/.env*", "cp keys .env; cat .env", "echo $KEY > .env; cat .env", "ln -sf keys .env; cat .env",
        "git checkout b; cat .env",
        "make env; cat .env", "bash x.sh; cat .env", "tar xf x.tgz; cat .env",
    )  # fmt: skip
    assert asked(judge, *lines) == {*lines}


def test_names_alone_are_shown(judge: Judge) -> None:
    lines = (
        "diff -q .env .env.example", "diff --brief .env .env.local", "cmp -s .env .env.local", "file .env",
        "sha256sum .env .env.local", "awk -F= '{print $1}' .env", "sed -E 's/=.*/=***/' .env",
        "grep -oE '^[A-Z_]+=' .env", "grep -o '^[A-Z_]*' .env",
        "awk -F '=' '{ print $1 }' .env",
        "cmp .env .env.example", "grep -oE '^[A-Za-z0-9_]+' .env",
    )  # fmt: skip
    assert asked(judge, *lines) == set()


def test_values_are_not(judge: Judge) -> None:
    lines = (
        "diff .env .env.example", "cmp -l .env .env.example", "awk -F= '{print $2}' .env",
        "awk -F= '{print $1, $2}' .env",
        "awk -F= '{print $1} END {while (getline < ARGV[1]) print}' .env", "sed -E 's/=.*/&/' .env", "sed -E p .env",
        "grep -oE '^[A-Z_]+=.*' .env", "grep -o '=.*' .env", "awk '{print $1}' .env", "head -5 .env | cut -d= -f2",
        "diff -q .env .env.example; cat .env",
        "cat .env | cut -d= -f1; cat .env", "grep KEY .env | cut -d= -f1\ngrep KEY .env",
        "cat .env | wc -l && cat .env",
        "diff -q .env .env.example; diff .env .env.example", "awk -F= '{print $1}' .env; awk 1 .env",
        "grep -oE '[A-Za-z0-9_]+' .env | cut -d= -f2", "awk -F= -f x '{print $1}' .env", "awk -F= '{print $1}1' .env",
    )  # fmt: skip
    assert asked(judge, *lines) == {*lines}
