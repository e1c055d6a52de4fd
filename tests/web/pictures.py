# SPDX-License-Identifier: Apache-2.0
"""Pixels of a browser's screenshot: what somebody sees, whoever drew it."""

import struct
import zlib
from dataclasses import dataclass

Colour = tuple[int, int, int]
Pixel = tuple[int, int]


@dataclass
class Picture:
    width: int
    height: int
    rows: list[bytes]  # red, green, blue of each pixel

    def at(self, x: int, y: int) -> Colour:
        return tuple(self.rows[y][3 * x:3 * x + 3])

    def patches(self, colour: Colour, left: int, top: int, right: int, bottom: int) -> list[list[Pixel]]:
        """Pixels of that colour between those, gathered by what touches."""
        wanted = bytes(colour)
        found = set()
        for y in range(top, bottom):
            row, at = self.rows[y], -1
            while (at := row.find(wanted, at + 1, 3 * right)) >= 0:
                if at % 3 == 0 and at >= 3 * left:
                    found.add((at // 3, y))
        patches = []
        while found:
            patch, edge = [], [found.pop()]
            while edge:
                x, y = edge.pop()
                patch.append((x, y))
                near = {(x + across, y + down) for across in (-1, 0, 1) for down in (-1, 0, 1)} & found
                found -= near
                edge.extend(near)
            patches.append(patch)
        return patches


def read(path: str) -> Picture:
    """A PNG of 8 bits, with or without alpha, not interlaced, as Chromium writes it (ISO/IEC 15948, 9.2)."""
    with open(path, "rb") as file:
        data = file.read()
    packed, at = b"", 8
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colours, _, _, interlaced = struct.unpack(">IIBBBBB", body)
            assert (depth, interlaced) == (8, 0) and colours in (2, 6), (depth, colours, interlaced)
            step = 3 if colours == 2 else 4
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    plain = zlib.decompress(packed)
    rows, before, stride = [], bytearray(width * step), width * step
    for y in range(height):
        begin = y * (stride + 1)
        line = _unfiltered(plain[begin], bytearray(plain[begin + 1:begin + 1 + stride]), before, step)
        before = line
        rows.append(bytes(line) if step == 3 else _opaque(line))
    return Picture(width, height, rows)


def _opaque(line: bytearray) -> bytes:
    colours = bytearray(len(line) // 4 * 3)
    for part in range(3):
        colours[part::3] = line[part::4]
    return bytes(colours)


def _unfiltered(kind: int, line: bytearray, above: bytearray, step: int) -> bytearray:
    for at in range(len(line)) if kind else ():
        left = line[at - step] if at >= step else 0
        up, corner = above[at], above[at - step] if at >= step else 0
        if kind == 4:
            guess = left + up - corner
            nearest = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
        else:
            nearest = (0, left, up, (left + up) // 2)[kind]
        line[at] = (line[at] + nearest) & 0xff
    return line


def contrast(one: Colour, other: Colour) -> float:
    """WCAG 2.2, contrast ratio: 1 to 21."""
    def luminance(colour: Colour) -> float:
        parts = [value / 255 / 12.92 if value / 255 <= 0.04045 else ((value / 255 + 0.055) / 1.055) ** 2.4 for value in colour]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
