#!/usr/bin/env python3
"""terminal.py SKILLPM makes docs/assets/terminal.svg, a picture of a terminal, from real output of the program.

With --check after SKILLPM, it fails if the picture is out of date.
"""

import html
import os
import pathlib
import re
import subprocess
import sys
import tempfile

COMMANDS = [
    "skillpm install acme/deploy",
    "skillpm connect claude-code",
    "skillpm policy init",
    "skillpm policy explain deploy",
]
COLORS = {"31": "#f85149", "32": "#3fb950", "33": "#d29922", "36": "#39c5cf", "1": "#ffffff", "2": "#8b949e"}
WIDTH, LINE, COLUMN, MARGIN = 112, 20, 8.4, 16


def run(program):
    lines = []
    with tempfile.TemporaryDirectory() as work:
        home = pathlib.Path(work, "home")
        project = home / "shop"
        project.mkdir(parents=True)
        binary = pathlib.Path(work, "bin")
        binary.mkdir()
        (binary / "skillpm").symlink_to(pathlib.Path(program).resolve())
        env = {"HOME": str(home), "PATH": f"{binary}:{os.environ['PATH']}", "FORCE_COLOR": "1", "CI": "1", "COLUMNS": str(WIDTH)}
        for command in COMMANDS:
            lines.append(f"\x1b[32m$\x1b[0m \x1b[1m{command}\x1b[0m")
            out = subprocess.run(["sh", "-c", command + " 2>&1"], cwd=project, env=env, text=True, capture_output=True)
            lines += out.stdout.rstrip("\n").split("\n") if out.stdout.strip() else []
            lines.append("")
    return lines[:-1]


def spans(line):
    color, out, used = None, [], 0
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if code:
            color = COLORS.get(code.group(1))
            continue
        part = part[: WIDTH - used]
        used += len(part)
        if part:
            fill = f' fill="{color}"' if color else ""
            out.append(f"<tspan{fill}>{html.escape(part)}</tspan>")
    return "".join(out)


def main():
    lines = run(sys.argv[1])
    height, width = len(lines) * LINE + 2 * MARGIN, int(WIDTH * COLUMN) + 2 * MARGIN
    rows = "\n".join(
        f'<text x="{MARGIN}" y="{MARGIN + (i + 1) * LINE - 6}" xml:space="preserve">{spans(line)}</text>'
        for i, line in enumerate(lines)
    )
    svg = f"""<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">
<title>Terminal: install a pack, connect an agent, and ask what a policy allows</title>
<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" fill="#c9d1d9">
{rows}
</g>
</svg>
"""
    path = pathlib.Path(__file__).resolve().parent.parent / "docs/assets/terminal.svg"
    if sys.argv[2:] != ["--check"]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(svg)
    elif path.read_text() != svg:
        sys.exit(f"{path.name} is out of date: go build -o skillpm ./cmd/skillpm && .ci/terminal.py skillpm")


main()
