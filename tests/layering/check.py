#!/usr/bin/env python3
"""Checks the rules of the source tree that no compiler checks.

usage: check.py ROOT

Reads the layer table from ROOT/cmake/layers.cmake. Prints one line `file:line: what` per breach; exit code 1 if any.
"""
import pathlib
import re
import sys

SOURCE_FOLDERS = ("model", "calibrate")
SOURCE_SUFFIXES = {".hpp", ".cpp", ".cu"}
TEXT_FOLDERS = ("model", "calibrate", "tests", "hardware", "scenarios", "cmake", "docs", ".ci")
TEXT_SUFFIXES = SOURCE_SUFFIXES | {".py", ".txt", ".cmake", ".md", ".toml", ".csv", ".sh", ".html", ".js", ".css"}
LONGEST_SOURCE, LONGEST_HEADER = 400, 150  # lines
LONGEST_FUNCTION = 60  # lines
ONE_USER = ("CLI/", "CLI11", "toml++/")
ONE_FOLDER = {"nlohmann/": ("model/report/", "calibrate/cli/", "model/input/", "model/trace/")}  # where JSON is read, and reports are written
# What the sources that write JSON share; only they include it.
JSON_HEADER = "model/report/json_parts.hpp"
# CUPTI's callbacks and handlers of signals carry no context: these find theirs in a static. None is part of a prediction.
CONTEXT_FREE_CALLBACKS = {"model/cli/command_plan.cpp", "calibrate/cuda/device_timer.hpp", "calibrate/cuda/device_timer.cpp", "calibrate/recorder/recorder.cpp"}
NAMESPACE = re.compile(r"namespace (?:([\w:]+) )?\{$")
TYPE = re.compile(r"(?:template .*)?(?:struct|class|enum class) (\w+)(?: final)?(?: : [^;]*)? \{")
VAGUE_NAMES = {"common", "util", "utils", "misc"}
# Written in pieces so that this file does not break its own rule.
MACHINE_PATHS = re.compile(r"\.\./" + r"shared|/" + r"work/")


def layer_table(root):
    """{layer: set of layers it may include}, from the set(layer_NAME ...) lines."""
    table = {}
    for name, body in re.findall(r"^set\(layer_(\w+)\s*([^)]*)\)", (root / "cmake/layers.cmake").read_text(), re.M):
        allowed = []
        for word in body.split():
            reference = re.fullmatch(r"\$\{layer_(\w+)\}", word)
            allowed += sorted(table[reference.group(1)]) if reference else [word]
        table[name] = set(allowed)
    return table


def cycles(table):
    """Layers that reach themselves through the table."""
    found = []
    for start in table:
        seen, front = set(), set(table[start])
        while front:
            seen |= front
            front = set().union(*(table.get(layer, set()) for layer in front)) - seen
        if start in seen:
            found.append(start)
    return found


def layer_of(path):
    """"model/cost/gemm.hpp" -> "cost"; both cli folders have a layer of their own; None for what has no layer."""
    parts = path.split("/")
    if len(parts) < 3 or parts[0] not in SOURCE_FOLDERS:
        return None
    return "calibrate_cli" if parts[:2] == ["calibrate", "cli"] else parts[1]


def sources(root):
    for folder in SOURCE_FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SOURCE_SUFFIXES and path.is_file():
                yield path.relative_to(root).as_posix(), path.read_text(errors="replace")


def includes(text):
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r"\s*#\s*include\s*[<\"]([^>\"]+)[>\"]", line)
        if match:
            yield number, match.group(1)


def check_includes(files, table):
    for path, text in files:
        own = layer_of(path)
        for number, target in includes(text):
            if target.startswith("../") or target.startswith("./"):
                yield f"{path}:{number}: include \"{target}\" from the repository root"
            if path.startswith("model/") and target.startswith("calibrate/"):
                yield f"{path}:{number}: model/ may not include {target}"
                continue
            other = layer_of(target)
            if other is None or other == own:
                continue
            if own not in table:
                yield f"{path}:{number}: folder {own} is not in cmake/layers.cmake"
            elif other not in table[own]:
                yield f"{path}:{number}: {own} may not include {other} ({target})"


