#!/usr/bin/env python3
"""Table of negative controls in scenarios/CONTROLS.md.   Usage: controls.py --write|--check TBDSIM

Assesses scenarios/seeds/dgx1_controls.toml, whose claims are named "mechanism: what it does"; --check fails where one of them does
not hold or where the table is another.
"""
import json
import os
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PAGE = os.path.join(ROOT, "scenarios", "CONTROLS.md")
BEGIN, END = "<!-- generated: controls -->\n", "<!-- end -->"


def table(program):
    done = subprocess.run([program, "validate", "scenarios/seeds/dgx1_controls.toml", "--format", "json"], cwd=ROOT, capture_output=True,
                          text=True, env=dict(os.environ, TBDSIM_CATALOGUE=ROOT))
    if done.returncode != 0:
        sys.exit(f"a mechanism's claims do not hold: {done.stderr}")
    lines = ["| mechanism | figure | value | against | set by it |", "|---|---|---|---|---|"]
    for claim in json.loads(done.stdout)["claims"]:
        mechanism, figure = claim["id"].split(": ", 1)
        lines.append(f"| {mechanism} | {figure} | {claim['left']:.2f} | {claim['right']:.2f} | {'yes' if claim['use'] == 'fit' else 'no'} |")
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("--write", "--check"):
        sys.exit(__doc__)
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    start = text.index(BEGIN) + len(BEGIN)
    end = text.index(END, start)
    fresh = text[:start] + table(sys.argv[2]) + text[end:]
    if sys.argv[1] == "--write":
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(fresh)
    elif fresh != text:
        sys.exit("scenarios/CONTROLS.md is stale: run .ci/controls.py --write TBDSIM")


if __name__ == "__main__":
    main()
