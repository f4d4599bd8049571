#!/usr/bin/env python3
"""A sweep by tbdsim-mpi exports the same bytes on any number of ranks as by tbdsim.   Usage: mpi_test.py MPIEXEC TBDSIM-MPI TBDSIM ROOT"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

MPIEXEC, TBDSIM_MPI, TBDSIM, ROOT = sys.argv[1:5]
GRID = ["--hw", "titan-xp,p4000", "--model", "alexnet,lenet", "--batch", "8,16,32"]
ENVIRONMENT = dict(os.environ, TBDSIM_CATALOGUE=ROOT, OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")


class Ranks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_in_folder(self, *command):
        return subprocess.run(command, cwd=self.folder.name, env=ENVIRONMENT, capture_output=True, text=True, timeout=120)

    def mpi(self, ranks, *options):
        return self.run_in_folder(MPIEXEC, "-n", str(ranks), TBDSIM_MPI, *options)

    def export(self, name):
        done = self.run_in_folder(TBDSIM, "sweep", "export", name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_same_bytes_on_any_number_of_ranks(self):
        alone = self.run_in_folder(TBDSIM, "sweep", *GRID, "-o", "alone.db")
        self.assertEqual(alone.returncode, 0, alone.stderr)
        expected = self.export("alone.db")
        self.assertEqual(expected.count("\n"), 13)
        for ranks in (1, 2, 3):
            done = self.mpi(ranks, "sweep", *GRID, "-o", f"{ranks}.db")
            self.assertEqual((done.returncode, done.stdout), (0, f"12 points, 12 predicted now, 12 rows in {ranks}.db\n"), done.stderr)
            self.assertEqual(self.export(f"{ranks}.db"), expected)
            self.assertEqual(list(pathlib.Path(self.folder.name).glob("*.rank*")), [])

    def test_what_an_interrupted_run_left_is_not_predicted_again(self):
        for index in (1, 2):  # as two ranks of three leave them
            part = self.run_in_folder(TBDSIM, "sweep", *GRID, "--shard", f"{index}/3", "-o", f"out.db.rank{index - 1}")
            self.assertEqual(part.returncode, 0, part.stderr)
        done = self.mpi(2, "sweep", *GRID, "-o", "out.db")
        self.assertEqual((done.returncode, done.stdout), (0, "12 points, 4 predicted now, 12 rows in out.db\n"), done.stderr)

    def test_rows_of_other_inputs_go_before_ranks_begin(self):
        network = pathlib.Path(self.folder.name) / "small.toml"
        network.write_text((pathlib.Path(ROOT) / "tests/cli/data/small_cnn.toml").read_text(encoding="utf-8"), encoding="utf-8")
        sweep = ["sweep", "--hw", "titan-xp,p4000", "--model", "small.toml", "-o", "out.db"]
        for dropped in ("", "tbdsim: note: 2 rows of out.db were predicted from other inputs"):
            done = self.mpi(2, *sweep)
            self.assertEqual((done.returncode, done.stdout), (0, "2 points, 2 predicted now, 2 rows in out.db\n"), done.stderr)
            self.assertIn(dropped, done.stderr)
            network.write_text(network.read_text(encoding="utf-8") + "# another digest\n", encoding="utf-8")

    def test_problems_are_told_once(self):
        done = self.mpi(3, "sweep", "--hw", "nothing-9000", "--model", "lenet", "-o", "out.db")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("nothing-9000"), 1, done.stderr)
        self.assertNotEqual(self.mpi(2, "predict").returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
