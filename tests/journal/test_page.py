"""The page of `anyhook serve` in a real browser: what a person, or a screen reader, finds and can do there."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, program
from journal_box import Box, made
from serve_box import BLOCKS, served

from conftest import World

SCRIPT = "document.title='owned'"
HOSTILE = f"\x1b[2J\x1b]0;owned\x07 \u202e <script>{SCRIPT};alert(1)</script><img src=x onerror={SCRIPT}>"


@pytest.fixture
def box(world: World, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Box:
    return Box(world, capfd, monkeypatch)


pytestmark = pytest.mark.skipif(program() is None, reason="no Chromium on this machine")


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    opened = Browser(tmp_path / "profile")
    try:
        yield opened
    finally:
        opened.close()


def rows_are(count: int) -> str:
    return f"document.querySelectorAll('#rows tr').length === {count}"


STATE = "document.getElementById('state').dataset.state"


def test_the_page(world: World, box: Box, browser: Browser) -> None:
    """Use the page as a person would: look, wait for an event, pause, search, open a record, and lose the server."""
    with served(world) as server:
        browser.open(server.address)
        browser.wait(f"{STATE} === 'live' && document.getElementById('nothing').checkVisibility()")
        box.write(*(made(600 - n, data={"tool": f"T{n}"}) for n in range(550)), made(1, hooks=BLOCKS, tag="needle"))
        browser.wait(rows_are(500))
        first = browser.value("document.querySelector('#rows tr').innerText")
        assert "✗ refused" in first
        assert BLOCKS[0][0] in first, "the newest is the first"
        browser.wait("document.querySelector('#hooks li svg.over-time rect.usual')")
        assert "waited 12.0 ms" in browser.value("document.querySelector('#hooks li').innerText")

        browser.value("document.getElementById('pause').click()")
        box.write(made(1, data={"tool": "Late"}))
        browser.wait("document.getElementById('pause').textContent === 'Resume (1)'")
        assert "Late" not in browser.value("document.getElementById('rows').innerText")
        browser.value("document.getElementById('pause').click()")
        browser.wait("document.querySelector('#rows tr').innerText.includes('Late')")

        browser.value("document.getElementById('query').focus()")
        browser.type("needle verdict:bl")
        browser.wait("document.getElementById('problem').textContent.includes('verdict:bl: one of')")
        assert browser.value(rows_are(500)), "what was there stays"
        browser.type("ock")
        browser.wait(rows_are(1))
        browser.value("document.querySelector('#rows tr').click()")
        browser.wait("document.getElementById('full').open")
        told = browser.value("document.getElementById('full-lines').textContent")
        assert told.rstrip() == box.call("explain", "551")[1].rstrip()
        assert browser.value("location.hash") == "#551"
        assert browser.troubles == []
        assert browser.value("document.title") == "Record 551 · needle verdict:block · anyhook"
        assert {address.split("/")[2] for address in browser.asked_for} == {f"127.0.0.1:{server.port}"}
    browser.wait(f"{STATE} === 'lost' && document.getElementById('problem').textContent.includes('a new address')")


def test_a_link_to_the_call_before(world: World, box: Box, browser: Browser) -> None:
    refused = made(1, hooks=BLOCKS)
    refused["decision"]["hooks"][0]["earlier"] = [{"call": 7, "at": refused["at"], "record": 1}]
    box.write(made(1, data={"tool": "Before"}), refused)
    with served(world) as server:
        browser.open(server.address)
        browser.wait(rows_are(2))
        browser.value("document.querySelector('#rows tr .why a').click()")
        browser.wait("document.getElementById('full-lines').textContent.includes('Before')")
        browser.value("location.hash = '#2'")
        browser.wait("document.querySelector('#full-lines a')?.textContent === 'record 1'")
        told = browser.value("document.getElementById('full-lines').textContent")
        assert told.rstrip() == box.call("explain", "2")[1].rstrip()
        browser.value("document.querySelector('#full-lines a').click()")
        browser.wait("location.hash === '#1' && document.getElementById('full-lines').textContent.includes('Before')")
        assert browser.troubles == []


def test_figures_and_names_of_hooks(world: World, box: Box, browser: Browser) -> None:
    """The refused call that `setup` made does not count as refused, and the full name of a hook is visible."""
    name = "anyhook:user:infrastructure:pre_tool:helm-and-packages-of-clusters"
    hooks = [(name, "block", 0.01, "exited")]
    box.write(made(3, hooks=hooks, host="setup"), made(2, hooks=hooks), made(1))
    with served(world) as server:
        browser.open(server.address)
        browser.wait(f"{rows_are(3)} && document.querySelector('#hooks li button')")
        assert "3 events · 1 refused" in browser.value("document.getElementById('counts').innerText").replace("  ", " ")
        assert browser.value("document.querySelector('#hooks li button').textContent") == name
        assert browser.value(
            "((button) => button.scrollWidth <= button.clientWidth && button.scrollHeight <= button.clientHeight)"
            "(document.querySelector('#hooks li button'))"
        ), "nothing is cut"
        assert browser.value("getComputedStyle(document.querySelector('#hooks li button')).direction") == "ltr"


def test_hostile_text_is_only_text(world: World, box: Box, browser: Browser) -> None:
    hooks = [(HOSTILE, "block", 0.01, "exited")]
    decision = {"verdict": "block", "hook": HOSTILE, "reason": HOSTILE, "enforced": True, "hooks": [{"id": HOSTILE}]}
    box.write(made(1, event=HOSTILE, host=HOSTILE, data={"tool": HOSTILE}, hooks=hooks, decision=decision))
    with served(world) as server:
        browser.open(f"{server.address}#1")
        browser.wait("document.getElementById('full').open && document.querySelector('#hooks li')")
        browser.wait(rows_are(1))
        browser.value("document.querySelector('details').open = true")
        assert browser.value("document.querySelectorAll('body script, body img[onerror], img[src=x]').length") == 0
        text = browser.value("document.body.innerText")
        assert text.count(f"<script>{SCRIPT};alert(1)</script>") >= 5
        assert not {"\x1b", "\x07", "\u202e"} & set(text)
        assert browser.value("document.title") == "Record 1 · anyhook"
        assert browser.troubles == []


def test_the_policy_holds(world: World, browser: Browser) -> None:
    """If the page ever turned text into markup, the browser would block it. This shows that the policy really works."""
    with served(world) as server:
        browser.open(server.address)
        browser.wait(f"{STATE} === 'live'")
        attempt = "(() => { try { document.body.innerHTML = '<b>x</b>'; return 'made' } catch { return 'refused' } })()"
        assert browser.value(attempt) == "refused"
        browser.value("document.body.append(Object.assign(new Image(), { src: 'http://127.0.0.2:9/x' })), 1")
        deadline = time.monotonic() + 120
        while not any("Content Security Policy" in trouble for trouble in browser.troubles):
            assert time.monotonic() < deadline, browser.troubles
            browser.value("1")
            time.sleep(0.05)


OPEN = "document.getElementById('full').open"
FOCUS = "document.activeElement"


def test_the_way_back(world: World, box: Box, browser: Browser) -> None:
    """Records and searches are in the browser's history: back and forward work."""
    box.write(made(3), made(2, session="other"), made(1, hooks=BLOCKS))
    with served(world) as server:
        browser.open(server.address)
        browser.wait(rows_are(3))
        browser.value("document.querySelector('#rows a[href=\"#2\"]').click()")
        browser.wait(f"{OPEN} && document.title === 'Record 2 · anyhook'")
        chips = browser.value("[...document.querySelectorAll('#like button')].map((each) => each.textContent)")
        assert chips == ["session:other", "agent:fire", "tool:Bash"]
        browser.value("document.querySelector('#like button').click()")
        browser.wait(f"!{OPEN} && {rows_are(1)} && document.getElementById('query').value === 'session:other'")
        browser.value("history.back()")
        browser.wait(f"{OPEN} && {rows_are(3)} && document.title === 'Record 2 · anyhook'")
        browser.value("history.back()")
        browser.wait(f"!{OPEN} && document.title === 'anyhook'")
        browser.value("history.forward()")
        browser.wait(f"{OPEN} && location.hash === '#2'")
        browser.press("ArrowLeft")
        browser.wait("document.title === 'Record 3 · anyhook' && document.getElementById('newer').disabled")
        browser.press("ArrowRight", "Escape")
        browser.wait(f"!{OPEN} && location.hash === ''")
        browser.open("about:blank?")
        browser.open(f"{server.address}#2")
        browser.wait(f"{OPEN} && {rows_are(3)} && !document.getElementById('older').disabled")
        browser.open(f"{server.address}?q=session:other#9")
        browser.wait(f"{OPEN} && {rows_are(1)}")
        assert "no record 9" in browser.value("document.getElementById('full-lines').textContent")
        assert browser.troubles == [
            f"Failed to load resource: the server responded with a status of 404 (Not Found) {server.address}record/9"
        ]


