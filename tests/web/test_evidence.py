# SPDX-License-Identifier: Apache-2.0
"""The evidence of an incident from its page: the browser keeps a file, which shows itself without weftd, light, dark and on paper."""

import os
import shutil
import tempfile

from page_testing import PICTURES, PageTest, weft_testing

NARROW = {"width": 420, "height": 900}


class Evidence(PageTest):
    def test_the_browser_keeps_a_document_that_needs_nothing_else(self):
        node, port = "leaf-r0-p01", 12
        self.subnet.set_counter(node, port, "PortCounters.SymbolErrorCounter", 400)
        incident = self.pull(node, port)
        folder = tempfile.mkdtemp(prefix="weft-evidence-")
        self.addCleanup(shutil.rmtree, folder)
        file = os.path.join(folder, "kept.html")
        self.open()
        self.do("click", at=f"a.entry:has-text('{incident['id']}')")
        self.do("wait", at="h3:has-text('Evidence')")
        self.assertEqual(f"weft-{incident['id']}.html", self.do("download", at=".evidence-file button", path=file))
        self.picture("evidence-button")
        self.expect_accessible()
        self.expect_clean()
        for name, how in (("light", {}), ("dark", {"dark": True}), ("narrow", NARROW)):
            self.do("open", url=f"file://{file}", **how)
            self.do("wait", at=f"h1:has-text('{incident['id']}')")
            shown = self.do("text", at="main")
            for words in (incident["summary"], "Both ends", f"{node} port {port}", "Timeline", "What could not be told", "part number"):
                self.assertIn(words, shown)
            self.assertGreater(self.do("count", at="svg"), 0)
            wide = self.do("evaluate", script="document.documentElement.scrollWidth - document.documentElement.clientWidth")
            self.assertEqual(0, wide, "tables scroll, the document does not")
            self.do("screenshot", path=os.path.join(PICTURES, f"evidence-{name}.png"), whole=True)
            self.expect_accessible()
            self.expect_clean()
        # Paper is light, also for who reads in the dark.
        self.do("open", url=f"file://{file}", dark=True)
        self.do("media", media="print")
        self.assertEqual("rgb(255, 255, 255)", self.do("evaluate", script="getComputedStyle(document.body).backgroundColor"))
        self.do("screenshot", path=os.path.join(PICTURES, "evidence-print.png"), whole=True)


if __name__ == "__main__":
    weft_testing.main()
