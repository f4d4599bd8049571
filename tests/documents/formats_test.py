#!/usr/bin/env python3
"""What `docs formats` says of files is what their readers ask for.   Usage: formats_test.py TBDSIM TBDSIM-CALIBRATE

Every word that a reader's source hands to a function as the name of a key must be documented, and every documented key
must be a word of such a source.
"""
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PROGRAMS = sys.argv[1:3]


def parts(folder):
    """Sources of a folder, each the reader of one part."""
    return sorted(f"{folder}/{name[:-4]}" for name in os.listdir(os.path.join(ROOT, "model", folder)) if name.endswith(".cpp"))


# The sections of the page that one group of sources reads.
READERS = [
    (["GPU", "Host", "System", "Tier of the network beyond a node", "Link type", "Network between nodes"],
     ["hardware/device_file", "hardware/architecture", "hardware/system_file", "hardware/node_files", "hardware/link_file", "hardware/fabric_file", "hardware/plain_host"]),
    (["Storage", "Overview of bandwidths"], ["hardware/storage"]),
    (["Prices"], ["hardware/price"]),
    (["Run"], ["hardware/operations"]),
    (["Settings of a training framework"], ["configuration/framework_arguments/framework"]),
    (["Samples that a job trains on"], ["hardware/input_source"]),
    (["Stack"], ["stack/stack_file", "stack/stack_extends", "stack/framework_features", "stack/host_settings", "stack/issue_settings",
                "stack/update_settings", "stack/memory_settings", "stack/exchange_settings", "stack/store", "stack/input_settings",
                "stack/engine_settings", "stack/rank_settings", "stack/parameter_server", "stack/metric_settings",
                "stack/convolution_library", "stack/operator_settings", "stack/parallel_settings",
                *parts("stack/operators"), *parts("stack/parallel")]),
    (["Network"], ["workload/network_file", "workload/network_layer", "workload/transformer_file"]),
    (["Pipeline schedule"], ["schedule/pipeline/schedule_file"]),
    (["Scenario"], ["validation/scenario_file"]),
    (["Measured-run table"], ["validation/measured_table", "configuration/option_table"]),
    (["Kernel samples"], ["../calibrate/decode/sample_table"]),
    (["Plan of measurements"], ["../calibrate/collect/plan"]),
]
# Read for several files by a source of its own.
ELSEWHERE = {"call_overhead", "call_floor", "call_per_shape",
             "anchor_products", "anchor_attention", "anchor_memory", "anchor_exchange", "anchor_host"}  # of kAnchors, own_measurements.hpp
# Words handed to functions that are no keys of a file, by why they are not.
NO_KEYS = {
    "h", "w",  # the ends of kernel_h and kernel_w
    "file",    # of a message
    "token",   # what throughput is also told in
}


def code(name):
    with open(os.path.join(ROOT, "model", name + ".cpp"), encoding="utf-8") as file:
        return re.sub(r"//[^\n]*", "", file.read())


def asked(text):
    """Words that stand as first or second argument of a call."""
    return set(re.findall(r'[\w>]\(\s*(?:[\w.&*]+,\s*)?"([a-z][a-z0-9_]*)"', text))


def words(text):
    """Options stand in their table with dashes, in files with underscores."""
    return {word.replace("-", "_") for word in re.findall(r'"([a-z][a-z0-9_-]*)"', text)}


def sections():
    pages = [subprocess.run([program, *verb], capture_output=True, text=True, check=True, env=dict(os.environ, TBDSIM_CATALOGUE=ROOT)).stdout
             for program, verb in zip(PROGRAMS, (["docs", "formats"], ["formats"]))]
    found = {}
    for page in pages:
        for title, body in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", page, re.M | re.S):
            found[title] = body
    return found


def quoted_words(body):
    """Words in back quotes; what stands with `_h` and `_w` is three keys."""
    told = {word for quote in re.findall(r"`([^`]*)`", body) for word in re.findall(r"[a-z][a-z0-9_]*", quote)}
    return told | {word + side for word in told for side in ("_h", "_w")}


def keys_of(body):
    """Keys of the second column."""
    keys = set()
    for line in body.splitlines():
        cells = re.split(r"(?<!\\)\|", line)
        if len(cells) > 4:
            keys |= set(re.findall(r"`([a-z][a-z0-9_]*)`", cells[2]))
    return keys


class Formats(unittest.TestCase):
    def setUp(self):
        self.sections = sections()

    def test_every_section_has_its_readers(self):
        self.assertEqual(sorted(self.sections), sorted([title for titles, _ in READERS for title in titles] + ["Families"]))

    def test_what_a_reader_asks_for_is_documented(self):
        for titles, sources in READERS:
            told = set().union(*(quoted_words(self.sections[title]) for title in titles))
            missing = set().union(*(asked(code(source)) for source in sources)) - told - NO_KEYS - {"schema", "source"}
            self.assertEqual(missing, set(), f"not in {titles}, asked for by {sources}")

    def test_what_is_documented_is_asked_for(self):
        for titles, sources in READERS:
            known = set().union(*(words(code(source)) for source in sources)) | ELSEWHERE
            invented = set().union(*(keys_of(self.sections[title]) for title in titles)) - known
            self.assertEqual(invented, set(), f"in {titles}, but no word of {sources}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
