#!/usr/bin/env python3
"""Tables of scenarios/QUESTIONS.md and scenarios/CLAIMS.md.   Usage: questions.py --write|--check TBDSIM

Runs the command of every question in scenarios/questions.toml: it must succeed, its output must hold what the question
says it shows, and its figures must relate as it says. A relation of its source that `fails` must still do so: the question counts as answered in
part. A relation that also holds for an answer with other numbers checks nothing, and
is refused. Then assesses what scenarios/claims.toml names. --check fails where one of these does not hold or where the tables differ
from what would be written.
"""
import concurrent.futures
import json
import math
import os
import random
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import tomllib

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
ALTERED = 8  # answers with other numbers that a relation is tried on


def load(name):
    with open(os.path.join(ROOT, "scenarios", name), "rb") as file:
        return tomllib.load(file)


def run(program, command, codes=(0,)):
    environment = dict(os.environ, TBDSIM_CATALOGUE=ROOT)
    done = subprocess.run([program, *shlex.split(command)], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode in codes, f"tbdsim {command}: exit {done.returncode}: {done.stderr.strip()}"
    return done.stdout


class Object(dict):
    """An object of a JSON text with its keys as attributes."""
    __getattr__ = dict.__getitem__


def answer_of(program, command):
    return json.loads(run(program, command + " --format json"), object_hook=Object)


def altered(value, chance):
    """The same answer with other numbers and texts; names stay, by which relations find what they are about."""
    if isinstance(value, dict):
        return Object((key, other if key in ("name", "resource") else altered(other, chance)) for key, other in value.items())
    if isinstance(value, list):
        return [altered(other, chance) for other in value]
    if isinstance(value, bool):
        return value if chance.random() < 0.5 else not value
    if isinstance(value, (int, float)):
        return type(value)(value * chance.choice((1, 1, 1, -1)) * math.exp(chance.uniform(-2, 2)) + chance.choice((0, 1)))
    return value + "?" if isinstance(value, str) else value


class Relations:
    """What an expression of `holds` may use: the keys of the answer and the functions below. Asks each command once."""

    def __init__(self, program, command, folder):
        self.program, self.folder, self.answers = program, folder, {}
        self.command = command

    def asked(self, command):
        if command not in self.answers:
            self.answers[command] = answer_of(self.program, command)
        return self.answers[command]

    def names(self, change=lambda value: value):
        command, answers = self.command, {}

        def answer(other):
            if other not in answers:
                answers[other] = change(self.asked(other))
            return answers[other]

        def named(items, name):
            return next(item for item in items if item["name"] == name)

        def read(name):
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                return change(json.load(file, object_hook=Object))

        def stages(of):
            return of["stages_s"]["forward"] + of["stages_s"]["backward"]

        own = answer(command)
        return dict({
            "isclose": math.isclose,
            "mean": lambda values: statistics.fmean(values),
            "pairs": lambda items: list(zip(items, items[1:])),  # neighbours
            "pairs_of": lambda key: own[key],
            "named": named,
            "entry": lambda name: named(own["entries"], name),
            "gain": lambda name: named(own["what_ifs"], name)["gain"],
            "check": lambda name, other: named(answer(other)["checks"], name)["passed"],
            "bytes_of": lambda name: named(own["layers"], name)["bytes"],
            "file": read,  # that the command wrote
            "answer": answer,
            "fp_bp": lambda of: stages(of) + of["stages_s"]["weight_update"],  # on one GPU, where the update is counted there
            # Of the DGX-1 study, on 8 GPUs.
            "speedup": lambda model, store="nccl": answer(f"scale --hw dgx1 --model {model} --batch 16 --stack mxnet-18.04 "
                                                          f"--exchange {store} --gpus 8 --samples 256K")["rows"][0]["speedup"],
            # The same command on another line, or on two machines.
            "at_rate": lambda rate: answer(f"{command} --set 'network.bandwidth={self.rate(rate)} Gb/s'"),
            "two": lambda: answer(command.replace("--nodes 1", "--nodes 2")),
        }, **{key: value for key, value in own.items() if key != "pairs"})

    def rate(self, value):
        """The line rate that the unchanged answer names: an altered one is no question to ask."""
        own = self.asked(self.command)
        known = [own[key] for key in ("least_bandwidth_bytes_per_s", "least_bandwidth_for_target_bytes_per_s") if own.get(key)]
        nearest = min(known, key=lambda other: abs(math.log(other / value)))
        return f"{8e-9 * nearest:.6g}"


def holds(relation, names):
    """Whether it does; an altered answer may also make it fail in other ways."""
    try:
        return bool(eval(relation, names))
    except (KeyError, IndexError, ValueError, TypeError, ZeroDivisionError, StopIteration, OverflowError, AttributeError):
        return False


def can_fail(relation, relations):
    chance = random.Random(relation)
    return any(not holds(relation, relations.names(lambda value: altered(value, chance))) for _ in range(ALTERED))


def problems_of(program, question):
    """What is wrong with the answer to a question; nothing where it has no command."""
    if "command" not in question:
        return [] if "not_yet" in question else [f"row {question['row']}: neither a command nor why there is none"]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        command = question["command"].replace("{tmp}", folder)
        try:
            text = run(program, command)
            found += [f"no {pattern!r} in the output" for pattern in question.get("shows", []) if not re.search(pattern, text)]
            relations = Relations(program, command, folder)
            names = relations.names()
            for relation in question.get("holds", []):
                if not eval(relation, names):
                    found.append(f"does not hold: {relation}")
                elif not can_fail(relation, relations):
                    found.append(f"holds whatever the answer: {relation}")
            found += [f"holds by now: {relation}" for relation in question.get("fails", []) if eval(relation, names)]
        except (AssertionError, KeyError, IndexError, ValueError, NameError, TypeError, StopIteration, subprocess.TimeoutExpired) as error:
            found.append(str(error) or repr(error))
    if not question.get("holds") or not question.get("means"):
        found.append("states no figure or relation that its answer must meet")
    if question.get("fails") and "not_yet" not in question:
        found.append("is answered in part, and does not say what fails")
    if not question.get("shows") and "not_yet" not in question:
        found.append("says nothing that its output must show")
    return [f"row {question['row']}: tbdsim {question['command']}: {problem}" for problem in found]


def cell(text):
    return text.replace("|", "\\|")


def questions_table(questions, sources):
    lines = ["| | question | asked by | answer | checked |", "|---|---|---|---|---|"]
    for question in questions:
        command = question.get("command")
        answer = f"`tbdsim {cell(command)}`" if command else ""
        if "not_yet" in question:
            answer += ("; " if answer else "") + ("in part: " if "fails" in question else "not yet: ") + question["not_yet"]
        if "note" in question:
            answer += f" ({question['note']})"
        checked = question.get("means", "") + (", published" if question.get("published") else "")
        lines.append(f"| {question['row']} | {question['asks']} | {', '.join(question['from'])} | {answer} | {checked} |")
    answered = sum("command" in q and "not_yet" not in q for q in questions)
    partly = sum("command" in q and "not_yet" in q for q in questions)
    head = f"{answered} of {len(questions)} questions are answered, {partly} in part. They come from:\n\n"
    head += "".join(f"* {name}: {text}\n" for name, text in sources.items())
    return head + "\n" + "\n".join(lines) + "\n"


def assessed(program, files):
    """Every claim and every row of files, by file."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = pool.map(lambda f: json.loads(run(program, f"validate scenarios/{f} --format json", (0, 1))), files)
    return dict(zip(files, answers))


def time_error(row):
    return row["measured"] / row["predicted"] - 1 if row["unit"] in ("samples/s", "bytes/s") else row["error"]


def result_of(claim, reports):
    """One cell: how many claims hold and why others fail; mean error and coverage of rows."""
    if "not_yet" in claim:
        return "not yet: " + claim["not_yet"]
    parts = []
    for name in claim.get("files", []):
        report = reports[name]
        claims = [c for c in report.get("claims", []) if re.search(claim.get("claims", ""), c["id"])]
        counted = [c for c in claims if c["use"] in ("validation", "lookup")]
        if counted:
            failing = [c for c in counted if not c["holds"]]
            words = f"{len(counted) - len(failing)} of {len(counted)} hold"
            read = sum(c["use"] == "lookup" for c in counted)
            words += "" if not read else " (look-ups)" if read == len(counted) else f" ({read} are look-ups)"
            others = len(claims) - len(counted)
            words += f", {others} fit or trivial not counted" if others else ""
            for c in failing:
                words += f"; fails: {c['id']}" + (f" ({c['reason']})" if c.get("reason") else "")
            parts.append(words)
        elif claims:
            parts.append(f"{sum(c['holds'] for c in claims)} of {len(claims)} hold, " + ("fitted" if any(c["use"] == "fit" for c in claims) else "can hardly fail"))
        use = "fit" if claim.get("fitted") else "validation"
        rows = [r for r in report["rows"] if not r.get("skipped") and r["use"] == use and re.search(claim.get("groups", ""), r["group"])]
        if rows and not claims:
            errors = [abs(time_error(r)) for r in rows]
            inside = sum(r["low"] <= r["measured"] <= r["high"] for r in rows)
            parts.append(f"{name.split('/')[-1][:-4]}: {len(rows)} rows, mean error {100 * sum(errors) / len(rows):.1f} %, "
                         f"{100 * inside / len(rows):.0f} % in range" + (", fitted" if claim.get("fitted") else ""))
    if claim.get("tests"):
        parts.append("held by the test")
    assert parts, f"claim {claim['number']}: nothing assesses it"
    return "; ".join(parts)


def claims_table(claims, program):
    reports = assessed(program, sorted({name for claim in claims for name in claim.get("files", [])}))
    lines = ["| | claim | checked in | result |", "|---|---|---|---|"]
    for claim in claims:
        places = [f"`{f}`" for f in claim.get("files", [])] + [f"`{t}`" for t in claim.get("tests", [])]
        for test in claim.get("tests", []):
            assert os.path.exists(os.path.join(ROOT, test)), test
        result = result_of(claim, reports) + (f" ({claim['note']})" if "note" in claim else "")
        lines.append(f"| {claim['number']} | {claim['says']} | {', '.join(places)} | {cell(result)} |")
    return "\n".join(lines) + "\n"


def with_table(text, name, content):
    begin = f"<!-- generated: {name} -->\n"
    at = text.index(begin) + len(begin)
    return text[:at] + content + text[text.index("<!-- end -->", at):]


def main(arguments):
    if len(arguments) != 3 or arguments[1] not in ("--write", "--check"):
        sys.exit(__doc__)
    program = os.path.abspath(arguments[2])
    questions, claims = load("questions.toml"), load("claims.toml")
    assert [q["row"] for q in questions["question"]] == list(range(1, len(questions["question"]) + 1)), "rows are numbered in order"
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = [p for found in pool.map(lambda q: problems_of(program, q), questions["question"]) for p in found]
    if problems:
        sys.exit("\n".join(problems))
    tables = {"questions": questions_table(questions["question"], questions["sources"]), "claims": claims_table(claims["claim"], program)}
    for name, content in tables.items():
        path = os.path.join(ROOT, "scenarios", name.upper() + ".md")
        with open(path, encoding="utf-8") as file:
            old = file.read()
        new = with_table(old, name, content)
        if arguments[1] == "--write":
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
        elif old != new:
            sys.exit(f"scenarios/{name.upper()}.md is stale: run .ci/questions.py --write build/ci/tbdsim and review the difference")


if __name__ == "__main__":
    main(sys.argv)
