"""Draws the app's icons, a line of pulse, as PNG files; nothing but the standard library."""

import struct
import zlib
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from math import hypot

COLOR_PIXELS, OUTLINE_PIXELS = 192, 32
ACCENT = (0x5B, 0x5F, 0xC7)
_WHITE = (255, 255, 255)
_GRID = 32.0
# The line of the web page's icon, on a grid of 32.
_PULSE = ((7, 17), (11, 17), (14, 9), (18, 23), (21, 17), (25, 17))
_LINE_WIDTH = 2.6
_SAMPLES = 4

Point = tuple[float, float]
Pixel = tuple[int, int, int, int]


@cache
def color_icon() -> bytes:
    """Return the icon of 192 × 192: white on the accent colour, to the edges."""

    def pixel(x: int, y: int) -> Pixel:
        white = _coverage(x, y, COLOR_PIXELS)
        red, green, blue = (
            round(back + (front - back) * white) for back, front in zip(ACCENT, _WHITE, strict=True)
        )
        return red, green, blue, 255

    return _png(COLOR_PIXELS, pixel)


@cache
def outline_icon() -> bytes:
    """Return the icon of 32 × 32: white on nothing, as Teams asks."""
    return _png(
        OUTLINE_PIXELS, lambda x, y: (*_WHITE, round(255 * _coverage(x, y, OUTLINE_PIXELS)))
    )


def _coverage(x: int, y: int, pixels: int) -> float:
    """Return how much of a pixel the line covers, 0 to 1."""
    scale = _GRID / pixels
    edge = _to_line((x + 0.5) * scale, (y + 0.5) * scale) - _LINE_WIDTH / 2
    if abs(edge) > scale:
        return 1.0 if edge < 0 else 0.0
    steps = [(step + 0.5) / _SAMPLES for step in range(_SAMPLES)]
    near = (_to_line((x + dx) * scale, (y + dy) * scale) for dx in steps for dy in steps)
    return sum(distance <= _LINE_WIDTH / 2 for distance in near) / _SAMPLES**2


def _to_line(x: float, y: float) -> float:
    return min(_distance((x, y), begin, end) for begin, end in pairwise(_PULSE))


def _distance(point: Point, begin: Point, end: Point) -> float:
    """Return how far `point` is from the stretch between two others."""
    width, height = end[0] - begin[0], end[1] - begin[1]
    along = (point[0] - begin[0]) * width + (point[1] - begin[1]) * height
    part = min(max(along / (width**2 + height**2), 0.0), 1.0)
    return hypot(point[0] - begin[0] - part * width, point[1] - begin[1] - part * height)


def _png(pixels: int, pixel: Callable[[int, int], Pixel]) -> bytes:
    rows = b"".join(
        b"\0" + b"".join(bytes(pixel(x, y)) for x in range(pixels)) for y in range(pixels)
    )
    header = struct.pack(">IIBBBBB", pixels, pixels, 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*one) for one in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
