#!/usr/bin/env python3
"""The two pictures of README.md.   Usage: pictures.py TBDSIM [CHROMIUM]

docs/predicted_against_measured.svg: every published throughput of scenarios/published that set no constant, by `validate`.
docs/report.png: the page that `predict --report` writes, as headless Chromium draws it (CHROMIUM: its program, "chromium").
Run it when predictions or the page have changed, look at both pictures, and commit them.
"""
import csv
import glob
import json
import math
import os
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
DOCS = os.path.join(ROOT, "docs")
REPORT = ["predict", "--hw", "dgx1", "--model", "resnet50", "--stack", "mxnet-1.2"]
REPORT_SIZE = (1240, 1000)
SUBJECTS = (("one GPU, fp32", "#0072b2"), ("one GPU, other precisions", "#d55e00"), ("several GPUs", "#009e73"))
LEFT, TOP, SIDE = 70, 20, 480  # pixels: the corner of the plot and the length of its sides
BAND = 1.2                     # dashed lines: predicted 20 % above and below measured


def run(program, arguments, codes=(0,)):
    done = subprocess.run([program, *arguments], cwd=ROOT, env=dict(os.environ, TBDSIM_CATALOGUE=ROOT), capture_output=True, text=True)
    if done.returncode not in codes:
        sys.exit(f"tbdsim {' '.join(arguments)}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def subject(row):
    """Of a table's row, as `validate --summary` divides them; tables of time know no tf32 as fp32."""
    if int(row["gpus"] or 1) > 1:
        return SUBJECTS[2][0]
    return SUBJECTS[0][0] if row["precision"] in ("", "fp32") else SUBJECTS[1][0]


def subjects_by_row():
    """Subject of each row of the published tables, by (group, id)."""
    found = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "scenarios", "published", "*.csv"))):
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                found[row["group"], row["id"]] = subject(row)
    return found


def points(program):
    """(measured, predicted) of throughputs that set nothing, by subject."""
    report = json.loads(run(program, ["validate", "scenarios/published", "--format", "json"], (0, 1)))
    subjects, found = subjects_by_row(), {name: [] for name, _ in SUBJECTS}
    for row in report["rows"]:
        if row["use"] == "validation" and row["metric"] == "throughput" and not row.get("skipped"):
            found[subjects[row["group"], row["id"]]].append((row["measured"], row["predicted"]))
    return found


def short(power):
    """10 to this power, for an axis: "100 k"."""
    return f"{10 ** (power % 3)}{['', ' k', ' M', ' G'][power // 3]}"


def plot(found):
    values = [value for pairs in found.values() for pair in pairs for value in pair]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

    def across(value):
        return LEFT + SIDE * (math.log10(value) - low) / (high - low)

    def up(value):
        return TOP + SIDE * (1 - (math.log10(value) - low) / (high - low))

    def line(x1, y1, x2, y2, style):
        return f'<path d="M{across(x1):.1f} {up(y1):.1f}L{across(x2):.1f} {up(y2):.1f}" {style}/>'

    grey, thin = 'stroke="#8a94a6"', 'stroke="#e2e6ee"'
    start, end = 10.0 ** low, 10.0 ** high
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + SIDE + 20}" height="{TOP + SIDE + 60}" '
             'font-family="DejaVu Sans, sans-serif" font-size="12" fill="none">',
             '<title>Predicted against measured throughput of published training runs</title>',
             '<rect width="100%" height="100%" fill="#ffffff"/>']
    for power in range(low, high + 1):
        value = 10.0 ** power
        parts += [line(value, start, value, end, thin), line(start, value, end, value, thin),
                  f'<text x="{across(value):.1f}" y="{TOP + SIDE + 18}" text-anchor="middle" fill="#333">{short(power)}</text>',
                  f'<text x="{LEFT - 8}" y="{up(value) + 4:.1f}" text-anchor="end" fill="#333">{short(power)}</text>']
    parts += [line(start, start, end, end, grey), line(start, start * BAND, end / BAND, end, grey + ' stroke-dasharray="4 4"'),
              line(start * BAND, start, end, end / BAND, grey + ' stroke-dasharray="4 4"')]
    for index, (name, colour) in enumerate(SUBJECTS):
        dots = "".join(f"M{across(measured):.1f} {up(predicted):.1f}h0" for measured, predicted in found[name])
        y = TOP + 20 + 20 * index
        parts += [f'<path d="{dots}" stroke="{colour}" stroke-width="4" stroke-linecap="round" stroke-opacity=".55"/>',
                  f'<circle cx="{LEFT + 18}" cy="{y - 4}" r="5" fill="{colour}"/>',
                  f'<text x="{LEFT + 30}" y="{y}" fill="#333">{name}: {len(found[name])} rows</text>']
    parts += [f'<text x="{LEFT + SIDE / 2}" y="{TOP + SIDE + 42}" text-anchor="middle" fill="#333">measured, samples/s '
              '(dashed: 20 % off)</text>',
              f'<text transform="translate(18 {TOP + SIDE / 2}) rotate(-90)" text-anchor="middle" fill="#333">predicted, samples/s</text>',
              '</svg>']
    return "\n".join(parts) + "\n"


def screenshot(program, chromium):
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "report.html")
        run(program, [*REPORT, "--report", page])
        done = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                               f"--window-size={REPORT_SIZE[0]},{REPORT_SIZE[1]}", f"--user-data-dir={folder}/profile",
                               f"--screenshot={os.path.join(DOCS, 'report.png')}", "file://" + page], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{chromium}: exit {done.returncode}: {done.stderr}")


def main(arguments):
    if len(arguments) not in (2, 3):
        sys.exit(__doc__)
    program = os.path.abspath(arguments[1])
    with open(os.path.join(DOCS, "predicted_against_measured.svg"), "w", encoding="utf-8") as file:
        file.write(plot(points(program)))
    screenshot(program, arguments[2] if len(arguments) == 3 else "chromium")


if __name__ == "__main__":
    main(sys.argv)
