#!/usr/bin/env python3
"""Guards accuracy, and lists the claims that fail.   Usage: accuracy.py --write|--write-claims|--check TBDSIM

tests/validation/accuracy.csv records for each published series how many rows validate, their mean error and how many lie within the
stated range. --check runs `tbdsim validate --summary scenarios`. It fails where a mean grew by more than a point and a tenth of itself,
where the share within the range fell by more than 5 points and two rows, and where rows went missing. It also fails where a claim
fails without a reason, and where the list of failing claims in scenarios/CLAIMS.md is not the present one. `readme.py --check`
checks the same. --write records what is reached now (say in the commit why a figure may be
worse), --write-claims only rewrites the list.
"""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile

COMMAND = "validate --summary scenarios"
ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
RECORD = os.path.join(ROOT, "tests", "validation", "accuracy.csv")
PAGE = os.path.join(ROOT, "scenarios", "CLAIMS.md")
BEGIN, END = "<!-- generated: failing claims -->\n", "<!-- end -->"
MEAN_SLACK = 0.01      # of the error, beside a tenth of it: kernels that become better move single rows both ways
INSIDE_SLACK = 0.05    # share of the rows
INSIDE_ROWS = 2        # and at least so many rows


def validate(program):
    """What COMMAND prints, and its whole answer, which the page beside it holds."""
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "accuracy.html")
        done = subprocess.run([program, *COMMAND.split(), "--report", page], cwd=ROOT, capture_output=True, text=True,
                              env=dict(os.environ, TBDSIM_CATALOGUE=ROOT))
        if done.returncode not in (0, 1):
            sys.exit(f"tbdsim {COMMAND}: exit {done.returncode}: {done.stderr}")
        with open(page, encoding="utf-8") as file:
            answer = re.search(r'<script type="application/json" id="data">(.*?)</script>', file.read(), re.S)
    return done.stdout, json.loads(answer[1])["data"]["accuracy"]


def series(report):
    """(rows, mean error, share within the range) of each series: the groups of one name before the slash."""
    sums = {}
    for group in report["groups"]:
        total = sums.setdefault(group["group"].split("/")[0], [0, 0.0, 0.0])
        total[0] += group["n"]
        total[1] += group["n"] * group["mean_ape"]
        total[2] += group["n"] * group["coverage"]
    return {name: (n, error / n, inside / n) for name, (n, error, inside) in sorted(sums.items()) if n}


def worse(recorded, now):
    problems = []
    for name, (rows, mean, inside) in recorded.items():
        if name not in now or now[name][0] < rows:
            problems.append(f"{name}: {now[name][0] if name in now else 0} of {rows} rows are left")
            continue
        if now[name][1] > 1.1 * mean + MEAN_SLACK:
            problems.append(f"{name}: mean error {now[name][1]:.1%}, recorded {mean:.1%}")
        lost = inside - now[name][2]
        if lost > INSIDE_SLACK and lost * now[name][0] > INSIDE_ROWS:
            problems.append(f"{name}: {now[name][2]:.0%} of the rows within the range, recorded {inside:.0%}")
    return problems


def read_record():
    with open(RECORD, encoding="utf-8") as file:
        return {row["series"]: (int(row["rows"]), float(row["mean_error"]), float(row["inside"])) for row in csv.DictReader(file)}


def write_record(now):
    with open(RECORD, "w", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["series", "rows", "mean_error", "inside"])
        for name, (count, mean, inside) in now.items():
            rows.writerow([name, count, f"{mean:.4f}", f"{inside:.3f}"])


def failing(report):
    return [claim for claim in report["claims"] if not claim["holds"]]


def claims_table(report):
    def cell(text):
        return text.replace("|", "\\|")
    lines = ["| claim that fails | reason |", "|---|---|"]
    lines += [f"| {cell(claim['id'])} | {cell(claim.get('reason', ''))} |" for claim in failing(report)]
    return "\n".join(lines) + "\n"


def with_claims(text, report):
    start = text.index(BEGIN) + len(BEGIN)
    return text[:start] + claims_table(report) + text[text.index(END, start):]


def page_text():
    with open(PAGE, encoding="utf-8") as file:
        return file.read()


def write_claims(report):
    text = with_claims(page_text(), report)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text)


def problems(report):
    """One line for each thing that is not as recorded."""
    found = worse(read_record(), series(report))
    found += [f"claim \"{claim['id']}\" fails and states no reason" for claim in failing(report) if not claim.get("reason")]
    text = page_text()
    if with_claims(text, report) != text:
        found.append("scenarios/CLAIMS.md lists other failing claims: run .ci/accuracy.py --write-claims TBDSIM")
    return found


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("--write", "--write-claims", "--check"):
        sys.exit(__doc__)
    _, report = validate(os.path.abspath(sys.argv[2]))
    if sys.argv[1] == "--check":
        sys.exit("\n".join(problems(report)) or None)
    write_claims(report)
    if sys.argv[1] == "--write":
        write_record(series(report))


if __name__ == "__main__":
    main()
