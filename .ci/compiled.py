#!/usr/bin/env python3
"""What a build compiles, by its compile_commands.json: so that checks see files with the flags and toolkits that they are built with.

compiled.py sources BUILD   the C++ sources of model/ and calibrate/ that the build compiles, each ended by a NUL
compiled.py headers BUILD   compiles every header of model/ and calibrate/ alone, with the flags of its folder's sources;
                            exit 1 if one does not compile. Folders that the build leaves out are named and skipped.
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("model", "calibrate")


def compiled(build):
    """(path below the root, command as a list) of every C++ source, in order of path, each once."""
    entries = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    found = {}
    for entry in entries:
        path = pathlib.Path(entry["file"])
        if path.suffix == ".cpp" and path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in FOLDERS:
            found.setdefault(path.relative_to(ROOT), shlex.split(entry["command"]))
    return sorted(found.items())


def preprocessing(command):
    """The compiler and what of its command decides what a header sees."""
    kept = [command[0]]
    words = iter(command[1:])
    for word in words:
        if word in ("-I", "-D", "-isystem", "-include"):
            kept += [word, next(words)]
        elif word.startswith(("-I", "-D", "-isystem", "-std=")):
            kept.append(word)
    return kept


def compiles(header, flags):
    command = [*flags, "-fsyntax-only", "-Wall", "-Wextra", "-include", str(header), "-x", "c++", os.devnull]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return "" if done.returncode == 0 else f"{header} does not compile alone:\n{done.stderr}"


def headers(build):
    flags = {}
    for path, command in compiled(build):
        flags.setdefault(path.parent, preprocessing(command))
    jobs, left_out = [], set()
    for folder in FOLDERS:
        for header in sorted((ROOT / folder).rglob("*.hpp")):
            below = header.relative_to(ROOT)
            if below.parent in flags:
                jobs.append((below, flags[below.parent]))
            elif any(header.parent.glob("*.cpp")):
                left_out.add(str(below.parent))  # its sources are not built here: it needs a toolkit that is missing
            else:
                jobs.append((below, next(iter(flags.values()))))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [text for text in pool.map(lambda job: compiles(*job), jobs) if text]
    for text in problems:
        print(text, file=sys.stderr)
    for folder in sorted(left_out):
        print(f"headers of {folder}: skipped, this build leaves the folder out")
    print(f"{len(jobs) - len(problems)} of {len(jobs)} headers compile alone")
    return 1 if problems or not jobs else 0


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("sources", "headers"):
        sys.exit(__doc__)
    if sys.argv[1] == "headers":
        sys.exit(headers(sys.argv[2]))
    sys.stdout.write("".join(f"{path}\0" for path, _ in compiled(sys.argv[2])))


main()
