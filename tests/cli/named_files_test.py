"""Messages name the file that they are about, on one line, whatever it is called and wherever it lies.

Usage: named_files_test.py PROGRAM SOURCE_DIR
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM, SOURCE = os.path.abspath(sys.argv[1]), os.path.realpath(sys.argv[2])
NOBODY = 65534

STACK = 'schema = 1\nname = "mine"\nextends = "pytorch-2.1"\nsource = "assumed: a test"\n'
TRANSFORMER = 'schema = 1\nname = "mine"\n[transformer]\ndecoder_layers = 1\nwidth = 1\nheads = 12\nwords = 100\nlength = 8\n'
RUNS = "id,hw,model,batch_per_gpu,metric,unit,measured\na,p4000,lenet,16,throughput,samples/s,1000\n"


class NamedFiles(unittest.TestCase):
    def setUp(self):
        # Beside the program, so that another user who may run it may come here too.
        self.holder = tempfile.TemporaryDirectory(dir=os.path.dirname(PROGRAM))
        self.addCleanup(self.holder.cleanup)
        self.folder = self.holder.name
        os.chmod(self.folder, 0o755)

    def write(self, name, text):
        path = Path(self.folder, name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return str(path)

    def command(self, *words, **options):
        return subprocess.run([PROGRAM, *words], cwd=self.folder, env={**os.environ, "TBDSIM_CATALOGUE": SOURCE}, capture_output=True,
                              text=True, timeout=60, **options)

    def refused(self, message, *words, **options):
        done = self.command(*words, **options)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", message))

    def test_a_release_of_nccl_that_is_none(self):
        self.write("mine.toml", STACK + 'nccl = "two"\n')
        self.refused('mine.toml:5:8: nccl: expected an NCCL version such as 2.18 or 2.1.15, got "two"\n'
                     '   5 | nccl = "two"\n     |        ^~~~~\n', "predict", "--hw", "dgx1", "--model", "lenet", "--stack", "mine.toml")

    def test_heads_that_do_not_divide_a_width(self):
        self.write("mine.toml", TRANSFORMER)
        self.refused("mine.toml:6:9: transformer.heads: 12 heads do not divide a width of 1; say head_width\n"
                     "   6 | heads = 12\n     |         ^~\n", "predict", "--hw", "dgx1", "--model", "mine.toml")

    def test_a_name_neither_ends_the_line_nor_steers_the_terminal(self):
        self.write("two\nlines\x1b[31m.toml", TRANSFORMER)
        self.refused("two\\nlines\\x1b[31m.toml:6:9: transformer.heads: 12 heads do not divide a width of 1; say head_width\n"
                     "   6 | heads = 12\n     |         ^~\n", "predict", "--hw", "dgx1", "--model", "two\nlines\x1b[31m.toml")

    def test_a_folder_that_may_not_be_read(self):
        other = {"user": NOBODY} if os.geteuid() == 0 else {}
        try:
            if self.command("--version", **other).returncode != 0:
                self.skipTest("another user cannot run the program here")
        except PermissionError:
            self.skipTest("another user cannot run the program here")
        self.write("runs/a.csv", RUNS)
        inner = Path(self.folder, "runs", "inner")
        inner.mkdir()
        self.assertEqual(self.command("validate", "runs", **other).returncode, 0)
        for closed in (inner, inner.parent):
            closed.chmod(0)
            self.addCleanup(closed.chmod, 0o755)
            name = os.path.relpath(closed, self.folder)
            self.refused("%s: cannot read: Permission denied\n" % name, "validate", "runs", **other)
            closed.chmod(0o755)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
