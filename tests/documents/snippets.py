#!/usr/bin/env python3
"""What README.md and docs/USING.md show works as shown.   Usage: snippets.py TBDSIM

The TOML blocks of docs/USING.md are a machine and a network that predict together. Every `tbdsim ...` of both pages runs, unless it holds
a placeholder; `mine.csv` is the block of CSV in README.md. Files that the pages link to exist.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PAGES = ["README.md", "docs/USING.md", "docs/ACCURACY.md", "docs/ARCHITECTURE.md", "CONTRIBUTING.md", "scenarios/README.md"]
# Words of commands that stand for something of the reader's, or that need a GPU, another program, or a file of ONNX.
PLACEHOLDERS = re.compile(r"\b(NAME|VERB|FILE\.toml|FILE|calibrate(?! import trace\.json)|merge|my-\w+|mine\.onnx)\b|^tbdsim validate (--summary )?scenarios$")


def text_of(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        return file.read()


def block(page, language, word):
    found = [text for text in re.findall(rf"```{language}\n(.*?)```", text_of(page), re.S) if word in text]
    assert len(found) == 1, f"{page} shows one block of {language} with \"{word}\""
    return found[0]


def commands(page):
    """In back quotes, on a line of their own, or in a block for the shell; a line that ends in a backslash goes on."""
    text = text_of(page).replace("\\\n", " ")
    found = re.findall(r"`(tbdsim [^`]*)`", text) + re.findall(r"^    (tbdsim [^#\n]*)", text, re.M)
    for shown in re.findall(r"```sh\n(.*?)```", text, re.S):
        found += re.findall(r"^(tbdsim [^#\n]*)", shown, re.M)
    return [command for command in found if not PLACEHOLDERS.search(command.replace("FILE.db", "grid.db"))]


def main(program):
    problems, count = [], 0
    environment = dict(os.environ, TBDSIM_CATALOGUE=ROOT)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("mine.toml", block("docs/USING.md", "toml", "device =")),
                           ("small_cnn.toml", block("docs/USING.md", "toml", "layer = [")),
                           ("mine.csv", block("README.md", "csv", "measured"))):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        shutil.copy(os.path.join(ROOT, "tests/data/traces/kineto.json"), os.path.join(folder, "trace.json"))
        for command in dict.fromkeys(command for page in PAGES[:2] for command in commands(page)):
            command = command.replace("FILE.db", "grid.db")
            done = subprocess.run([program, *shlex.split(command)[1:]], cwd=folder, env=environment, capture_output=True, text=True)
            count += 1
            if done.returncode:
                problems.append(f"{command}: exit {done.returncode}: {done.stderr}")
    assert any("mine.toml" in command for command in commands("docs/USING.md")), "docs/USING.md shows how to use its files"
    for page in PAGES:
        for link in re.findall(r"\]\(([\w./-]+)\)", text_of(page)):
            if not os.path.exists(os.path.join(ROOT, os.path.dirname(page), link)):
                problems.append(f"{page} links {link}, which is not there")
    assert count > 15, f"{count} commands"
    if problems:
        sys.exit("\n".join(problems))


main(os.path.abspath(sys.argv[1]))
