#!/usr/bin/env python3
"""Generated parts of README.md and docs/ACCURACY.md.   Usage: readme.py --write|--check TBDSIM

Runs the given program and puts its output, or an excerpt, between the markers. --check fails where it differs, and where accuracy is
not as recorded (accuracy.py): one validation of all tables serves both. --write also writes the generated pages of scenarios/.
`mine.csv` is the block of CSV in README.md.
"""
import functools
import os
import re
import shlex
import subprocess
import sys
import tempfile

import accuracy
import weaknesses

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
LONGEST = 7  # lines of an excerpt
PAGE_LINES = 120  # of README.md: what does not fit moves to docs/

# Page, marker, command, accepted exit codes, and of an excerpt how many lines it shows from the first one that begins with a word
# on (None: all). The table of weak rows has no command of its own. A claim that fails makes `validate` exit with 1; scenarios/CLAIMS.md
# lists them with reasons.
BLOCKS = [
    ("README.md", "predict", "predict --hw dgx1.toml --model resnet50", (0,), [("Step time", 2), ("Memory", 2), ("Cost", 1)]),
    ("README.md", "explain", "explain --hw dgx1 --model resnet50 --stack mxnet-1.2", (0,), [("what if", 5)]),
    ("README.md", "compare", "compare --hw titan-xp,p4000,gtx-1080-ti --model resnet50", (0,), [("samples/s", 4)]),
    ("README.md", "validate", "validate mine.csv --rows", (0,), [("row", 4), ("mean of groups", 1)]),
    ("README.md", "accuracy", accuracy.COMMAND, (0, 1),
     [(word, 1) for word in ("groups  ", "one GPU, fp32", "one GPU, other", "several GPUs", "divided networks", "memory", "collectives")]),
    ("docs/ACCURACY.md", "accuracy", accuracy.COMMAND, (0, 1), None),
    ("docs/ACCURACY.md", "weak rows", None, (), None),
]


validated = functools.lru_cache(maxsize=None)(accuracy.validate)


def answer(program, command, codes):
    """Standard output."""
    if command == accuracy.COMMAND:
        return validated(program)[0]
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            table = re.search(r"```csv\n(.*?)```", file.read(), re.S)
        assert table, "README.md shows a table of measurements"
        with open(os.path.join(folder, "mine.csv"), "w", encoding="utf-8") as file:
            file.write(table[1])
        done = subprocess.run([program, *shlex.split(command)], cwd=folder if "mine.csv" in command else ROOT, capture_output=True,
                              text=True, env=dict(os.environ, TBDSIM_CATALOGUE=ROOT))
    if done.returncode not in codes:
        sys.exit(f"tbdsim {command}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def excerpt(text, shown, command):
    """Runs of lines as `shown` says."""
    lines = text.splitlines()
    kept, end = [], 0
    for word, count in shown:
        start = next((n for n in range(end, len(lines)) if lines[n].lstrip().startswith(word)), None)
        if start is None:
            sys.exit(f"tbdsim {command}: no line begins with \"{word}\"")
        kept += lines[start:start + count]
        end = start + count
    if len(kept) > LONGEST:
        sys.exit(f"tbdsim {command}: an excerpt of more than {LONGEST} lines")
    return "\n".join(kept) + "\n"


def block(program, command, codes, shown):
    if command is None:
        return weaknesses.table(program)
    text = answer(program, command, codes)
    return f"```text\n$ tbdsim {command}\n" + (text if shown is None else excerpt(text, shown, command)) + "```\n"


FIGURE = re.compile(r"[+-]?(?:\d+\.\d+|\d+(?= %))")


def alike(old, new):
    """Whether texts agree but for the last digit of figures: compilers and mathematical libraries round differently."""
    def frame(text):
        return [line.split() for line in FIGURE.sub("#", text).splitlines()]
    def same(a, b):
        digits = min(len(figure.partition(".")[2]) for figure in (a, b))
        return abs(float(a) - float(b)) < 1.01 * 10 ** -digits
    return frame(old) == frame(new) and all(same(a, b) for a, b in zip(FIGURE.findall(old), FIGURE.findall(new)))


def pages(program):
    """(path, text as it is, text as it should be) of each page."""
    for path in dict.fromkeys(page for page, *_ in BLOCKS):
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            old = file.read()
        new = old
        for page, name, command, codes, shown in BLOCKS:
            if page == path:
                begin = f"<!-- generated: {name} -->\n"
                at = new.index(begin) + len(begin)
                new = new[:at] + block(program, command, codes, shown) + new[new.index("<!-- end -->", at):]
        yield path, old, new


def main(arguments):
    if len(arguments) != 3 or arguments[1] not in ("--write", "--check"):
        sys.exit(__doc__)
    program = os.path.abspath(arguments[2])
    problems = []
    for path, old, new in pages(program):
        if path == "README.md" and new.count("\n") > PAGE_LINES:
            sys.exit(f"README.md has more than {PAGE_LINES} lines")
        if arguments[1] == "--write":
            with open(os.path.join(ROOT, path), "w", encoding="utf-8") as file:
                file.write(new)
        elif not alike(old, new):
            problems.append(f"{path}: stale; run .ci/readme.py --write build/ci/tbdsim and review the difference")
    _, report = validated(program)
    if arguments[1] == "--check":
        sys.exit("\n".join(problems + accuracy.problems(report)) or None)
    accuracy.write_claims(report)
    for script in ("questions.py", "controls.py"):
        subprocess.run([sys.executable, os.path.join(ROOT, ".ci", script), "--write", program], check=True)


if __name__ == "__main__":
    main(sys.argv)
