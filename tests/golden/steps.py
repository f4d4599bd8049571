#!/usr/bin/env python3
"""Whole predictions that must not change.   Usage: steps.py --write|--check TBDSIM

steps.toml lists them, steps.txt records each: the first half of the SHA-256 of its JSON with all details (the program's version and the
digests of input files left out), its step time and its peak memory. --check names every prediction that differs, with both
figures; --write records what is predicted now (say in the commit why it may differ).
"""
import concurrent.futures
import hashlib
import itertools
import json
import os
import shlex
import subprocess
import sys
import tomllib

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RECORD = os.path.join(HERE, "steps.txt")
DETAILS = "--layers --kernels --links --format json"


def commands():
    with open(os.path.join(HERE, "steps.toml"), "rb") as file:
        groups = tomllib.load(file)["group"]
    for group in groups:
        axes = [key for key in group if key != "why"]
        for values in itertools.product(*(group[axis] for axis in axes)):
            parts = [str(value) if axis == "options" else f"--{axis} {value}" for axis, value in zip(axes, values)]
            yield " ".join(part for part in parts if part)


def record(program, command):
    done = subprocess.run([program, "predict", *shlex.split(command), *shlex.split(DETAILS)], cwd=ROOT, text=True, capture_output=True,
                          env=dict(os.environ, TBDSIM_CATALOGUE=ROOT), check=False)
    assert done.returncode == 0, f"tbdsim predict {command}: exit {done.returncode}: {done.stderr.strip()}"
    answer = json.loads(done.stdout)
    for key in ("tool", "inputs"):
        answer.pop(key)
    digest = hashlib.sha256(json.dumps(answer, sort_keys=True).encode()).hexdigest()[:32]
    peak = max(gpu["peak_bytes"] for gpu in answer["memory"]["gpus"])
    return f"{digest} {answer['step_time_s']['value']:.9g} s {peak:.0f} B : {command}"


def main(mode, program):
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        lines = list(pool.map(lambda command: record(program, command), commands()))
    if mode == "--write":
        with open(RECORD, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        return
    with open(RECORD, encoding="utf-8") as file:
        recorded = file.read().splitlines()
    changed = [f"- {old}\n+ {new}" for old, new in itertools.zip_longest(recorded, lines, fillvalue="(none)") if old != new]
    if changed:
        sys.exit("\n".join([f"{len(changed)} of {len(lines)} predictions changed", *changed[:20]]))


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("--write", "--check"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
