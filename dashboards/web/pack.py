# SPDX-License-Identifier: Apache-2.0
"""Packs a folder of files into page.bin and page_assets.cpp, which weftd is linked with: pack.py DIST OUTPUT. The assembler looks for
page.bin in its include path, so that both can be moved together."""

import gzip
import hashlib
import os
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}


def address(path: str) -> str:
    """A document is asked for without its ending, and the first one of a folder by the folder's name."""
    return "/" + path.removesuffix(".html").removesuffix("index") if path.endswith(".html") else "/" + path


def addresses(path: str) -> list[str]:
    """Browsers ask for /favicon.ico where nothing names another icon, as beside an answer in JSON."""
    return [address(path), *(["/favicon.ico"] if path == "favicon.svg" else [])]


def main(dist: str, output: str) -> None:
    parts = bytearray()

    def keep(data: bytes) -> str:
        place = f"std::string_view(weft_page_bytes + {len(parts)}, {len(data)})"
        parts.extend(data)
        return place

    entries = []
    for path in sorted(os.path.relpath(os.path.join(folder, name), dist) for folder, _, names in os.walk(dist) for name in names):
        ending = os.path.splitext(path)[1]
        if ending not in TYPES:
            sys.exit(f"{path}: of what content type is that?")
        with open(os.path.join(dist, path), "rb") as stream:
            body = stream.read()
        squeezed = gzip.compress(body, 9, mtime=0)
        etag = hashlib.sha256(body).hexdigest()[:16]
        immutable = "true" if path.startswith("assets/") else "false"
        packed = keep(squeezed) if len(squeezed) < len(body) else "{}"
        plain = keep(body)
        entries += [f'      {{"{name}", "{TYPES[ending]}", {plain}, {packed}, "\\"{etag}\\"", {immutable}}},\n' for name in addresses(path)]

    with open(os.path.join(output, "page.bin"), "wb") as stream:
        stream.write(parts)
    with open(os.path.join(output, "page_assets.cpp"), "w", encoding="utf-8") as stream:
        stream.write(f"""// Made by dashboards/web/pack.py.
#include "daemon/programs/weftd/page_assets.hpp"

asm(".section .rodata\\n"
    ".global weft_page_bytes\\n"
    "weft_page_bytes:\\n"
    ".incbin \\"page.bin\\"\\n"
    ".previous\\n");
extern "C" const char weft_page_bytes[];

weft::api::Assets weft::page_assets() {{
  static const weft::api::Asset kAssets[] = {{
{"".join(entries)}  }};
  return kAssets;
}}
""")


main(*sys.argv[1:])
