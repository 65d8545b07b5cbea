"""Small line charts as SVG, for figures that stand in a README: no styles, no scripts, no fonts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from msgspec import Struct

COLOURS = ("#444444", "#c2410c", "#1d4ed8", "#15803d", "#a21caf", "#b45309", "#0e7490", "#be123c")
WIDTH, HEIGHT = 460, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 18, 34, 44
_TICKS = 5
_GAP, _ENTRY = 12, 16
"""Above the legend, and of each of its lines."""


class Series(Struct, frozen=True, kw_only=True):
    name: str
    points: Sequence[tuple[float, float]]
    line: bool = False
    """Whether the points are joined."""
    marked: bool = True
    """Whether each point has a dot."""
    bounds: Sequence[tuple[float, float, float, float]] = ()
    """Of each point: least x, greatest x, least y, greatest y."""
    labels: Sequence[str] = ()
    """Of each point; empty ones are not written."""


class Panel(Struct, frozen=True, kw_only=True):
    title: str
    x: str
    y: str
    x_max: float
    y_max: float
    series: Sequence[Series]
    levels: Sequence[tuple[float, str]] = ()
    """Horizontal lines, with what they say."""


def drawn(panels: Sequence[Panel]) -> str:
    """The panels side by side, each with its legend below."""
    width = WIDTH * len(panels)
    height = (
        HEIGHT + _GAP + _ENTRY * max(sum(bool(series.name) for series in panel.series) for panel in panels)
    )
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for place, panel in enumerate(panels):
        parts += [f'<g transform="translate({place * WIDTH} 0)">', *_Drawing(panel).parts(), "</g>"]
    return "\n".join([*parts, "</svg>"]) + "\n"


class _Drawing:
    def __init__(self, panel: Panel) -> None:
        self.panel = panel

    def x(self, value: float) -> float:
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * min(value / self.panel.x_max, 1.0)

    def y(self, value: float) -> float:
        return _TOP + (HEIGHT - _TOP - _BOTTOM) * (1 - min(value / self.panel.y_max, 1.0))

    def parts(self) -> list[str]:
        colours = [COLOURS[place % len(COLOURS)] for place in range(len(self.panel.series))]
        drawn_ = [self.series(*pair) for pair in zip(self.panel.series, colours, strict=True)]
        return [*self.axes(), *(part for parts in drawn_ for part in parts), *self.legend(colours)]

    def axes(self) -> list[str]:
        panel = self.panel
        bottom, right = self.y(0), self.x(panel.x_max)
        parts = [_text(_LEFT, 18, panel.title, weight="bold")]
        for tick in range(_TICKS + 1):
            across, up = panel.x_max * tick / _TICKS, panel.y_max * tick / _TICKS
            parts += [
                _line(self.x(across), bottom, self.x(across), bottom + 4),
                _text(self.x(across), bottom + 16, f"{across:g}", "middle"),
                _line(_LEFT - 4, self.y(up), _LEFT, self.y(up)),
                _text(_LEFT - 7, self.y(up) + 4, f"{up:g}", "end"),
            ]
        middle = (_TOP + bottom) / 2
        parts += [
            _line(_LEFT, bottom, right, bottom),
            _line(_LEFT, _TOP, _LEFT, bottom),
            _text((_LEFT + right) / 2, bottom + 34, panel.x, "middle"),
            f'<g transform="rotate(-90 14 {middle:g})">{_text(14, middle, panel.y, "middle")}</g>',
        ]
        for level, what in panel.levels:
            parts.append(_line(_LEFT, self.y(level), right, self.y(level), "#999", dash=True))
            parts.append(_text(right, self.y(level) - 3, what, "end"))
        return parts

    def series(self, series: Series, colour: str) -> list[str]:
        parts = []
        if series.line:
            path = " ".join(f"{self.x(across):.1f},{self.y(up):.1f}" for across, up in series.points)
            parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        for (across, up), (left, right, low, high) in zip(series.points, series.bounds, strict=False):
            parts.append(_line(self.x(left), self.y(up), self.x(right), self.y(up), colour))
            parts.append(_line(self.x(across), self.y(low), self.x(across), self.y(high), colour))
        labels = series.labels or [""] * len(series.points)
        for (across, up), label in zip(series.points, labels, strict=True):
            if series.marked:
                parts.append(_dot(self.x(across), self.y(up), 2 if series.line else 4, colour))
            parts += [_text(self.x(across) + 5, self.y(up) - 5, label, colour=colour)] if label else []
        return parts

    def legend(self, colours: Sequence[str]) -> list[str]:
        named = [(series.name, colour) for series, colour in zip(self.panel.series, colours, strict=True)]
        return [
            part
            for row, (name, colour) in enumerate(pair for pair in named if pair[0])
            for part in (
                _dot(_LEFT, HEIGHT + _GAP + _ENTRY * row, 4, colour),
                _text(_LEFT + 10, HEIGHT + _GAP + _ENTRY * row + 4, name),
            )
        ]


def _dot(x: float, y: float, radius: int, colour: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"/>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str = "#222", *, dash: bool = False) -> str:
    dashed = ' stroke-dasharray="4 3"' if dash else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{dashed}/>'


def _text(x: float, y: float, text: str, anchor: str = "start", *, weight: str = "", colour: str = "") -> str:
    extra = (f' font-weight="{weight}"' if weight else "") + (f' fill="{colour}"' if colour else "")
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(text)}</text>'
