# SPDX-License-Identifier: Apache-2.0
"""Looks at a page in headless Chromium, by the DevTools protocol over a pair of pipes."""

import json
import os
import shutil
import subprocess
import tempfile
import time
from fcntl import F_DUPFD, fcntl
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
WIDTHS = (400, 1280)

# Reports for every picture whether it has loaded, and by how much the page is wider than the window
# when nothing moves any more.
LOOK = """(document.getAnimations().forEach(a => a.finish()), {
  pictures: [...document.images].map(i => i.complete && i.naturalWidth > 0),
  overflow: document.documentElement.scrollWidth - window.innerWidth,
  text: document.body.innerText.length,
})"""


def find_browser() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Chromium:
    """A browser process; commands are answered in order, events are kept."""

    def __init__(self, program: str, profile: str) -> None:
        to_read, self.out = os.pipe()
        self.input, to_write = os.pipe()
        self.events: list[dict] = []
        self.buffer = b""
        self.count = 0
        self.log = (Path(profile) / "log").open("w+")

        def pipes() -> None:  # the protocol's pipes: 3 is read, 4 is written
            high = [fcntl(end, F_DUPFD, 10) for end in (to_read, to_write)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [
                *(program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
                *("--disable-dev-shm-usage", "--disable-background-networking"),
                *("--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"),
            ],
            preexec_fn=pipes,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.log,
        )
        os.close(to_read)
        os.close(to_write)
        os.set_blocking(self.input, False)

    def ended(self) -> RuntimeError:
        self.log.seek(0)
        return RuntimeError(f"Chromium has ended: {self.log.read()[-300:].strip()}")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.log.close()
        os.close(self.out)
        os.close(self.input)

    def receive(self, deadline: float) -> dict:
        while b"\0" not in self.buffer:
            try:
                piece = os.read(self.input, 1 << 16)
            except BlockingIOError:
                piece = None
            if piece:
                self.buffer += piece
            elif piece == b"" or self.process.poll() is not None:
                raise self.ended()
            elif time.monotonic() > deadline:
                raise RuntimeError("Chromium does not answer")
            else:
                time.sleep(0.01)
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method: str, session: str = "", timeout: float = 60, **parameters) -> dict:
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        try:
            os.write(self.out, json.dumps(message).encode() + b"\0")
        except BrokenPipeError:
            raise self.ended() from None
        deadline = time.monotonic() + timeout
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, event: str, timeout: float = 60) -> None:
        deadline = time.monotonic() + timeout
        while not any(e.get("method") == event for e in self.events):
            self.events.append(self.receive(deadline))


def problems_of(events: list[dict], expected: str) -> list[str]:
    """Returns the problems in the events: errors, and requests other than for data within the
    page or for addresses that begin as expected."""
    problems = []
    for event in events:
        name, parameters = event.get("method"), event.get("params", {})
        if name == "Network.requestWillBeSent":
            url = parameters["request"]["url"]
            if not url.startswith(("data:", "about:", expected)):
                problems.append(f"a request for {url}")
        elif name == "Network.loadingFailed":
            problems.append(f"loading failed: {parameters['errorText']}")
        elif name == "Runtime.exceptionThrown":
            problems.append(f"an exception: {parameters['exceptionDetails']['text']}")
        elif name == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            problems.append(parameters["entry"]["text"])
        elif name == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            problems.append(f"console: {parameters['type']}")
    return problems


def check_page(page: Path, program: str, folder: Path) -> list[str]:
    """Returns the problems of a page: errors, pictures that did not load, a page wider than its
    window, requests other than for files of `folder`."""
    address = page.resolve().as_uri()
    problems = []
    with tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as profile:
        browser = Chromium(program, profile)
        try:
            target = browser.call("Target.createTarget", url="about:blank")["targetId"]
            session = browser.call("Target.attachToTarget", targetId=target, flatten=True)
            session = session["sessionId"]
            for domain in ("Network", "Log", "Runtime", "Page"):
                browser.call(f"{domain}.enable", session)
            browser.call("Page.navigate", session, url=address)
            browser.wait_for("Page.loadEventFired")
            for width in WIDTHS:
                browser.call(
                    *("Emulation.setDeviceMetricsOverride", session),
                    **{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
                )
                answer = browser.call(
                    *("Runtime.evaluate", session), expression=LOOK, returnByValue=True
                )
                look = answer["result"]["value"]
                if look["overflow"] > 0:
                    problems.append(f"{look['overflow']} pixels wider than a window of {width}")
                if not all(look["pictures"]):
                    problems.append(f"{look['pictures'].count(False)} pictures did not load")
                if look["text"] == 0:
                    problems.append("no text")
            problems += problems_of(browser.events, folder.resolve().as_uri() + "/")
        finally:
            browser.close()
    return problems
