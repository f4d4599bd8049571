#!/usr/bin/env python3
"""Writes BUILD/checks.ninja, which checks what a build compiles.   Usage: compiled.py BUILD; then ninja -C BUILD -f checks.ninja

Target `headers` compiles every header of model/ and calibrate/ alone, with the flags of its folder's sources. Target `tidy` runs
clang-tidy on their sources. Files are seen with the flags and toolkits that they are built with (compile_commands.json). A file is checked
again only when it, a header that it includes, its command or .clang-tidy has changed. Folders that the build leaves out are named and skipped.
"""
import json
import os
import pathlib
import shlex
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("model", "calibrate")
# A log of its own: CMake deletes what build.ninja does not make but its log names.
# Of the analyzer's two modes the one that follows fewer calls takes a quarter of the time. Sanitizers and fuzzers see whole runs.
SHALLOW = [f"--extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang", "mode=shallow")]
RULE = """builddir = checked
rule check
  command = $checks && touch $out
  description = $about
  depfile = $out.d
  deps = gcc
"""


def compiled(build):
    """(path below the root, command as a list) of every C++ source, in order of path, each once."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
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


def headers(sources):
    """(header, flags) of every header to check, and the folders that the build leaves out since a toolkit is missing."""
    flags = {}
    for path, command in sources:
        flags.setdefault(path.parent, preprocessing(command))
    jobs, left_out = [], set()
    for folder in FOLDERS:
        for header in sorted((ROOT / folder).rglob("*.hpp")):
            below = header.relative_to(ROOT)
            if below.parent in flags:
                jobs.append((below, flags[below.parent]))
            elif any(header.parent.glob("*.cpp")):
                left_out.add(str(below.parent))
            else:
                jobs.append((below, next(iter(flags.values()))))
    return jobs, left_out


def edge(out, inputs, command, about):
    for_ninja = shlex.join(command) if isinstance(command, list) else command
    escaped = {"checks": for_ninja.replace("$", "$$"), "about": about}
    lines = [f"build {out}: check {' '.join(map(str, inputs))}"]
    return "\n".join(lines + [f"  {key} = {value}" for key, value in escaped.items()]) + "\n"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    sources = compiled(build)
    jobs, left_out = headers(sources)
    if not sources or not jobs:
        sys.exit(f"{build}: this build compiles nothing of {' and '.join(FOLDERS)}")
    edges, targets = [], {"headers": [], "tidy": []}
    for header, flags in jobs:
        out = f"checked/headers/{header}"
        run = [*flags, "-fsyntax-only", "-Wall", "-Wextra", "-MD", "-MT", out, "-MF", f"{out}.d", "-include", str(ROOT / header), "-x", "c++", os.devnull]
        edges.append(edge(out, [ROOT / header], run, f"header alone: {header}"))
        targets["headers"].append(out)
    for source, command in sources:
        out = f"checked/tidy/{source}"
        tidy = ["clang-tidy", "-p", ".", "--quiet", *SHALLOW, str(ROOT / source)]
        includes = [*preprocessing(command), "-M", "-MT", out, "-MF", f"{out}.d", str(ROOT / source)]
        edges.append(edge(out, [ROOT / source, ROOT / ".clang-tidy"], f"{shlex.join(tidy)} && {shlex.join(includes)}", f"clang-tidy: {source}"))
        targets["tidy"].append(out)
    for name, outs in targets.items():
        for out in outs:
            (build / out).parent.mkdir(parents=True, exist_ok=True)
        edges.append(f"build {name}: phony {' '.join(outs)}\n")
    (build / "checks.ninja").write_text(RULE + "".join(edges))
    for folder in sorted(left_out):
        print(f"{folder}: skipped, this build leaves the folder out")


main()
