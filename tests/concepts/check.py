#!/usr/bin/env python3
"""Checks that a concept with a table is compared as an enumerator, never by its name.

usage: check.py ROOT

The names are read from the tables themselves, those of devices from the files of hardware/gpus. Prints one line
`file:line: what` per breach; exit code 1 if any. A name may be read, written and printed anywhere; `==`, `!=`, searches for it
and maps keyed by it belong into the file of its table.
"""
import pathlib
import re
import sys

SOURCE_SUFFIXES = {".hpp", ".cpp", ".cu"}
EVERYWHERE = ("model", "calibrate")
# Samples of kernels are tables of words (device, family, pass, ...) that calibrate/ reads without including model/workload.
MODEL = ("model",)
# Where a precision is one of a step; below, "fp32" also names the arithmetic of a set of fitted parameters.
OF_STEPS = ("model/schedule", "model/memory", "model/configuration", "model/prediction", "model/survey", "model/validation",
            "model/study", "model/plan", "model/report", "model/cli", "model/mpi", "model/python", "model/web")
# Where loading is judged and told; elsewhere "storage" and "network" are files of the catalogue and options.
OF_LOADING = ("model/prediction", "model/report")

# Enumeration: file of its table, folders that the rule holds for.
TABLES = {
    "Exchange": ("model/stack/exchange.cpp", EVERYWHERE),
    "Framework": ("model/stack/framework.cpp", EVERYWHERE),
    "Resource": ("model/schedule/resource.cpp", EVERYWHERE),
    "Pass": ("model/workload/pass.cpp", MODEL),
    "ScheduleKind": ("model/schedule/pipeline/schedule_kind.cpp", EVERYWHERE),
    "Precision": ("model/hardware/device.cpp", OF_STEPS),
    "InputPart": ("model/prediction/input_verdict.cpp", OF_LOADING),
    "Vendor": ("model/support/vendor.cpp", EVERYWHERE),
    "KernelFamily": ("model/hardware/kernel_family.cpp", MODEL),
}
DEVICE_FOLDER = "hardware/gpus"

# Where the same word means another thing: {meaning: {file: words}}. An entry that nothing needs any more is a breach, too.
OTHER_MEANINGS = {
    "the variant of a network, called after who ships it or how it ends": {
        "model/survey/workload_summary.cpp": {"mxnet"},
        "model/workload/graph_builder.cpp": {"mxnet"},
        "model/workload/zoo/alexnet.cpp": {"torch7"},
        "model/workload/zoo/googlenet_plain.cpp": {"torch7"},
        "model/workload/zoo/transformer.cpp": {"nvidia", "pytorch"},
        "model/workload/zoo/transformer_xl.cpp": {"softmax"},
        "model/workload/zoo/vgg.cpp": {"torch7"},
    },
    "the producer that an ONNX file names": {"model/workload/onnx_import.cpp": {"pytorch"}},
    "a verb of the command line": {"model/cli/parse_arguments.cpp": {"memory", "network"}},
    "an option": {
        "model/configuration/set_values.cpp": {"network"},
        "model/configuration/framework_arguments/write_arguments.cpp": {"attention"},
        "model/study/grid_names.cpp": {"network"},
    },
    "a key of a layer": {"model/workload/network_file.cpp": {"attention"}},
    "a link of a timeline": {"model/prediction/step_times.cpp": {"network"}},
    "a key of a sample's shape, or its operation": {
        "calibrate/cuda/recurrent.cpp": {"input"},
        "calibrate/cuda/transfers.cpp": {"p2p"},
    },
}

TEXT = r'"((?:\\.|[^"\\\n])*)"'
MADE = r"(?:std::)?string(?:_view)?\s*[({]\s*"
COMPARISONS = (
    re.compile(r"[!=]=\s*(?:" + MADE + ")?" + TEXT),
    re.compile(TEXT + r"(?:s|sv)?\s*[)}]?\s*[!=]="),
    re.compile(r"(?:\.|->)(?:find|rfind|starts_with|ends_with|compare|contains|count|at|equal_range|lower_bound)\(\s*(?:" + MADE +
               ")?" + TEXT),
    re.compile(r"\[" + TEXT + r"\](?!(?:\s*\[[^\]]*\])*\s*=[^=])"),  # one that is assigned to writes a key
    re.compile(r"\bstrn?cmp\([^;]*?" + TEXT),
)


def row_names(root, enumeration, path):
    """Names of the rows {Enumeration::member, "name", ...} of a table."""
    file = root / path
    text = file.read_text() if file.is_file() else ""
    return re.findall(r"\{\s*" + enumeration + r"::\w+,\s*" + TEXT, text)


def concepts(root):
    """[(what a name is, names, own file, folders)], and breaches where a table has no row."""
    found, breaches = [], []
    for enumeration, (path, folders) in TABLES.items():
        names = row_names(root, enumeration, path)
        if not names:
            breaches.append(f"{path}:1: no row of {enumeration}; where is its table now?")
        found.append((f"a member of {enumeration}", {*names, *(name.lower() for name in names)}, path, folders))
    devices = {path.stem for path in (root / DEVICE_FOLDER).glob("*.toml")}
    if not devices:
        breaches.append(f"{DEVICE_FOLDER}:1: no device")
    found.append(("a device", devices, None, EVERYWHERE))
    return found, breaches


def without_comments(text):
    """The code with comments blanked; literals and line numbers stay."""
    token = re.compile(r"(R\"(\w*)\(.*?\)\2\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+')|//[^\n]*|/\*.*?\*/", re.S)
    return token.sub(lambda match: match.group(1) or re.sub(r"[^\n]", " ", match.group(0)), text)


def sources(root):
    for folder in EVERYWHERE:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SOURCE_SUFFIXES and path.is_file():
                yield path.relative_to(root).as_posix(), path.read_text(errors="replace")


def compared(text):
    """(line, name) of every literal that is compared or looked up."""
    code = without_comments(text)
    for pattern in COMPARISONS:
        for match in pattern.finditer(code):
            yield code.count("\n", 0, match.start(1)) + 1, match.group(1)


def check(root):
    root = pathlib.Path(root)
    known, breaches = concepts(root)
    allowed = {(path, word) for files in OTHER_MEANINGS.values() for path, words in files.items() for word in words}
    used = set()
    for path, text in sources(root):
        for line, name in sorted(set(compared(text))):
            for what, names, own, folders in known:
                if name not in names or path == own or not path.startswith(tuple(f"{folder}/" for folder in folders)):
                    continue
                if (path, name) in allowed:
                    used.add((path, name))
                else:
                    breaches.append(f"{path}:{line}: \"{name}\" is compared as a word; it is {what}")
    for path, name in sorted(allowed):
        if (root / path).is_file() and (path, name) not in used:
            breaches.append(f"{path}:1: \"{name}\" is no longer compared there; take it out of OTHER_MEANINGS")
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
