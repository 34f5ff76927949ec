"""Calls that wait for a person, on the page in a real browser: with the keyboard alone, on a small screen, in the dark,
in two tabs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from browser import Browser, program
from serve_box import served
from test_answers import HOSTILE, ask

from anyhook.state.approvals import Approvals

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import World

pytestmark = pytest.mark.skipif(program() is None, reason="no Chromium on this machine")
SHOWN = "document.querySelectorAll('#waiting li').length"
FOCUSED = "document.activeElement.textContent"


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    opened = Browser(tmp_path / "profile")
    try:
        yield opened
    finally:
        opened.close()


def test_with_the_keyboard_alone(world: World, browser: Browser) -> None:
    """On a small screen in the dark."""
    approvals = Approvals(str(world.state))
    first, second = ask(world), ask(world, what="git clean -fd", may_last=False)
    with served(world) as server:
        browser.looks(390, 800, dark=True)
        browser.open(server.address)
        browser.wait(f"{SHOWN} === 2")
        assert browser.value("document.documentElement.scrollWidth") <= 390, "nothing is cut"
        assert ("button", "Allow once") in browser.spoken()
        for _ in range(20):
            browser.press("Tab")
            if browser.value(FOCUSED) == "Deny":
                break
        assert browser.value(FOCUSED) == "Deny"
        browser.press("Enter")
        browser.wait(f"{SHOWN} === 1")
        assert approvals.reply(first)["allows"] is False
        assert "Denied: git reset --hard" in browser.value("document.getElementById('asked').innerText")
        assert browser.value(FOCUSED) == "Allow once", "the next call is one key away"
        browser.press("Enter")
        browser.wait(f"{SHOWN} === 0")
        assert approvals.reply(second)["allows"] is True
        assert browser.troubles == []


def test_two_tabs(world: World, browser: Browser) -> None:
    """Only one answer counts, and the other tab says so."""
    waiting = ask(world)
    with served(world) as server:
        browser.open(server.address)
        browser.wait(f"{SHOWN} === 1")
        browser.value("window.showWaiting = () => {}, 1")  # this tab has not looked since
        browser.another_tab(server.address)
        browser.wait(f"{SHOWN} === 1")
        browser.value("document.querySelector('#waiting .deny').click()")
        browser.wait(f"{SHOWN} === 0")
        browser.tab(0)
        browser.value("document.querySelector('#waiting .allow').click()")
        browser.wait("document.getElementById('asked-said').textContent.includes('Not taken')")
    assert Approvals(str(world.state)).reply(waiting)["allows"] is False


def test_the_link_of_a_notice(world: World, browser: Browser) -> None:
    """It has no secret. The browser that has opened the page finds it, and only that one."""
    ask(world)
    with served(world) as server:
        link = f"http://127.0.0.1:{server.port}/waiting"
        browser.open(link)
        assert "anyhook approvals" in browser.value("document.body.innerText")
        browser.open(server.address)
        browser.wait(f"{SHOWN} === 1")
        browser.open(link)
        browser.wait(f"location.href === '{server.address}' && {SHOWN} === 1")


def test_hostile_text_is_only_text(world: World, browser: Browser) -> None:
    ask(world, what=HOSTILE, reason=HOSTILE, agent=HOSTILE, rule=HOSTILE)
    with served(world) as server:
        browser.open(server.address)
        browser.wait(f"{SHOWN} === 1")
        assert browser.value("document.querySelectorAll('body script').length") == 0
        assert browser.value("document.title") == "anyhook"
        assert browser.troubles == []
