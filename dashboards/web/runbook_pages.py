# SPDX-License-Identifier: Apache-2.0
"""Renders the runbooks as documents of the page: runbook_pages.py CMARK RUNBOOKS STYLE DIST. CMARK is cmark-gfm. Makes
DIST/runbooks/KIND.html, a list of them in index.html, and style.css, which is the page's."""

import html
import os
import re
import shutil
import subprocess
import sys

OUTSIDE = re.compile(r'<a href="([^"]*)">(.*?)</a>', re.DOTALL)


def document(title: str, body: str) -> str:
    return f"""<!DOCTYPE html>
<!-- SPDX-License-Identifier: Apache-2.0 -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{html.escape(title)} - Weft</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/runbooks/style.css">
</head>
<body>
<header><p class="brand"><a href="/">Weft</a></p><nav aria-label="Views"><a href="/#/incidents">Incidents</a><a href="/runbooks/">Runbooks</a></nav></header>
<article class="runbook">
{body}</article>
</body>
</html>
"""


def link(found: re.Match, names: list[str]) -> str:
    """A link to another runbook leads there; a document that is not served stays named by its words."""
    aim, words = found[1], found[2]
    page, _, place = aim.partition("#")
    if page.removesuffix(".md") in names:
        return f'<a href="/runbooks/{page.removesuffix(".md")}{"#" + place if place else ""}">{words}</a>'
    return found[0] if re.match(r"https?://|#", aim) else words


def with_links_to_kinds(body: str, own: str, kinds: list[str]) -> str:
    """Kinds that the text names become links, except in what is a link, a command or a heading already."""
    inside = 0
    parts = re.split(r"(<[^>]*>)", body)
    for at, part in enumerate(parts):
        if tag := re.match(r"<(/?)(a|code|h1|h2)\b", part):
            inside += -1 if tag[1] else 1
        elif not part.startswith("<") and inside == 0:
            parts[at] = re.sub(r"\b[A-Z]+(?:_[A-Z]+)*\b",
                               lambda word: f'<a href="/runbooks/{word[0]}">{word[0]}</a>' if word[0] in kinds and word[0] != own else word[0], part)
    return "".join(parts)


def render(cmark: str, text: str, own: str, names: list[str]) -> str:
    body = subprocess.run([cmark, "--extension", "table", "--to", "html"], input=text, capture_output=True, check=True, text=True,
                          encoding="utf-8").stdout
    body = OUTSIDE.sub(lambda found: link(found, names), body)
    body = with_links_to_kinds(body, own, [name for name in names if name.isupper()])
    body = body.replace("<pre>", '<pre tabindex="0">')  # what scrolls must be reached by keyboard
    body = body.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")
    # The page shows this part of it beside the incident.
    body = re.sub(r"<p>(<strong>What to do</strong>.*?</ol>)", r'<section id="what-to-do"><p>\1</section>', body, count=1, flags=re.DOTALL)
    # Alerts lead to their own paragraph: <strong>WeftSweepsLate, WeftSweepTooSlow.</strong>
    return re.sub(r"<p><strong>(Weft\w+(?:, Weft\w+)*)",
                  lambda head: "<p>" + "".join(f'<span id="{alert}"></span>' for alert in head[1].split(", ")) + f"<strong>{head[1]}", body)


def main(cmark: str, runbooks: str, style: str, dist: str) -> None:
    names = sorted(name.removesuffix(".md") for name in os.listdir(runbooks) if name.endswith(".md"))
    folder = os.path.join(dist, "runbooks")
    os.makedirs(folder)
    titles = {}
    for name in names:
        with open(os.path.join(runbooks, name + ".md"), encoding="utf-8") as stream:
            text = stream.read()
        titles[name] = text.partition("\n")[0].removeprefix("# ")
        with open(os.path.join(folder, name + ".html"), "w", encoding="utf-8") as stream:
            stream.write(document(titles[name], render(cmark, text, name, names)))

    def entries(chosen: list[str]) -> str:
        return "<ul>\n" + "".join(f'<li><a href="/runbooks/{name}">{html.escape(titles[name])}</a></li>\n' for name in chosen) + "</ul>\n"

    listed = ("<h1>Runbooks</h1>\n<h2>Kinds of incidents</h2>\n" + entries([name for name in names if name.isupper()]) +
              "<h2>Weft itself, its plans, and planned work</h2>\n" + entries([name for name in names if not name.isupper()]))
    with open(os.path.join(folder, "index.html"), "w", encoding="utf-8") as stream:
        stream.write(document("Runbooks", listed))
    shutil.copy(style, os.path.join(folder, "style.css"))


main(*sys.argv[1:])
