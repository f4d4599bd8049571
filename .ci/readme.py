#!/usr/bin/env python3
"""Generated parts of README.md; --write also those of scenarios/README.md.   Usage: readme.py --write|--check TBDSIM

Runs the given program in the source tree and puts its output between the markers; --check fails where it differs.
"""
import os
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PREDICT = ["predict", "--hw", "dgx1.toml", "--model", "resnet50"]
VALIDATE = ["validate", "--summary", "scenarios"]


def without_tables(text):
    """Every subject's line, but the tables of the first subject alone: the page is short."""
    kept, subjects = [], 0
    for line in text.splitlines(keepends=True):
        subjects += line.startswith(("one GPU", "several GPUs", "memory ", "collectives "))
        if not (line.startswith("  ") and line.strip() and subjects > 1):
            kept.append(line)
    return "".join(kept)


def run(program, arguments, codes=(0,)):
    done = subprocess.run([program, *arguments], cwd=ROOT, capture_output=True, text=True)
    if done.returncode not in codes:
        sys.exit(f"tbdsim {' '.join(arguments)}: exit {done.returncode}: {done.stderr}")
    return "```text\n$ tbdsim " + " ".join(arguments) + "\n" + (without_tables(done.stdout) if arguments is VALIDATE else done.stdout) + "```\n"


def generated(text, program):
    # Some claims fail, which scenarios/README.md tells with reasons: exit 1.
    for name, arguments, codes in (("prediction", PREDICT, (0,)), ("accuracy", VALIDATE, (0, 1))):
        begin = f"<!-- generated: {name} -->\n"
        at = text.index(begin) + len(begin)
        text = text[:at] + run(program, arguments, codes) + text[text.index("<!-- end -->", at):]
    return text


def main(arguments):
    if len(arguments) != 3 or arguments[1] not in ("--write", "--check"):
        sys.exit(__doc__)
    path = os.path.join(ROOT, "README.md")
    old = open(path, encoding="utf-8").read()
    new = generated(old, os.path.abspath(arguments[2]))
    if arguments[1] == "--write":
        open(path, "w", encoding="utf-8").write(new)
        for script, mode in (("questions.py", "--write"), ("controls.py", "--write"), ("accuracy.py", "--write-claims")):
            subprocess.run([sys.executable, os.path.join(ROOT, ".ci", script), mode, arguments[2]], check=True)
    elif old != new:
        sys.exit("README.md is stale: run .ci/readme.py --write build/ci/tbdsim and review the difference")


if __name__ == "__main__":
    main(sys.argv)
