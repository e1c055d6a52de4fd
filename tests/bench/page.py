#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The page on large fabrics, in headless Chromium without a graphics card: what it reads, how long until all is drawn, and how many frames a
second it draws while the fabric is dragged about. The page is made for 60, and must keep 50."""

import gzip
import os
import subprocess
import sys
import time
import urllib.request

import bench_lib as bench

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "web"))
import browser as driver  # noqa: E402

# (pods, groups of a pod, rails, hosts of a group)
SHAPES = ((20, 16, 1, 32), (32, 4, 8, 16), (32, 4, 8, 80))
SECONDS = 3
SMOOTH = 50

# Each frame moves the pointer by a step, and notes when it came.
DRAG = """new Promise((done) => {
  const canvas = document.querySelector('canvas');
  const box = canvas.getBoundingClientRect();
  const at = (kind, step) => new MouseEvent(kind, {bubbles: true, cancelable: true, view: window, button: 0,
    clientX: box.x + box.width / 2 + 200 * Math.sin(step / 20), clientY: box.y + box.height / 2 + 100 * Math.cos(step / 20)});
  canvas.dispatchEvent(at('mousedown', 0));
  const begin = performance.now();
  const before = Number(canvas.dataset.frames);
  let step = 0;
  let last = begin;
  let longest = 0;
  const frame = (now) => {
    longest = Math.max(longest, now - last);
    last = now;
    window.dispatchEvent(at('mousemove', ++step));
    if (now - begin < SECONDS * 1000) return requestAnimationFrame(frame);
    window.dispatchEvent(at('mouseup', step));
    done({frames: (Number(canvas.dataset.frames) - before) / (now - begin) * 1000, longest});
  };
  requestAnimationFrame(frame);
})""".replace("SECONDS", str(SECONDS))


def fetched(url: str) -> tuple[float, int, int]:
    """Seconds, and octets on the wire and unpacked."""
    began = time.monotonic()
    with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept-Encoding": "gzip"})) as answer:
        body = answer.read()
    return time.monotonic() - began, len(body), len(gzip.decompress(body))


def measure(build: str, shape: tuple[int, ...]) -> None:
    pods, groups, rails, hosts = shape
    name = f"page, {pods * groups * hosts} hosts, {pods * groups * hosts * rails} adapters"
    server = subprocess.Popen([bench.program(build, "page_server"), *map(str, shape)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    browser = driver.Browser(str(build))
    try:
        url = f"http://127.0.0.1:{int(server.stdout.readline())}/"
        for path in ("map", "map/state"):
            seconds, sent, whole = fetched(f"{url}api/v1/{path}")
            bench.report(f"{name}: /{path}", f"{seconds * 1000:.0f} ms, {sent / 1000:.0f} kB", f"{whole / 1000:.0f} kB unpacked", f"{whole / sent:.1f}")
        began = time.monotonic()
        browser.do("open", url=url)
        browser.do("wait", at="canvas[data-frames]")
        bench.report(f"{name}: until drawn", f"{time.monotonic() - began:.1f} s", "-", "-")
        for words, zooms in (("whole", 0), ("zoomed in", 6)):
            for _ in range(zooms):
                browser.do("click", at="button[aria-label='Zoom in']")
            for mode in ("State", "Stall"):
                browser.do("click", at=f".choice label:has-text('{mode}')")
                time.sleep(1)
                drawn = browser.do("evaluate", script=DRAG)
                bench.report(f"{name}: {words}, {mode.lower()}", f"{drawn['frames']:.0f} frames/s (longest {drawn['longest']:.0f} ms)", f"{SMOOTH} frames/s",
                             f"{drawn['frames'] / SMOOTH:.1f}")
        if folder := os.environ.get("WEFT_TEST_RESULTS"):
            browser.do("click", at="button[aria-label='Show all']")
            time.sleep(1)
            browser.do("screenshot", path=os.path.join(folder, f"page-{pods * groups * hosts * rails}.png"))
    finally:
        browser.close()
        server.stdin.close()
        server.wait(10)
        server.stdout.close()


def main():
    options = bench.parse(bench.arguments(__doc__, []))
    try:
        driver.require_browser(str(options.build))
    except driver.unittest.SkipTest as missing:
        print(missing)
        return 77
    for shape in SHAPES:
        measure(options.build, shape)
    return 0


if __name__ == "__main__":
    sys.exit(main())