def test_by_keyboard_alone(world: World, box: Box, browser: Browser) -> None:
    """The whole list is one tab stop. Arrow keys move within it, and closing a record returns to its row."""
    box.write(*(made(50 - n, hooks=[(f"hook-{n % 3}", "none", 0.01, "exited")]) for n in range(40)))
    with served(world) as server:
        browser.open(server.address)
        browser.wait(f"{rows_are(40)} && document.querySelectorAll('#hooks li').length === 3")
        browser.press("/")
        assert browser.value(f"{FOCUS}.id") == "query"
        assert browser.value("document.getElementById('query').value") == ""
        browser.press("Tab", "Tab", "Tab", "Tab", "Tab")  # two buttons, two figures that are links, the first row
        assert browser.value(f"{FOCUS}.hash") == "#40"
        assert browser.value(f"getComputedStyle({FOCUS}.closest('tr')).outlineStyle") == "solid", (
            "one sees where one is"
        )
        browser.press("ArrowDown", "ArrowDown")
        assert browser.value(f"{FOCUS}.hash") == "#38"
        browser.press("j", "k", "?")
        browser.wait("document.getElementById('help').open")
        browser.press("Escape")
        browser.wait(f"!document.getElementById('help').open && {FOCUS}.hash === '#38'")
        browser.press("Enter")
        browser.wait(OPEN)
        browser.press("Escape")
        browser.wait(f"!{OPEN} && {FOCUS}.hash === '#38'")
        browser.press("End")
        assert browser.value(f"{FOCUS}.hash") == "#1"
        browser.press("Tab")
        assert browser.value(f"{FOCUS}.id") == "span", "past the list with one key"
        browser.press("Tab", "Enter")
        browser.wait("document.getElementById('query').value === 'hook:hook-0'")