def check_circles(files):
    """A header and its source are one unit; following includes from unit to unit never leads back, within a room or across."""
    reached, lines = {}, {}
    for path, text in files:
        unit = path.rsplit(".", 1)[0]
        for number, target in includes(text):
            other = target.rsplit(".", 1)[0]
            if target.startswith(tuple(f"{folder}/" for folder in SOURCE_FOLDERS)) and other != unit:
                reached.setdefault(unit, []).append(other)
                lines.setdefault((unit, other), f"{path}:{number}")
    done = set()

    def circle_from(unit, way):
        if unit in way:
            return way[way.index(unit):] + [unit]
        if unit in done:
            return None
        for other in reached.get(unit, ()):
            found = circle_from(other, way + [unit])
            if found:
                return found
        done.add(unit)
        return None

    for unit in sorted(reached):
        circle = circle_from(unit, [])
        if circle:
            yield f"{lines[circle[0], circle[1]]}: includes run in a circle: {' > '.join(circle)}"
            done.update(circle)


def check_headers(files):
    for path, text in files:
        if path.endswith(".hpp") and text.lstrip("\ufeff").splitlines()[:1] != ["#pragma once"]:
            yield f"{path}:1: the first line of a header is #pragma once"


def without_comments_and_strings(text):
    """The code with comments and literals blanked; line numbers stay."""
    token = re.compile(r"//[^\n]*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.S)
    return token.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)


def check_mutable_state(files):
    """`static` data that can change, `thread_local`, namespace-scope variables, getters called instance()."""
    variable = re.compile(r"^\s*(?:inline\s+)?static\s+(?!const\b|constexpr\b|constinit const\b|inline\s+const|inline\s+constexpr)"
                          r"[\w:<>,&*\s]+?\b\w+\s*(?:=|;|\{)")
    namespace_variable = re.compile(r"^(?:inline\s+)?(?!using|return|namespace|class|struct|enum|union|template|typedef|extern|friend|const|constexpr|static|inline|goto|break|case|default|public|private)"
                                    r"[A-Za-z_][\w:]*(?:<[^;()]*>)?[\s*&]+\w+\s*(?:=[^=]|;|\{[^}]*\};)")
    for path, text in files:
        if path in CONTEXT_FREE_CALLBACKS:
            continue
        for number, line in enumerate(without_comments_and_strings(text).splitlines(), 1):
            if variable.match(line) and not re.search(r"\boperator\b", line):
                yield f"{path}:{number}: static data that can change"
            if re.match(r"\s*(?:static\s+)?thread_local\b", line):
                yield f"{path}:{number}: thread_local state"
            if namespace_variable.match(line):
                yield f"{path}:{number}: a variable at namespace scope"
            if re.search(r"\b(?:get_?)?instance\s*\(\s*\)", line, re.I):
                yield f"{path}:{number}: a singleton"


def check_length(files):
    for path, text in files:
        lines = text.splitlines()
        most = LONGEST_HEADER if path.endswith(".hpp") else LONGEST_SOURCE
        if len(lines) > most and not any("Long because" in line for line in lines[:5]):
            yield f"{path}:1: {len(lines)} lines; above {most} say 'Long because ...' at the top"


def check_functions(files):
    """Functions of a namespace, from the first line of the signature to the brace that stands alone at its end. Lines of a literal
    alone, such as a page, do not count."""
    signature = re.compile(r"(?!namespace|struct|class|enum|union|extern|using|typedef|#)[A-Za-z_\[]")
    for path, text in files:
        lines = without_comments_and_strings(text).splitlines()
        comments = text.splitlines()
        start = None
        for number, line in enumerate(lines):
            if signature.match(line):
                start = number
            if line != "}" or start is None:
                continue
            head = " ".join(lines[start:start + 8]).split("{")[0]
            literal = [not lines[at].strip() and comments[at].strip()[:2] not in ("", "//") for at in range(start, number)]
            length = number - start + 1 - sum(literal)
            above = start
            while above > 0 and comments[above - 1].startswith("//"):
                above -= 1
            reason = any("Long because" in comment for comment in comments[above:start])
            if "(" in head and "=" not in head.split("(")[0] and length > LONGEST_FUNCTION and not reason:
                yield f"{path}:{start + 1}: a function of {length} lines; above {LONGEST_FUNCTION} say 'Long because ...' over it"
            start = None


