#!/usr/bin/env python3
"""Every TOML block of docs/USING.md predicts.   Usage: snippets.py TBDSIM"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def main(program):
    text = open(os.path.join(ROOT, "docs", "USING.md"), encoding="utf-8").read()
    blocks = re.findall(r"```toml\n(.*?)```", text, re.S)
    machines = [b for b in blocks if "device =" in b]
    networks = [b for b in blocks if "layer = [" in b]
    assert len(machines) == 1 and len(networks) == 1, "docs/USING.md shows one machine and one network"
    command = re.search(r"`tbdsim (predict --hw mine\.toml[^`]*)`", text)
    assert command, "docs/USING.md shows how to use them"
    with tempfile.TemporaryDirectory() as folder:
        for name, block in (("mine.toml", machines[0]), ("small_cnn.toml", networks[0])):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(block)
        done = subprocess.run([program, *command.group(1).split()], cwd=folder, capture_output=True, text=True)
    sys.stderr.write(done.stderr)
    assert done.returncode == 0 and "Throughput" in done.stdout, f"exit {done.returncode}"


main(os.path.abspath(sys.argv[1]))
