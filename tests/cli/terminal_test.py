#!/usr/bin/env python3
"""What a terminal shows: verdicts in colour, a line of progress that goes away.   Usage: terminal_test.py TBDSIM ROOT"""
import os
import pty
import re
import selectors
import subprocess
import sys
import unittest

TBDSIM, ROOT = sys.argv[1:3]
GREEN, RED, YELLOW, PLAIN = "\x1b[32m", "\x1b[1;31m", "\x1b[33m", "\x1b[0m"
ERASE = "\r\x1b[K"
MISFIT = ["predict", "--hw", "titan-xp", "--model", "vgg16", "--batch", "256"]
BATCHES = ["memory", "--hw", "titan-xp", "--model", "vgg16", "--batch", "64,256"]
PLAN = ["plan", "--hw", "dgx-a100-80gb", "--model", "gpt3-760m", "--gpus", "8", "--global-batch", "32", "--top", "3",
        "--keep", "context-parallel=1"]
# Over a second on one thread.
LONG = ["plan", "--hw", "dgx-a100-80gb", "--model", "gpt3-175b", "--gpus", "512", "--global-batch", "110880",
        "--attention", "unfused,flash-1,flash-2", "--sequence-parallel", "on,off", "--top", "3"]


def run(arguments, stdout, stderr, **environment):
    """Standard output and error of the program, each from a terminal or a pipe."""
    ends, texts = [], []
    for terminal in (stdout, stderr):
        ends.append(pty.openpty() if terminal else os.pipe())
    surroundings = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    surroundings.update({"TBDSIM_CATALOGUE": ROOT, "TERM": "xterm", **environment})
    with subprocess.Popen([TBDSIM, *arguments], env=surroundings, stdin=subprocess.DEVNULL, stdout=ends[0][1],
                          stderr=ends[1][1]) as program:
        for _, write in ends:
            os.close(write)
        # Both are read as they come: a pipe holds 64 KiB, a terminal less.
        gathered = {read: b"" for read, _ in ends}
        chooser = selectors.DefaultSelector()
        for read in gathered:
            chooser.register(read, selectors.EVENT_READ)
        while chooser.get_map():
            for key, _ in chooser.select():
                try:
                    piece = os.read(key.fd, 65536)
                except OSError:  # how Linux ends a terminal
                    piece = b""
                if piece:
                    gathered[key.fd] += piece
                else:
                    chooser.unregister(key.fd)
        for read, _ in ends:
            texts.append(gathered[read].decode().replace("\r\n", "\n"))
            os.close(read)
    return program.returncode, *texts


class Colours(unittest.TestCase):
    def test_what_does_not_fit_is_red(self):
        _, out, _ = run(MISFIT, True, False)
        self.assertIn(f"{RED}DOES NOT FIT{PLAIN}", out)

    def test_cells_are_green_and_red(self):
        _, out, _ = run(BATCHES, True, False)
        self.assertRegex(out, rf"GB  {re.escape(GREEN)}yes{re.escape(PLAIN)}\n")
        self.assertRegex(out, rf"GB  {re.escape(RED)}NO{re.escape(PLAIN)}\n")

    def test_what_cannot_be_told_apart_is_yellow(self):
        _, out, _ = run(PLAN, True, False)
        self.assertIn(f"  {YELLOW}?{PLAIN}\n", out)

    def test_the_same_text_elsewhere(self):
        _, shown, _ = run(BATCHES, True, False)
        _, piped, _ = run(BATCHES, False, False)
        self.assertNotIn("\x1b", piped)
        self.assertEqual(re.sub(r"\x1b\[[0-9;]*m", "", shown), piped)

    def test_no_color(self):
        _, plain, _ = run(MISFIT, True, False, NO_COLOR="1")
        self.assertNotIn("\x1b", plain)
        _, empty, _ = run(MISFIT, True, False, NO_COLOR="")
        self.assertIn(RED, empty)

    def test_a_dumb_terminal(self):
        _, out, _ = run(MISFIT, True, True, TERM="dumb")
        self.assertNotIn("\x1b", out)

    def test_json_stays_json(self):
        _, out, _ = run([*MISFIT, "--format", "json"], True, False)
        self.assertNotIn("\x1b", out)


class ProgressLine(unittest.TestCase):
    def test_it_comes_and_goes(self):
        code, out, err = run(LONG, False, True, OMP_NUM_THREADS="1")
        self.assertEqual(code, 0)
        self.assertIn(" groups of layouts", err)
        lines = err.split(ERASE)
        self.assertGreater(len(lines), 2)
        self.assertRegex(lines[1], r"^[\d,]+ of [\d,]+ [a-z ]+(, \d+ (s|min) left)?$")
        # What stays are notes, after the line has gone.
        self.assertTrue(lines[-1] == "" or lines[-1].startswith("tbdsim: note: "), lines[-1])
        self.assertNotIn("\x1b", out)

    def test_none_elsewhere(self):
        _, _, err = run(LONG, True, False, OMP_NUM_THREADS="1")
        self.assertNotIn("groups of layouts", err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