def types(text):
    """(line, name with its namespaces) of every type that other files see."""
    within = []
    for number, line in enumerate(text.splitlines(), 1):
        if opened := NAMESPACE.match(line):
            within.append(opened.group(1) or "")
        elif line.startswith("}  // namespace") and within:
            within.pop()
        elif (defined := TYPE.match(line)) and "" not in within:
            yield number, "::".join((*within, defined.group(1)))


def check_types(files):
    """No compiler tells of two types with one name in two files; the program then runs one's functions on the other."""
    first = {}
    for path, text in files:
        for number, name in types(text):
            if first.setdefault(name, path) != path:
                yield f"{path}:{number}: {first[name]} defines another {name}"


def check_one_folder(files):
    for library, folders in ONE_FOLDER.items():
        for path, text in files:
            for number, target in includes(text):
                in_source = path.startswith(folders) and path.endswith(".cpp")
                if target == JSON_HEADER and not in_source:
                    yield f"{path}:{number}: {target} is for sources of {folders[0]}"
                if target.startswith(library) and not in_source and path != JSON_HEADER:
                    yield f"{path}:{number}: {library} belongs into sources of {' or '.join(folders)}"


def check_single_users(files):
    for library in ONE_USER:
        users = {}
        for path, text in files:
            for number, target in includes(text):
                if target.startswith(library):
                    users.setdefault(path, number)
        # One .cpp for each program: model/ and calibrate/ have a command line each.
        for folder in SOURCE_FOLDERS:
            mine = sorted(path for path in users if path.startswith(folder + "/"))
            for path in mine[1:]:
                yield f"{path}:{users[path]}: {library} is already included by {mine[0]}; one file may"
        for path in users:
            if path.endswith(".hpp"):
                yield f"{path}:{users[path]}: {library} in a header"


def check_names(root):
    for folder in SOURCE_FOLDERS + ("tests",):
        for path in sorted((root / folder).rglob("*")):
            if path.stem.lower() in VAGUE_NAMES and "__pycache__" not in path.parts:
                yield f"{path.relative_to(root).as_posix()}:1: a name that says nothing"


def check_machine_paths(root):
    candidates = [path for path in sorted(root.glob("*")) if path.is_file()]
    for folder in TEXT_FOLDERS:
        candidates += sorted((root / folder).rglob("*"))
    for path in candidates:
        if (path.suffix not in TEXT_SUFFIXES and ".ci" not in path.parts) or not path.is_file():
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if MACHINE_PATHS.search(line):
                yield f"{path.relative_to(root).as_posix()}:{number}: a path of one machine"


def check(root):
    root = pathlib.Path(root)
    table = layer_table(root)
    files = list(sources(root))
    breaches = [f"cmake/layers.cmake:1: layer {layer} reaches itself" for layer in cycles(table)]
    breaches += check_includes(files, table)
    if not breaches:  # an include that may not be is told as such
        breaches += check_circles(file for file in files if file[0].startswith("model/"))
    breaches += check_headers(files)
    breaches += check_mutable_state(files)
    breaches += check_length(files)
    breaches += check_functions(files)
    breaches += check_types(files)
    breaches += check_single_users(files)
    breaches += check_one_folder(files)
    breaches += check_names(root)
    breaches += check_machine_paths(root)
    return breaches


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    breaches = check(sys.argv[1])
    for breach in breaches:
        print(breach)
    sys.exit(1 if breaches else 0)


if __name__ == "__main__":
    main()
