#!/usr/bin/env python3
"""What passes as the same document: the last digit of a figure may differ, nothing else."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".ci"))
from readme import alike


class Alike(unittest.TestCase):
    def test_the_last_digit_may_differ(self):
        for old, new in (("a 8.6 % -2.5 %", "a 8.7 % -2.4 %"), ("a  9.9 %  x", "a   10 %  x"), ("86 %", "87 %"), ("98.1 ms", "98.2 ms")):
            self.assertTrue(alike(old, new), (old, new))

    def test_nothing_else_may(self):
        for old, new in (("8.6 %", "8.8 %"), ("86 %", "88 %"), ("98.1 ms", "98.3 ms"), ("3 rows", "4 rows"), ("a 1.0", "b 1.0"),
                         ("2.5 %", "-2.5 %"), ("a\nb", "a b"), ("a\nb", "a")):
            self.assertFalse(alike(old, new), (old, new))


if __name__ == "__main__":
    unittest.main()
