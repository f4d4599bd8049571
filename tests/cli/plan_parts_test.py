#!/usr/bin/env python3
"""Parts of a plan join to the plan, byte for byte.   Usage: plan_parts_test.py TBDSIM ROOT"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TBDSIM, ROOT = sys.argv[1:3]
JOB = ["--hw", "dgx-a100-80gb", "--model", "gpt3-1.3b", "--gpus", "16", "--global-batch", "64", "--top", "6"]
SEVERAL = ["--hw", "dgx-h100,dgx-a100-80gb,titan-xp", "--model", "gpt3-760m", "--gpus", "8,16", "--global-batch", "32",
           "--precision", "bf16,fp8", "--objective", "energy", "--keep", "context-parallel=1"]
NOWHERE = ["--hw", "titan-xp", "--model", "gpt3-175b", "--gpus", "8", "--global-batch", "8"]


class Parts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_plan(self, *options):
        return subprocess.run([TBDSIM, "plan", *options], env=dict(os.environ, TBDSIM_CATALOGUE=ROOT), cwd=self.folder.name,
                              capture_output=True, text=True, check=False)

    def parts(self, job, count):
        names = [f"part{i}.csv" for i in range(1, count + 1)]
        for i, name in enumerate(names, 1):
            done = self.run_plan(*job, "--shard", f"{i}/{count}", "-o", name)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, rf"^{name}: part {i} of {count}, \d+ layouts; ")
        return names

    def refused(self, *options):
        done = self.run_plan(*options)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        return done.stderr

    def check_same(self, job, names, *options):
        whole, joined = self.run_plan(*job, *options), self.run_plan(*job, *options, "--join", *names)
        self.assertEqual(joined.stdout, whole.stdout)
        self.assertEqual(joined.stderr, whole.stderr)
        self.assertEqual(joined.returncode, whole.returncode)
        return whole

    def test_parts_make_the_plan(self):
        for count in (1, 3, 16):
            names = self.parts(JOB, count)
            for form in ("table", "json", "csv"):
                self.assertEqual(self.check_same(JOB, reversed(names) if form == "csv" else names, "--format", form).returncode, 0)
        # What does not change the search may differ.
        self.check_same(JOB, names, "--objective", "cost", "--tokens", "1B")

    def test_several_machines_and_values(self):
        self.assertEqual(self.check_same(SEVERAL, self.parts(SEVERAL, 4), "--format", "json").returncode, 0)

    def test_what_fits_nowhere(self):
        self.assertIn("fits in none of", self.check_same(NOWHERE, self.parts(NOWHERE, 2)).stderr)

    def test_parts_that_do_not_belong_together(self):
        names = self.parts(JOB, 3)
        self.assertEqual(self.refused(*JOB, "--join", *names[:2]), "tbdsim: --join: of 3 parts one is missing: 3\n")
        self.assertEqual(self.refused(*JOB, "--join", names[0]), "tbdsim: --join: of 3 parts some are missing: 2, 3\n")
        self.assertEqual(self.refused(*JOB, "--join", *names[:2], names[0]), "tbdsim: --join: part1.csv is named twice\n")
        folder = pathlib.Path(self.folder.name)
        (folder / "copy.csv").write_bytes((folder / names[0]).read_bytes())
        self.assertEqual(self.refused(*JOB, "--join", *names, "copy.csv"),
                         "tbdsim: --join: part1.csv and copy.csv are the same part, 1 of 3\n")
        other = [*JOB[:-4], "--global-batch", "32", "--top", "6"]
        self.assertEqual(self.refused(*other, "--join", *names).splitlines()[0],
                         "tbdsim: part1.csv: part of another search (other options, catalogue or version); run it again with --shard 1/3")
        done = self.run_plan(*JOB, "--shard", "1/2", "-o", "half.csv")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.refused(*JOB, "--join", *names, "half.csv"),
                         "tbdsim: half.csv: part of 2, and part1.csv is one of 3\n")

    def test_damaged_files(self):
        (name,) = self.parts(JOB, 1)
        path = pathlib.Path(self.folder.name, name)
        text = path.read_text()
        lines = text.splitlines(keepends=True)
        at = next(i for i, line in enumerate(lines) if line.startswith("layout,"))

        def with_line(line):
            path.write_text("".join([*lines[:at], line, *lines[at + 1:]]))
            return self.refused(*JOB, "--join", name)

        def with_field(column, value):
            fields = lines[at].split(",")
            fields[lines[0].rstrip("\n").split(",").index(column)] = value
            return with_line(",".join(fields))

        place = f"part1.csv:{at + 1}:"
        self.assertIn(f"{place}", with_field("tensor", "0"))
        self.assertIn("tensor: expected a whole number from 1 to 2147483647, got 0", with_field("tensor", "0"))
        self.assertIn("tensor: expected a number, got \"x\"", with_field("tensor", "x"))
        self.assertIn("schedule: expected a schedule, got \"zigzag\"", with_field("schedule", "zigzag"))
        self.assertIn("recompute: expected a recomputation, got \"some\"", with_field("recompute", "some"))
        self.assertIn("time_s: expected at least 0, got -1", with_field("time_s", "-1"))
        self.assertIn("job: expected a whole number from 0 to 0, got 7", with_field("job", "7"))
        self.assertIn("sequence: expected true or false, got \"\"", with_field("sequence", ""))
        self.assertIn("kind: no line of a part of a plan begins so: \"lay\"", with_field("kind", "lay"))
        self.assertIn("--join: a part holds layouts of values that this plan does not try", with_field("variant", "5"))
        path.write_text(text.replace("question,0,0,1,", "question,0,0,2000000000,", 1))
        self.assertEqual(self.refused(*JOB, "--join", name),
                         "tbdsim: --join: of 2000000000 parts some are missing: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ...\n")
        # A layout that nobody has is refused by predict, as one that a user asks for.
        self.assertEqual(self.run_plan(*JOB, "--join", name).returncode, 2)
        path.write_text("".join(lines[:-1]))
        self.assertIn("part1.csv: cut short: expected a question at the beginning and \"end\" at the end",
                      self.refused(*JOB, "--join", name))
        path.write_text(text[: len(text) // 2])
        self.assertIn("part1.csv:", self.refused(*JOB, "--join", name))
        path.write_text("id,hw\n1,dgx1\n")
        self.assertEqual(self.refused(*JOB, "--join", name),
                         "tbdsim: part1.csv: no part of a plan: expected a file that plan --shard I/N -o FILE wrote\n")
        path.write_bytes(b"\0\1\2")
        self.assertIn("part1.csv", self.refused(*JOB, "--join", name))
        self.assertIn("none.csv: cannot open", self.refused(*JOB, "--join", "none.csv"))

    def test_options_that_exclude_each_other(self):
        (name,) = self.parts(JOB, 1)
        self.assertEqual(self.refused(*JOB, "--join", name, "--shard", "1/2"), "tbdsim: plan: --join takes all parts: leave out --shard\n")
        self.assertEqual(self.refused(*JOB, "--join", name, "--explain"),
                         "tbdsim: plan: --explain plans again, and --join does not search: leave out one of them\n")
        self.assertEqual(self.refused(*JOB, "-o", "x.csv", "--format", "json"),
                         "tbdsim: plan: -o writes what one --shard found: leave out --join, --as, --explain, --report and --format\n")
        pathlib.Path(self.folder.name, "notes.txt").write_text("mine\n")
        self.assertIn("notes.txt", self.refused(*JOB, "-o", "notes.txt"))
        self.assertEqual(pathlib.Path(self.folder.name, "notes.txt").read_text(), "mine\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
