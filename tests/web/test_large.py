# SPDX-License-Identifier: Apache-2.0
"""The page of 10,240 hosts: whether one that is bad is found at a glance, and forty of them. Judged by the pixels of what the screen shows."""

import os
import subprocess
import unittest
from dataclasses import dataclass

import page_testing
import pictures
from page_testing import PHONE, weft_testing
from weft_testing import BUILD

# Pods, groups of a pod, rails, hosts of a group.
SHAPES = {"one adapter each": (20, 16, 1, 32), "eight rails": (32, 4, 8, 80)}
DESKTOP = {"width": 1280, "height": 800}
SCREENS = {"desktop-light": DESKTOP, "desktop-dark": {**DESKTOP, "dark": True}, "phone-light": {**PHONE, "dark": False}, "phone-dark": PHONE}
# In pixels of the screen: what is found without looking for it, and what a pointer hits.
LEAST_SIDE = 8
# WCAG 2.1, 1.4.11: graphics that are needed to understand the content.
LEAST_CONTRAST = 3
DOWN, DEGRADED = "--map-bad", "--map-warn"


@dataclass
class Mark:
    """Where it is, in pixels of the picture; right and bottom lie outside."""
    colour: pictures.Colour
    left: int
    top: int
    right: int
    bottom: int

    @property
    def side(self) -> int:
        return min(self.right - self.left, self.bottom - self.top)

    def middle(self, ratio: float) -> dict:
        return {"x": (self.left + self.right) / 2 / ratio, "y": (self.top + self.bottom) / 2 / ratio}


class LargeFabric(unittest.TestCase):
    browser: page_testing.Browser

    @classmethod
    def setUpClass(cls):
        cls.browser = page_testing.Browser(BUILD)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def do(self, verb, **given):
        return self.browser.do(verb, **given)

    def serve(self, shape: str, bad: int) -> list[str]:
        """Names of the bad hosts."""
        server = subprocess.Popen([os.path.join(BUILD, "bench", "page_server"), *map(str, SHAPES[shape]), str(bad)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait, 60)
        self.addCleanup(server.stdin.close)
        self.url = f"http://127.0.0.1:{int(server.stdout.readline())}/"
        return server.stdout.readline().split()

    def open(self, screen: dict, down: int) -> None:
        self.do("open", url=self.url, **screen)
        self.do("wait", at=f".legend:has-text('unhealthy or down {down}')", timeout=20_000)
        self.do("evaluate", script="document.querySelector('.map-area').scrollIntoView({block: 'nearest'})")
        # What was received is drawn at the next frame.
        self.do("evaluate", script="new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def look(self, name: str) -> tuple[pictures.Picture, dict]:
        """The screen, and where on it the drawing is, in its pixels."""
        os.makedirs(page_testing.PICTURES, exist_ok=True)
        path = os.path.join(page_testing.PICTURES, name + ".png")
        self.do("screenshot", path=path)
        box = self.do("evaluate", script="""(() => {
          const {left, top, right, bottom} = document.querySelector('canvas').getBoundingClientRect();
          return {left, top, right: Math.min(right, innerWidth), bottom: Math.min(bottom, innerHeight), ratio: devicePixelRatio};
        })()""")
        return pictures.read(path), {key: box[key] * box["ratio"] for key in ("left", "top", "right", "bottom")} | {"ratio": box["ratio"]}

    def marks(self, seen: pictures.Picture, box: dict, colour: str) -> list[Mark]:
        text = self.do("evaluate", script=f"getComputedStyle(document.documentElement).getPropertyValue('{colour}').trim()")
        shade = tuple(int(text[at:at + 2], 16) for at in (1, 3, 5))
        found = seen.patches(shade, *(round(box[side]) for side in ("left", "top", "right", "bottom")))
        return [Mark(shade, min(x for x, _ in patch), min(y for _, y in patch), max(x for x, _ in patch) + 1, max(y for _, y in patch) + 1)
                for patch in found]

    def expect_seen(self, seen: pictures.Picture, ratio: float, mark: Mark) -> None:
        self.assertGreaterEqual(mark.side / ratio, LEAST_SIDE, f"{mark} is small")
        # A pixel that is half mark and half ground lies between.
        beyond = 1 + round(ratio)
        left, top, right, bottom = mark.left - beyond, mark.top - beyond, mark.right + beyond, mark.bottom + beyond
        ring = [(x, y) for x in range(left, right) for y in (top, bottom - 1)] + [(x, y) for y in range(top, bottom) for x in (left, right - 1)]
        least = min(pictures.contrast(mark.colour, seen.at(x, y)) for x, y in ring)
        self.assertGreaterEqual(least, LEAST_CONTRAST, f"{mark} does not stand out")

    def test_a_lone_bad_host_is_found_at_a_glance(self):
        (name,) = self.serve("one adapter each", 1)
        for title, screen in SCREENS.items():
            with self.subTest(screen=title):
                self.open(screen, 1)
                seen, box = self.look(f"large-lone-{title}")
                marks = self.marks(seen, box, DOWN)
                self.assertEqual(1, len(marks), "one mark, and nothing else in its colour")
                self.expect_seen(seen, box["ratio"], marks[0])
                self.do("mouse", **marks[0].middle(box["ratio"]), click=True)
                self.do("wait", at=f"h2:has-text('{name}')")
                self.open(screen, 1)
                self.do("evaluate", script="scrollTo(0, 0)")
                row = f".bad-nodes li:has-text('{name}') a"
                self.assertEqual(1, self.do("count", at=".bad-nodes li"))
                inside = self.do("evaluate", script="""(() => {
                  const {top, bottom} = document.querySelector('.bad-nodes li a').getBoundingClientRect();
                  return top >= 0 && bottom <= innerHeight;
                })()""")
                self.assertTrue(inside, "the list is on the screen without scrolling")
                self.assertEqual([], self.do("accessibility"))
                self.do("click", at=row)
                self.do("wait", at=f"h2:has-text('{name}')")

    def test_forty_bad_hosts_are_told_apart(self):
        names = self.serve("one adapter each", 40)
        for title, screen in SCREENS.items():
            with self.subTest(screen=title):
                self.open(screen, 20)
                seen, box = self.look(f"large-forty-{title}")
                for colour in (DOWN, DEGRADED):
                    marks = self.marks(seen, box, colour)
                    self.assertEqual(20, len(marks), colour)
                    for mark in marks:
                        self.expect_seen(seen, box["ratio"], mark)
                self.do("click", at="button:has-text('Show all 40')")
                listed = self.do("text", at=".bad-nodes ul")
                self.assertEqual([], [name for name in names if name not in listed])
                self.assertEqual([], self.do("accessibility"))

    def test_a_host_of_eight_adapters_is_one_row(self):
        """More cells than are drawn one by one."""
        (name,) = self.serve("eight rails", 1)
        self.open(DESKTOP, 8)
        seen, box = self.look("large-rails")
        # Its cables are drawn in the same colour.
        mark = max(self.marks(seen, box, DOWN), key=lambda each: each.side)
        self.assertGreaterEqual(mark.side / box["ratio"], LEAST_SIDE)
        self.do("mouse", **mark.middle(box["ratio"]))
        self.do("wait", at=f".tip:has-text('{name} mlx5_')")
        self.assertRegex(self.do("text", at=".tip"), ", pod 16, rail [0-7]$")
        self.assertEqual(1, self.do("count", at=".bad-nodes li"))
        self.do("click", at=f".bad-nodes a:has-text('{name}'):has-text('8 adapters')")
        self.do("wait", at=f"h2:text-is('{name}')")


if __name__ == "__main__":
    weft_testing.main()
