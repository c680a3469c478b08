# SPDX-License-Identifier: Apache-2.0

"""The report: ratios as text and as a plot."""

import math

UNITS = {"cpu_us": "µs", "work_us": "µs", "rate": "/s", "peak_mb": "MB"}


def amount(value, of):
    if UNITS[of] == "µs" and value >= 1e6:
        return f"{value / 1e6:.2f} s"
    return f"{value:.0f}{UNITS[of]}" if of == "rate" else f"{value:.2f} {UNITS[of]}"


def goal(row):
    """Returns the goal, with a mark whether it is reached."""
    if row["goal"] is None:
        return ""
    is_met = row["ratio"] >= row["goal"] if row["better"] == "more" else row["ratio"] <= row["goal"]
    return f"{'≥' if row['better'] == 'more' else '≤'} {row['goal']:g} {'✓' if is_met else '✗'}"


def text(rows):
    names, others = (max(len(row[key]) for row in rows) + 1 for key in ("name", "against"))
    lines = [f"{'':<{names}}{'ratio':>7}  {'range of rounds':<16}{'goal':<10}{'measured':>10}  compared with"]
    for row in rows:
        spread = f"{row['low']:.3g} … {row['high']:.3g}"
        other = f"{row['against']:<{others}}{amount(row['against_median'], row['of']):>10}"
        lines.append(
            f"{row['name']:<{names}}{row['ratio']:>7.3g}  {spread:<16}{goal(row):<10}"
            f"{amount(row['median'], row['of']):>10}  {other}  {row['summary']}")
    return "\n".join(lines)


LEFT, RIGHT, TOP, STEP = 430, 900, 70, 30
STYLE = """
  svg { background: #fff; font: 13px system-ui, sans-serif }
  text { fill: #1c1c1e } .secondary { fill: #6b6b70 } .axis { stroke: #d8d8dc } .one { stroke: #6b6b70 }
  .spread { stroke: #0a66c2; stroke-width: 3; opacity: .4 } .ratio { fill: #0a66c2 }
  .goal { stroke: #b4530a; stroke-width: 2 } .missed { fill: #b4530a }
  @media (prefers-color-scheme: dark) {
    svg { background: #161618 } text { fill: #f2f2f7 } .secondary { fill: #a0a0a8 } .axis { stroke: #38383c }
    .one { stroke: #a0a0a8 } .spread { stroke: #5aa9ff } .ratio { fill: #5aa9ff }
    .goal { stroke: #ff9f4a } .missed { fill: #ff9f4a }
  }
"""


def plot(rows, title):
    """Plots ratios on a logarithmic scale: the dot is the median, the line the range of rounds, the bar the goal."""
    values = [row[key] for row in rows for key in ("low", "high", "goal") if row[key]] + [0.5, 2]
    first, last = math.floor(math.log2(min(values))), math.ceil(math.log2(max(values)))
    bottom = TOP + STEP * len(rows)

    def x(ratio):
        return round(LEFT + (math.log2(ratio) - first) / (last - first) * (RIGHT - LEFT), 1)

    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {RIGHT + 90} {bottom + 60}" role="img">',
        f"<title>{title}</title>", f"<style>{STYLE}</style>",
        f'<text x="20" y="28" font-size="16" font-weight="600">{title}</text>',
        '<text x="20" y="48" class="secondary">Ratio to the other program, logarithmic scale. Dot: median; line: range of rounds; '
        'bar: goal. Lower is better unless noted.</text>',
    ]
    for power in range(first, last + 1):
        name = f"{2 ** power}×" if power >= 0 else f"1/{2 ** -power}"
        drawn.append(f'<line class="{"one" if power == 0 else "axis"}" x1="{x(2 ** power)}" x2="{x(2 ** power)}" '
                     f'y1="{TOP}" y2="{bottom}"/>')
        drawn.append(f'<text class="secondary" x="{x(2 ** power)}" y="{bottom + 20}" text-anchor="middle">{name}</text>')
    for number, row in enumerate(rows):
        y = TOP + STEP * number + STEP // 2
        summary = row["summary"] + (" (higher is better)" if row["better"] == "more" else "")
        missed = ' class="missed"' if goal(row).endswith("✗") else ""
        drawn.append(f'<text x="20" y="{y}" dy="-2" font-weight="600">{row["name"]}</text>')
        drawn.append(f'<text class="secondary" x="20" y="{y}" dy="11" font-size="11">{summary} · {row["against"]}</text>')
        if row["goal"]:
            drawn.append(f'<line class="goal" x1="{x(row["goal"])}" x2="{x(row["goal"])}" y1="{y - 9}" y2="{y + 9}"/>')
        drawn.append(f'<line class="spread" x1="{x(row["low"])}" x2="{x(row["high"])}" y1="{y}" y2="{y}"/>')
        drawn.append(f'<circle class="ratio" cx="{x(row["ratio"])}" cy="{y}" r="4.5"/>')
        drawn.append(f'<text{missed} x="{RIGHT + 20}" y="{y}" dy="4">{row["ratio"]:.3g}×</text>')
    return "\n".join(drawn + ["</svg>"]) + "\n"
