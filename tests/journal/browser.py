"""The system's own Chromium, headless, controlled with its DevTools protocol over a pair of pipes: the page runs as in
a person's browser, without a library in between."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ANSWER_S = 60.0
CODES = {
    "Tab": 9,
    "Enter": 13,
    "Escape": 27,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
    "End": 35,
}


def program() -> str | None:
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Browser:
    """A browser with one tab in front. `troubles` has the errors in the page's console and every dialog that it opened;
    `asked_for` has every address that it requested."""

    def __init__(self, profile: Path) -> None:
        path = program()
        assert path is not None
        self.troubles: list[str] = []
        self.asked_for: list[str] = []
        self._number = 0
        self._buffer = b""
        read_end, self._to = os.pipe()
        self._from, write_end = os.pipe()
        # The browser reads descriptor 3 and writes descriptor 4; a shell moves ours there.
        flags = "--headless --no-sandbox --disable-gpu --remote-debugging-pipe --window-size=1400,900 --no-first-run"
        command = f'exec "$0" {flags} --user-data-dir="$1" about:blank 3<&{read_end} 4>&{write_end}'
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", command, path, str(profile)],
            pass_fds=(read_end, write_end),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_end)
        os.close(write_end)
        self._session: str | None = None
        (tab,) = [one["targetId"] for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page"][:1]
        self.tabs = [tab]
        self._attach(tab)

    def _attach(self, tab: str) -> None:
        self._session = None
        self._session = self.call("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def another_tab(self, address: str) -> None:
        """Open a tab in front of the others."""
        self._session = None
        self.tabs.append(self.call("Target.createTarget", url="about:blank")["targetId"])
        self._attach(self.tabs[-1])
        self.open(address)

    def tab(self, number: int) -> None:
        """Bring a tab to the front."""
        self._session = None
        self.call("Target.activateTarget", targetId=self.tabs[number])
        self._attach(self.tabs[number])

    def close(self) -> None:
        os.close(self._to)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._from)

    def call(self, method: str, **params: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], ANSWER_S)
            assert ready, "the browser does not answer"
            data = os.read(self._from, 1 << 20)
            assert data, "the browser has ended"
            self._buffer += data
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        params = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.troubles.append(params["exceptionDetails"].get("text", "exception"))
        elif message.get("method") == "Log.entryAdded":
            self.troubles.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
        elif message.get("method") == "Page.javascriptDialogOpening":
            self.troubles.append(f"a dialog: {params['message']}")
        elif message.get("method") == "Network.requestWillBeSent":
            self.asked_for.append(params["request"]["url"])
        return message

    def open(self, address: str) -> None:
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def value(self, script: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, script: str) -> None:
        """Wait until the script returns a true value."""
        deadline = time.monotonic() + ANSWER_S
        while not self.value(f"Boolean({script})"):
            assert time.monotonic() < deadline, f"never true: {script}\n{self.value('document.body.innerText')[:500]}"
            time.sleep(0.05)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def press(self, *keys: str) -> None:
        """Press keys by name: `Tab`, `ArrowDown`, `Enter`, `/`. From then on the tab counts as active."""
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        for key in keys:
            code, text = CODES.get(key, 0), {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
            stroke = {"key": key, "code": key, "windowsVirtualKeyCode": code, "text": text}
            self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **stroke)
            self.call("Input.dispatchKeyEvent", type="keyUp", **stroke)

    def looks(self, width: int, height: int, dark: bool = False) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def spoken(self) -> list[tuple[str, str]]:
        """The role and name of everything that a screen reader finds."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        told = [node for node in nodes if not node["ignored"]]
        return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in told]

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
