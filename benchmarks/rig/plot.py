"""Draws recall@5, @10 and @25 of several retrievers as an SVG: a row for each, a dot for each depth."""

from collections.abc import Mapping, Sequence
from html import escape

from rig.retrieval import DEPTHS

_FIGURE_WIDTH = 30
_WIDTH, _LEFT, _RIGHT, _TOP, _ROW = 860, 250, 30, 64, 34
_COLOURS = {5: "#1d4ed8", 10: "#0891b2", 25: "#94a3b8"}
_STYLE = """<style>
  text { font: 13px system-ui, sans-serif; fill: #1f2937 }
  .small { font-size: 11px; fill: #6b7280 } .ours { font-weight: 700 }
  .grid { stroke: #e5e7eb } .span { stroke: #cbd5e1; stroke-width: 3 }
  .page { fill: #ffffff }
  @media (prefers-color-scheme: dark) {
    text { fill: #e5e7eb } .small { fill: #9ca3af } .grid { stroke: #374151 } .span { stroke: #475569 }
    .page { fill: #0f172a }
  }
</style>"""


def draw(title: str, rows: Sequence[tuple[str, Mapping[int, float]]], *, ours: str) -> str:
    """The SVG. Each row is a label and its recall in percent by depth; rows that end with `ours` stand out."""
    height = _TOP + _ROW * len(rows) + 34
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">',
        f"<title>{escape(title)}</title>",
        _STYLE,
        f'<rect class="page" width="{_WIDTH}" height="{height}" rx="8"/>',
        f'<text x="20" y="28" class="ours">{escape(title)}</text>',
        *_legend(),
        *_grid(height),
    ]
    for number, (label, recall) in enumerate(rows):
        lines += _row(label, recall, y=_TOP + _ROW * number + _ROW // 2, is_ours=label.endswith(ours))
    return "\n".join([*lines, "</svg>", ""])


def _x(percent: float) -> float:
    return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * percent / 100, 1)


def _legend() -> list[str]:
    parts: list[str] = []
    for number, depth in enumerate(DEPTHS):
        x = _WIDTH - _RIGHT - 100 * (len(DEPTHS) - number)
        parts.append(f'<circle cx="{x}" cy="46" r="5" fill="{_COLOURS[depth]}"/>')
        parts.append(f'<text x="{x + 10}" y="50" class="small">recall@{depth}</text>')
    return parts


def _grid(height: int) -> list[str]:
    parts: list[str] = []
    for percent in range(0, 101, 20):
        x = _x(percent)
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="{_TOP}" y2="{height - 30}"/>')
        parts.append(f'<text x="{x}" y="{height - 14}" class="small" text-anchor="middle">{percent} %</text>')
    return parts


def _row(label: str, recall: Mapping[int, float], *, y: int, is_ours: bool) -> list[str]:
    first, last = _x(recall[DEPTHS[0]]), _x(recall[DEPTHS[-1]])
    emphasis = ' class="ours"' if is_ours else ""
    parts = [
        f'<text x="20" y="{y + 4}"{emphasis}>{escape(label)}</text>',
        f'<line class="span" x1="{first}" x2="{last}" y1="{y}" y2="{y}"/>',
    ]
    figures_at = _apart([_x(recall[depth]) for depth in DEPTHS])
    for depth, figure_x in reversed(list(zip(DEPTHS, figures_at, strict=True))):
        x = _x(recall[depth])
        parts.append(f'<circle cx="{x}" cy="{y}" r="{6 if is_ours else 5}" fill="{_COLOURS[depth]}"/>')
        parts.append(
            f'<text x="{figure_x}" y="{y - 9}" class="small" text-anchor="middle">{recall[depth]:.1f}</text>'
        )
    return parts


def _apart(places: Sequence[float]) -> list[float]:
    """These places, from left to right, moved to the right where figures would overlap."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + _FIGURE_WIDTH) if moved else place)
    return moved
