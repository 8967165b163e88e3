"""The page of a card in a real browser: no script runs, nothing is requested, the style sheet is accepted, and nothing
hangs over at 360 and 1280 columns of pixels, by day and by night.

Needs chromium and is skipped by name without it; JOBS_REQUIRE_ALL=1 makes that a failure. The browser is spoken to over
its DevTools pipe, with Python's standard library alone.
"""
import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from card_samples import FULL, SAMPLES, event, nostr, payload  # noqa: E402

JOBS = os.path.join(os.environ.get("JOBS_BINARY_DIR") or os.path.join(os.path.dirname(__file__), "../../build"), "bin/jobs")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-extensions",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
         "--no-default-browser-check", "--metrics-recording-only", "--remote-debugging-pipe"]

HOSTILE = ("<script>document.title='ran'</script><img src=https://evil.example/x onerror=\"document.title='ran'\">"
           "<svg onload=alert(1)><style>@import 'https://evil.example'</style><iframe src=https://evil.example>"
           "![x](https://evil.example/x.png) [x](javascript:document.title='ran') <meta http-equiv=refresh content=0> ")


def pages():
    wide = "w" * 3000
    yield "full", SAMPLES["full"]()
    yield "fallback", SAMPLES["fallback"]()
    yield "hostile card", event({**FULL, "outcome": HOSTILE, "requestedOutcome": wide,
                                 "artifacts": [{**FULL["artifacts"][0], "label": "L" * 512,
                                                "reference": "https://h.example/" + "r" * 1500}],
                                 "questions": [{"id": wide[:512], "question": wide, "options": [wide]}]})
    yield "hostile content", event(HOSTILE + "\n\n# " + wide + "\n\n```\n" + wide + "\n```\n\n| " + " | ".join([wide] * 9)
                                   + " |\n" + "|---" * 9 + "|\n\n" + "> " * 30 + "deep\n\n" + "- " * 30 + "deep\n")
    yield "far to the right", event(payload(disposition="partial", outcome="שלום עולם " * 30))


class Browser:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="jobs-page-")
        to_read, self.to = os.pipe()
        self.back, from_write = os.pipe()

        def wire():  # the pipe is on descriptors 3 and 4
            a, b = os.dup(to_read), os.dup(from_write)
            high_a, high_b = os.dup2(a, 60), os.dup2(b, 61)
            os.dup2(high_a, 3)
            os.dup2(high_b, 4)
        with open(os.path.join(self.folder, "log"), "wb") as log:
            self.process = subprocess.Popen([CHROMIUM, *FLAGS, f"--user-data-dir={self.folder}/profile", "about:blank"],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=wire,
                                            close_fds=False, start_new_session=True,
                                            env={**os.environ, "HOME": self.folder})
        os.close(to_read)
        os.close(from_write)
        self.buffer, self.count, self.events = b"", 0, []

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            if not select.select([self.back], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            got = os.read(self.back, 1 << 20)
            if not got:
                raise EOFError("the browser is gone")
            self.buffer += got
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.count += 1
        order = {"id": self.count, "method": method, "params": parameters}
        if session:
            order["sessionId"] = session
        os.write(self.to, json.dumps(order).encode() + b"\0")
        deadline = time.monotonic() + 60
        while True:
            message = self.receive(deadline)
            if message.get("id") == self.count:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def wait_for(self, method):
        deadline = time.monotonic() + 60
        while not any(message.get("method") == method for message in self.events):
            self.events.append(self.receive(deadline))

    def close(self):
        try:
            self.call("Browser.close")
        except (EOFError, OSError, TimeoutError, RuntimeError):
            self.process.kill()
        self.process.wait(30)
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.folder, ignore_errors=True)


# What reaches beyond the window, an element each.
OVERHANG = """(() => { const width = document.documentElement.clientWidth;
  return [document.documentElement.scrollWidth - width, ...[...document.querySelectorAll('body *')].filter(e => {
    const box = e.getBoundingClientRect(); return box.right > width + 1 || box.left < -1; }).map(e => e.tagName)]; })()"""
STYLED = "getComputedStyle(document.querySelector('main')).borderTopStyle === 'solid' || innerWidth < 640"


def check(browser, session, name, path):
    findings = []

    def find(what):
        findings.append(f"{name}: {what}")

    def value(expression):
        return browser.call("Runtime.evaluate", session, expression=expression, returnByValue=True)["result"].get("value")

    address = "file://" + path
    for width in (360, 1280):
        for scheme in ("light", "dark"):
            browser.call("Emulation.setDeviceMetricsOverride", session, width=width, height=900, deviceScaleFactor=1, mobile=False)
            browser.call("Emulation.setEmulatedMedia", session, features=[{"name": "prefers-color-scheme", "value": scheme}])
            browser.events.clear()
            browser.call("Page.navigate", session, url=address)
            browser.wait_for("Page.loadEventFired")
            overhang = value(OVERHANG)
            if overhang != [0]:
                find(f"at {width} px something hangs over: {overhang[:8]}")
            if not value(STYLED):
                find("the style sheet was refused")
            if value("document.title") == "ran":
                find("a script ran")
            dark = value("getComputedStyle(document.body).color")
            light_text = sum(int(part) for part in re.findall(r"\d+", dark)[:3]) > 380
            if light_text != (scheme == "dark"):
                find(f"text is {dark} in a {scheme} scheme")
            for message in browser.events:
                method, parameters = message.get("method"), message.get("params", {})
                if method == "Network.requestWillBeSent" and parameters["request"]["url"] != address:
                    find(f"requested {parameters['request']['url'][:80]}")
                if method in ("Page.javascriptDialogOpening", "Debugger.scriptParsed") or (
                        method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning")):
                    find(f"{method}: {json.dumps(parameters)[:300]}")
    return findings


def main():
    if CHROMIUM is None:
        print("skipped: chromium is not installed")
        return 1 if os.environ.get("JOBS_REQUIRE_ALL") == "1" else 77
    browser, findings, checked = Browser(), [], 0
    try:
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            browser.call(domain + ".enable", session)
        for name, given in pages():
            path = os.path.join(browser.folder, f"page{checked}.html")
            with open(path, "wb") as page:
                subprocess.run([JOBS, "show", "-", "--format", "html", "--reason"], input=nostr.compact(given).encode(),
                               stdout=page, check=True, timeout=30)
            findings += check(browser, session, name, path)
            checked += 1
    finally:
        browser.close()
    for finding in findings:
        print(finding)
    print(f"{checked} pages, {len(findings)} findings")
    return 1 if findings or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
