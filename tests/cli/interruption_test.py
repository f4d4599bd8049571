#!/usr/bin/env python3
"""A plan that is interrupted prints the best so far.   Usage: interruption_test.py TBDSIM ROOT"""
import json
import os
import signal
import subprocess
import sys
import time
import unittest

TBDSIM, ROOT = sys.argv[1:3]
ENVIRONMENT = dict(os.environ, TBDSIM_CATALOGUE=ROOT, OMP_NUM_THREADS="2")
# So many settings that a search of all would take minutes.
SEARCH = [TBDSIM, "plan", "--hw", "dgx-a100-80gb", "--model", "gpt3-13b", "--gpus", "64", "--global-batch", "110880",
          "--attention", "unfused,flash-1,flash-2", "--sequence-parallel", "on,off",
          "--try", "stack.parallel.tensor_overlap=none,pieces,weights", "--try", "stack.parallel.regathers=true,false",
          "--try", "stack.parallel.overlaps_gradients=true,false", "--try", "stack.parallel.blocking_hops=true,false", "--top", "3"]


class Interruption(unittest.TestCase):
    def interrupted(self, *options):
        """The answer of a search that is interrupted once it has found something, which takes longer on a busy machine."""
        for delay in (1, 2, 4, 8, 16, 32, 64):
            with subprocess.Popen([*SEARCH, *options], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) as search:
                time.sleep(delay)
                search.send_signal(signal.SIGINT)
                out, err = search.communicate(timeout=60)
            if search.returncode == 0:
                return out
            self.assertIn(search.returncode, (-signal.SIGINT, 2))
            if search.returncode == 2:
                self.assertIn("plan: interrupted before a layout that fits was found", err)
        self.fail("no layout was found in a minute")

    def test_table(self):
        out = self.interrupted()
        self.assertIn("interrupted: layouts that were not tried may be better\n", out)
        self.assertIn(" 3  tbdsim predict --hw dgx-a100-80gb", out)

    def test_json(self):
        plan = json.loads(self.interrupted("--format", "json"))
        self.assertTrue(plan["interrupted"])
        self.assertEqual(len(plan["rows"]), 3)
        self.assertGreater(plan["counts"]["tried"], 0)
        self.assertEqual(plan["rows"][0]["behind"], 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
