"""Runs tbdsim on the command lines of case files and compares exit code, stdout and stderr, byte for byte.

A case file holds blocks that begin with `$ arguments` (quoted as in a shell), then `= N` (the exit code), the lines of
stdout after `> ` and those of stderr after `! `. Lines that begin with `#` are comments. A mismatch writes the whole
file as it would have to read to <file>.new and fails: look at it, and rename it if the change is meant.

Usage: run_cases.py PROGRAM SOURCE_DIR CASE_FILE...
"""
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile


def prepare(folder, source):
    """Inputs that cannot be kept as files: nothing, a folder, and ten megabytes that are no text."""
    for data in (("cli", "data"), ("data", "onnx"), ("data", "configurations"), ("data", "traces")):
        shutil.copytree(os.path.join(source, "tests", *data), folder, dirs_exist_ok=True)
    for name in ("empty.toml", "empty.csv"):
        open(os.path.join(folder, name), "wb").close()
    for name in ("folder", "folder.toml"):
        os.mkdir(os.path.join(folder, name))
    noise = random.Random(1).randbytes(10_000_000)
    for name in ("random.toml", "random.csv"):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(noise)


def run(program, source, folder, line):
    environment = dict(os.environ, TBDSIM_CATALOGUE=source)
    done = subprocess.run([program] + shlex.split(line), cwd=folder, env=environment, capture_output=True, timeout=60)

    def text(raw):
        return raw.decode("utf-8", "backslashreplace").replace(source, "{catalogue}")

    return done.returncode, text(done.stdout), text(done.stderr)


def marked(mark, text):
    lines = text.split("\n")
    last = lines.pop()
    block = [(mark + " " + line).rstrip() if line else mark for line in lines]
    return block + ([mark + " " + last + " (no newline)"] if last else [])


def rewritten(case, program, source, folder):
    """The case file as it would have to read."""
    lines = []
    for line in case.split("\n"):
        if line[:1] in ("=", ">", "!"):
            continue
        lines.append(line)
        if line.startswith("$ "):
            code, out, err = run(program, source, folder, line[2:])
            lines += ["= %d" % code] + marked(">", out) + marked("!", err)
    return "\n".join(lines)


def first_difference(old, new):
    pairs = zip(old.split("\n") + ["(end)"], new.split("\n") + ["(end)"])
    for number, (before, after) in enumerate(pairs, 1):
        if before != after:
            return "line %d:\n- %s\n+ %s" % (number, before, after)
    return "one is longer"


def main(program, source, paths):
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder, source)
        for path in paths:
            with open(path, encoding="utf-8") as file:
                expected = file.read()
            found = rewritten(expected, os.path.abspath(program), source, folder)
            if found == expected:
                continue
            failed = True
            with open(path + ".new", "w", encoding="utf-8") as file:
                file.write(found)
            print("%s differs at %s\nwhole text in %s.new" % (path, first_difference(expected, found), path))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], os.path.realpath(sys.argv[2]), sys.argv[3:]))
