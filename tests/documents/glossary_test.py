#!/usr/bin/env python3
"""Words that results print are in the glossary.   Usage: glossary_test.py TBDSIM

Headings are found by form: a line of words in which none is a figure, above a line with as many or more columns that has figures; and
the labels before the texts of `predict`. Every column of a heading and every label must be a term of `tbdsim docs glossary`.
"""
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PROGRAM = os.path.abspath(sys.argv[1])
TABLES = [
    "predict --hw dgx1 --model resnet50 --stack mxnet-18.04 --links --host",
    "predict --hw titan-xp --model alexnet --kernels",
    "predict --hw titan-xp --model alexnet --layers",
    "compare --hw aws-p3.16xlarge,dgx1 --model resnet50",
    "compare --hw titan-xp,p4000 --model resnet50",
    "explain --hw dgx1 --model alexnet --stack mxnet-1.2 --layers",
    "scale --hw dgx1 --model alexnet --gpus 1,2 --samples 1281167 --stack mxnet-18.04 --exchange p2p",
    "memory --hw dgx1 --model alexnet --max-batch --by structure",
    "memory --hw dgx1 --model alexnet --by time",
    "memory --hw dgx1 --model alexnet --batch 16,32",
    "network --hw p4000 --nodes 2 --network 10gbe --stack mxnet-1.2 --exchange ps --model vgg11",
    "topology --hw dgx1 --collective all-reduce --bytes 1MiB..4MiB",
    "topology --hw dgx1 --route gpu0 gpu7 --bytes 1MB",
    "validate scenarios/published/titan_xp_resnet50_batch.csv --rows",
    "validate --summary scenarios/published/titan_xp_resnet50_batch.csv",
    "validate scenarios/seeds/gpu_cost.toml",
    "list",
]
LABELS = [
    "predict --hw dgx1 --model alexnet --stack mxnet-18.04 --epochs 2 --samples 1000 --profiling",
    "predict --hw dgx1 --model vgg16 --gpus 4 --pipeline-parallel 4 --accumulate 4",
    "predict --hw dgx-h100 --model llama-3-8b --tokens 1T",
    "network --hw p4000 --nodes 2 --network 10gbe --stack mxnet-1.2 --exchange ps --model vgg11",
]


def run(command):
    done = subprocess.run([PROGRAM, *command.split()], cwd=ROOT, env=dict(os.environ, TBDSIM_CATALOGUE=ROOT), capture_output=True,
                          text=True)
    assert done.returncode in (0, 1), f"tbdsim {command}: exit {done.returncode}: {done.stderr}"
    return done.stdout


def folded(word):
    return word.strip().lower().rstrip(":")


class Terms:
    """Terms of the glossary; a heading may also be words of terms, as columns that stand close or are broken over lines are."""

    def __init__(self):
        self.terms = set()
        for line in re.findall(r"^- \*\*(.*?)\*\*: ", run("docs glossary"), re.M):
            self.terms |= {folded(word) for word in line.split(", ")}
        self.words = {word for term in self.terms for word in term.split()}

    def missing(self, found):
        return {word for word in found if folded(word) not in self.terms and not set(folded(word).split()) <= self.words}


def columns(line):
    return [cell for cell in re.split(r"\s{2,}", line.strip()) if cell]


def headings(text):
    """Cells of the lines that stand above rows with figures."""
    found = set()
    lines = text.splitlines()
    for line, below in zip(lines, lines[1:]):
        cells, figures = columns(line), columns(below)
        words = all(re.fullmatch(r"[A-Za-z80][A-Za-z0-9 %/.-]*", cell) and not re.search(r"\d (ms|us|s|%|GB|MB)$", cell) for cell in cells)
        if len(cells) > 2 and words and len(figures) >= len(cells) - 1 and sum(bool(re.match(r"[+-]?\d", cell)) for cell in figures) > 1:
            found |= set(cells)
    return found


def labels(text):
    """What stands before the texts of a report, at its left edge or two spaces in."""
    return set(re.findall(r"^ {0,2}([A-Za-z][A-Za-z ,]*?)(?: {2,}|$)", text, re.M))


class Glossary(unittest.TestCase):
    def test_headings_are_explained(self):
        known, found = Terms(), 0
        for command in TABLES:
            words = headings(run(command))
            found += len(words)
            self.assertEqual(known.missing(words), set(), f"not in model/cli/glossary.cpp: tbdsim {command}")
        self.assertGreater(found, 60)

    def test_labels_are_explained(self):
        known = Terms()
        for command in LABELS:
            words = {word for label in labels(run(command)) for word in label.split(", ")}
            self.assertGreater(len(words), 4)
            self.assertEqual(known.missing(words), set(), f"not in model/cli/glossary.cpp: tbdsim {command}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