def test_more_tabs_than_a_browser_has_connections(world: World, box: Box, browser: Browser) -> None:
    """Hidden pages wait. A paused page does not change."""
    box.write(made(2))
    with served(world) as server:
        browser.open(server.address)
        browser.wait(f"{STATE} === 'live' && {rows_are(1)}")
        browser.value("document.getElementById('pause').click()")
        for _ in range(9):
            browser.another_tab(server.address)
            browser.wait(f"{STATE} === 'live' && {rows_are(1)}")
        box.write(made(1), made(1))
        browser.wait(rows_are(3))
        browser.tab(0)
        browser.wait(f"{STATE} === 'paused' && document.getElementById('pause').textContent === 'Resume (2)'")
        assert browser.value(rows_are(1))
        browser.value("document.getElementById('pause').click()")
        browser.wait(rows_are(3))


def test_an_address_that_is_no_longer_good(world: World, browser: Browser) -> None:
    with served(world) as server:
        browser.open(server.address)
        browser.wait(f"{STATE} === 'live'")
    with served(world, port=server.port):
        browser.wait("document.getElementById('problem').textContent.includes('has printed another')")
        browser.open(f"http://127.0.0.1:{server.port}/")
        assert "no valid token" in browser.value("document.body.innerText")


@pytest.mark.parametrize("width", [390, 900, 1280])
def test_screens_of_any_size(world: World, box: Box, browser: Browser, width: int) -> None:
    """Nothing overflows sideways. The decision and the first hook's figures are visible without scrolling."""
    long = "x" * 300
    hooks = [(f"kodik:user:PreToolUse:{n}-{long}", "block", 0.01, "exited") for n in range(60)]
    decision = {"verdict": "block", "hook": hooks[0][0], "reason": long, "enforced": True, "hooks": []}
    box.write(made(1, data={"tool": long, "input": {"command": long}}, hooks=hooks, decision=decision), made(1))
    with served(world) as server:
        browser.looks(width, 844)
        browser.open(server.address)
        browser.wait(f"{rows_are(2)} && document.querySelectorAll('#hooks li').length === 60")
        assert browser.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        inside = "((box) => box.left >= 0 && box.right <= innerWidth && box.bottom <= innerHeight)"
        for name in (".verdict.block", "#hooks .figures b", "#sums b", ".why"):
            assert browser.value(f"{inside}(document.querySelector('{name}').getBoundingClientRect())"), name
        browser.value("document.querySelector('#rows a[href=\"#1\"]').click()")
        browser.wait(OPEN)
        assert browser.value(
            "(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.getElementById('full'))"
        )
        roles = [role for role, _ in browser.spoken()]
        assert "dialog" in roles


