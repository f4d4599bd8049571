#!/usr/bin/env python3
"""Whole predictions that must not change.   Usage: steps.py --write|--check TBDSIM, or steps.py --same OLD_TBDSIM TBDSIM

steps.toml lists them, steps.txt records each: half of the SHA-256 of its JSON with all details, its step time and its peak memory. The
program's version and the digests of input files are left out, and figures are rounded to 6 digits, because the last ones depend on
the mathematical library of the machine. --check names the predictions that differ, with both figures; --write records what is predicted
now (say in the commit why it may differ). --same compares two programs, each with its own catalogue, digit for digit.
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
DETAILS = "--layers --kernels --links --host --format json"


def commands():
    with open(os.path.join(HERE, "steps.toml"), "rb") as file:
        groups = tomllib.load(file)["group"]
    for group in groups:
        axes = [key for key in group if key != "why"]
        for values in itertools.product(*(group[axis] for axis in axes)):
            parts = [str(value) if axis == "options" else f"--{axis} {value}" for axis, value in zip(axes, values)]
            yield " ".join(part for part in parts if part)


def rounded(value):
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


def prediction(program, command, catalogue):
    environment = dict(os.environ, TBDSIM_CATALOGUE=catalogue) if catalogue else os.environ
    done = subprocess.run([program, "predict", *shlex.split(command), *shlex.split(DETAILS)], cwd=HERE, text=True, capture_output=True,
                          env=environment, check=False)
    assert done.returncode == 0, f"tbdsim predict {command}: exit {done.returncode}: {done.stderr.strip()}"
    answer = json.loads(done.stdout)
    for key in ("tool", "inputs"):
        answer.pop(key)
    return answer


def line(answer, exact, command):
    text = json.dumps(answer if exact else rounded(answer), sort_keys=True)
    peak = max(gpu["peak_bytes"] for gpu in answer["memory"]["gpus"])
    return f"{hashlib.sha256(text.encode()).hexdigest()[:32]} {answer['step_time_s']['value']:.6g} s {peak:.6g} B : {command}"


def lines(program, exact=False):
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return list(pool.map(lambda c: line(prediction(program, c, None if exact else ROOT), exact, c), commands()))


def compare(before, after):
    changed = [f"- {old}\n+ {new}" for old, new in itertools.zip_longest(before, after, fillvalue="(none)") if old != new]
    if changed:
        sys.exit("\n".join([f"{len(changed)} of {len(after)} predictions changed", *changed[:20]]))


def main(mode, *programs):
    if mode == "--same":
        compare(lines(programs[0], True), lines(programs[1], True))
    elif mode == "--write":
        with open(RECORD, "w", encoding="utf-8") as file:
            file.write("\n".join(lines(programs[0])) + "\n")
    else:
        with open(RECORD, encoding="utf-8") as file:
            compare(file.read().splitlines(), lines(programs[0]))


if __name__ == "__main__":
    if len(sys.argv) != {"--write": 3, "--check": 3, "--same": 4}.get(sys.argv[1] if len(sys.argv) > 1 else ""):
        sys.exit(__doc__)
    main(sys.argv[1], *(os.path.realpath(program) for program in sys.argv[2:]))
