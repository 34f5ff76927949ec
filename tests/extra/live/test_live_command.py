"""`python -m live`: its help, and its message about an unknown agent."""

from __future__ import annotations

import runpy
import sys

import pytest


def said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[object, str, str]:
    monkeypatch.setattr(sys, "argv", ["live", *words])
    with pytest.raises(SystemExit) as left:
        runpy.run_module("live", run_name="__main__")
    out, err = capsys.readouterr()
    return left.value.code, out, err


def test_help(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = said(capsys, monkeypatch, "--help")
    assert (code, err) == (0, "")
    assert out.startswith("usage: python -m live")
    for word in ("--trial", "--open", "--sabotage", "AGENT", "scripts/agents.sh"):
        assert word in out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "required: AGENT"),
        (("nosuch",), "unknown agent nosuch; known: "),
        (("--sabotage", "gone=nosuch"), "unknown agent nosuch"),
        (("--trial", "nosuch", "claude"), "nosuch"),
        (("--trial",), "--trial"),
        (("--open", "--sabotage", "claude"), "not allowed with"),
    ],
)
def test_a_wrong_word(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], told: str
) -> None:
    code, out, err = said(capsys, monkeypatch, *words)
    assert (code, out) == (2, "")
    assert told in err
    assert "usage: python -m live" in err