@pytest.mark.parametrize("width", [390, 1280])
def test_what_a_screen_reader_finds(world: World, box: Box, browser: Browser, width: int) -> None:
    box.write(made(2, hooks=BLOCKS, data={"tool": "Bash", "input": {"command": "rm -rf build"}}))
    with served(world) as server:
        browser.looks(width, 844)
        browser.open(server.address)
        browser.wait(f"{rows_are(1)} && document.querySelector('#hooks li')")
        spoken = browser.spoken()
    for role in ("button", "searchbox", "combobox", "link", "image", "table", "region"):
        names = [name for found, name in spoken if found == role]
        assert names, role
        assert all(names), (role, names)
    headers = [name.split()[0] for role, name in spoken if role == "columnheader"]
    assert headers == ["Time", "From", "What", "Verdict", "ms", "Why,"]
    assert [name for role, name in spoken if role == "cell"][2] == "pre_tool Bash rm -rf build"


LEAST_CONTRAST = """(() => {
  const light = (value) => value <= 10.31475 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const bright = ([red, green, blue]) => 0.2126 * light(red) + 0.7152 * light(green) + 0.0722 * light(blue);
  const ground = (element) => {
    for (; element; element = element.parentElement) {
      const colour = parts(getComputedStyle(element).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
  };
  const seen = [...document.querySelectorAll("body *")].filter((each) => each.checkVisibility()
    && !each.disabled && [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  const ratio = (element) => {
    const two = [bright(parts(getComputedStyle(element).color)), bright(ground(element))].sort((a, b) => b - a);
    return (two[0] + 0.05) / (two[1] + 0.05);
  };
  const found = seen.map((each) => [ratio(each), each.className || each.id || each.tagName, each.textContent]);
  return [found.length, found.sort((a, b) => a[0] - b[0])[0]];
})()"""


@pytest.mark.parametrize("dark", [False, True])
def test_contrast(world: World, box: Box, browser: Browser, dark: bool) -> None:
    """Every text has a contrast of at least 4.5 to 1 (WCAG 2.2, AA)."""
    shadow = {"verdict": "block", "hook": "a", "reason": "no", "enforced": False, "hooks": []}
    box.write(made(4, hooks=BLOCKS), made(3, decision={"verdict": "allow"}), made(2, decision={"verdict": "ask"}))
    box.write(made(1, hooks=[("kode:user:x", "none", 0.5, "timed_out")]), made(1, decision=shadow))
    with served(world) as server:
        browser.looks(1280, 900, dark)
        browser.open(f"{server.address}")
        browser.wait(f"{rows_are(5)} && document.querySelectorAll('#hooks li').length === 2")
        for _ in range(2):
            count, (least, *which) = browser.value(LEAST_CONTRAST)
            assert count > 40
            assert least >= 4.5, (least, which)
            browser.value("location.hash = '4'")  # a record with a failure
            browser.wait(OPEN)
