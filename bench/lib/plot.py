"""Line charts as SVG, several panels in a grid: just enough for the benchmarks, and no dependency."""
import math
from dataclasses import dataclass, field
from html import escape

WIDTH, HEIGHT = 300, 190  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 30, 40  # around its axes
LEGEND, LEGEND_ROW = 34, 16  # with one row; each further one
INK, GRID = "#333333", "#dddddd"


@dataclass
class Series:
    name: str
    color: str
    dashed: bool = False


@dataclass
class Panel:
    title: str
    x_label: str
    y_label: str
    log_y: bool = False
    y_max: float = 0  # at least
    lines: dict = field(default_factory=dict)  # by the name of the series: points
    log_x: bool = True


class Axis:
    """From values to pixels; logarithmic or from zero."""

    def __init__(self, values, log, begin, end, at_least=0):
        self.log, self.begin, self.end = log, begin, end
        if log:
            self.ticks = self.decades(min(values), max(values))
        else:
            self.ticks = self.steps(max(max(values), at_least))
        self.low, self.high = self.scale(self.ticks[0]), self.scale(self.ticks[-1])

    @staticmethod
    def decades(low, high):
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        return [10.0**e for e in range(first, max(last, first + 1) + 1)]

    @staticmethod
    def steps(high):
        rough = (high or 1) / 4
        power = 10 ** math.floor(math.log10(rough))
        step = next(s * power for s in (1, 2, 5, 10) if s * power >= rough * 0.999)
        return [i * step for i in range(max(math.ceil(high / step - 1e-9), 1) + 1)]

    def scale(self, value):
        return math.log10(value) if self.log else value

    def at(self, value):
        share = (self.scale(value) - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)


def number(value):
    if value >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if value >= 1e4 else f"{value:g}"


def text(x, y, words, anchor="middle", size=11, extra=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{INK}" {extra}>'
            f"{escape(words)}</text>")


def line(x1, y1, x2, y2, color, width=1, dashed=False):
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{color}" stroke-width="{width}" fill="none"{dash}/>'


def draw_panel(panel, series, left, top):
    points = [p for points in panel.lines.values() for p in points]
    x = Axis([p[0] for p in points], panel.log_x, left + LEFT, left + WIDTH - RIGHT)
    y = Axis([p[1] for p in points], panel.log_y, top + HEIGHT - BOTTOM, top + TOP, panel.y_max)
    yield text((x.begin + x.end) / 2, top + 18, panel.title, size=12, extra='font-weight="bold"')
    for tick in y.ticks:
        yield line(x.begin, y.at(tick), x.end, y.at(tick), GRID)
        yield text(x.begin - 6, y.at(tick) + 4, number(tick), "end", 10)
    for tick in x.ticks:
        yield line(x.at(tick), y.begin, x.at(tick), y.begin + 4, INK)
        yield text(x.at(tick), y.begin + 16, number(tick), size=10)
    yield line(x.begin, y.begin, x.end, y.begin, INK)
    yield text((x.begin + x.end) / 2, y.begin + 31, panel.x_label)
    middle = (y.begin + y.end) / 2
    yield text(left + 14, middle, panel.y_label, extra=f'transform="rotate(-90 {left + 14} {middle:.1f})"')
    for s in series:
        path = [(x.at(px), y.at(py)) for px, py in panel.lines.get(s.name, [])]
        if not path:
            continue
        dash = ' stroke-dasharray="5 4"' if s.dashed else ""
        steps = "L".join(f"{px:.1f} {py:.1f}" for px, py in path)
        yield f'<path d="M{steps}" stroke="{s.color}" stroke-width="2" fill="none"{dash}/>'
        for px, py in path:
            yield f'<circle cx="{px:.1f}" cy="{py:.1f}" r="2.6" fill="{s.color if not s.dashed else "white"}" stroke="{s.color}"/>'


def legend_rows(series, width):
    """As many to a row as there is room for; and how wide each is."""
    needed = 44 + 6.5 * max(len(s.name) for s in series)
    count = max(1, min(len(series), int(width // needed)))
    return [series[i:i + count] for i in range(0, len(series), count)], min(170, width / count)


def draw_legend(rows, slot, width):
    start = (width - slot * len(rows[0])) / 2
    for k, row in enumerate(rows):
        y = 18 + k * LEGEND_ROW
        for i, s in enumerate(row):
            at = start + i * slot
            yield line(at, y, at + 28, y, s.color, 2, s.dashed)
            yield text(at + 34, y + 4, s.name, "start")


def svg(rows, series):
    """The picture of a grid of panels, row by row."""
    width = WIDTH * max(map(len, rows))
    names, slot = legend_rows(series, width)
    top = LEGEND + LEGEND_ROW * (len(names) - 1)
    height = top + HEIGHT * len(rows)
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           'font-family="sans-serif">')
    yield f'<rect width="{width}" height="{height}" fill="white"/>'
    yield from draw_legend(names, slot, width)
    for i, row in enumerate(rows):
        for k, panel in enumerate(row):
            yield from draw_panel(panel, series, k * WIDTH, top + i * HEIGHT)
    yield "</svg>"
