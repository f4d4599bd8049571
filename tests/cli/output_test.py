"""What tbdsim writes for programs and for people: JSON against its promised keys and sums, CSV, the trace, determinism,
exit codes of checks, the width of tables, hand-over to tbdsim-calibrate. Long because the promised keys of all verbs stand here
beside what reads them.

Usage: output_test.py PROGRAM SOURCE_DIR
"""
import csv
import fcntl
import io
import json
import os
import pty
import re
import resource
import shlex
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from pathlib import Path

PROGRAM, SOURCE = os.path.abspath(sys.argv[1]), os.path.realpath(sys.argv[2])
DATA = os.path.join(SOURCE, "tests", "cli", "data")


def run(*arguments, program=PROGRAM, **environment):
    settings = {**os.environ, "TBDSIM_CATALOGUE": SOURCE, **environment}
    return subprocess.run([program, *arguments], capture_output=True, text=True, env=settings, timeout=60)


def predict(*options):
    done = run("predict", *options, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def examples():
    """Command lines of the examples that `--help` shows."""
    with open(os.path.join(SOURCE, "model", "cli", "examples.cpp"), encoding="utf-8") as file:
        rows = re.findall(r'\{"(\w+)",\s*"[^"]*",\s*"([^"]*)"\}', file.read())
    return [line for verb, line in rows if line.split()[0] == verb]


# The keys that DESIGN promises, each with what its value is; a key may be added, none may be missing.
NUMBER, TEXT, NULL, WHOLE = (int, float), str, type(None), int
RANGED = {"value": NUMBER, "low": NUMBER, "high": NUMBER}
FILE = {"name": TEXT, "file": (TEXT, NULL), "sha256": (TEXT, NULL)}
LIMIT = {"resource": TEXT, "share": NUMBER, "text": TEXT}
PARTS = ["weights", "gradients", "optimizer_state", "feature_maps", "workspace", "dynamic", "input", "exchange", "context", "slack"]
STAGES = ["forward", "backward", "weight_update", "metric", "exchange_total", "exchange_exposed", "input_exposed", "host_exposed"]
GPU = {"gpu": WHOLE, "pre_training_bytes": WHOLE, "allocated_bytes": WHOLE, "reserved_bytes": WHOLE, "peak_bytes": WHOLE,
       "low_bytes": WHOLE, "high_bytes": WHOLE, "parts_bytes": {part: WHOLE for part in PARTS}}
PREDICT = {
    "schema": TEXT, "tool": {"version": TEXT}, "level": NUMBER,
    "inputs": {"hardware": FILE, "workload": FILE, "stack": FILE},
    "config": {"gpus": WHOLE, "nodes": WHOLE, "batch_per_gpu": WHOLE, "global_batch": WHOLE, "precision": TEXT, "exchange": TEXT,
               "optimizer": TEXT, "sample": TEXT, "products_in_fp32": bool},
    "step_time_s": RANGED, "throughput": dict(RANGED, unit=TEXT, input_unit=TEXT),
    "stages_s": {stage: NUMBER for stage in STAGES},
    "utilization": {key: NUMBER for key in ["gpu_busy", "fp32", "tensor_core", "mfu", "cpu"]},
    "memory": {"capacity_bytes": WHOLE, "fits": bool, "gpus": [GPU]},
    "limit": LIMIT, "limits": [LIMIT],
    "cost": {**{key: (int, float, NULL) for key in ["usd_per_hour", "usd_per_million_samples", "joule_per_sample"]},
             **{key: (TEXT, NULL) for key in ["basis", "price", "source"]}},
    "provenance": [{"what": TEXT, "kind": TEXT, "source": TEXT}],
}
GROUP = {"group": TEXT, "n": WHOLE, "skipped": WHOLE, "mean_ape": NUMBER, "median_ape": NUMBER, "p95_ape": NUMBER, "bias": NUMBER,
         "coverage": NUMBER, "range_width": NUMBER, "baseline_mean_ape": (int, float, NULL)}
VALIDATE = {"schema": TEXT, "rows": [{"id": TEXT, "measured": NUMBER}], "groups": [GROUP], "fitted_groups": [GROUP], "all": GROUP,
            "mean_of_groups": NUMBER, "bias_of_groups": NUMBER}


def problems(value, shape, where="result"):
    """Every way in which a JSON value differs from what its shape promises."""
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return ["%s: no object" % where]
        missing = ["%s.%s: missing" % (where, key) for key in shape if key not in value]
        return missing + [p for key in shape if key in value for p in problems(value[key], shape[key], where + "." + key)]
    if isinstance(shape, list):
        if not isinstance(value, list) or not value:
            return ["%s: no or empty array" % where]
        return [p for item in value for p in problems(item, shape[0], where + "[]")]
    if isinstance(value, bool) and shape is not bool or not isinstance(value, shape):
        return ["%s: %r" % (where, value)]
    return []


class Comparisons(unittest.TestCase):
    def test_prices_of_two_kinds_and_networks_with_a_base_each_are_told(self):
        done = run("compare", "--hw", "p4000,v100-sxm2-16gb", "--model", "bert_base,resnet50")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(re.findall(r"1\.00 +base ", done.stdout)), 2)
        self.assertIn("against the base of the same network", done.stdout)
        bought, rented = done.stdout.split("\nBought: ")[1].split("\nRented\n")  # what is bought is compared with no rent
        self.assertRegex(bought, r"p4000 resnet50 +\d+ +1\.00 ")
        self.assertIn("p4000 bert_base, p4000 resnet50: 1 x p4000 at 815 USD", bought)
        self.assertNotIn("v100", bought)
        self.assertRegex(rented, r"v100.*esnet50 +3\.06 +- ")
        self.assertIn("v100-sxm2-16gb bert_base, v100-sxm2-16gb resnet50: AWS p3.2xlarge", rented)
        self.assertNotIn("p4000", rented.split("\nPrices are from")[0])

    def test_every_price_is_told_with_what_it_pays_for_beside_the_job(self):
        done = run("compare", "--hw", "p4000,dgx2", "--model", "resnet50", "--gpus", "1")
        text = " ".join(done.stdout.split())
        self.assertIn("p4000: 1 x p4000 at 815 USD (2017-02-06) and 1 x host without GPUs at 2630 USD (2019-01-31)", text)
        self.assertIn("(USD/h is that of all 16 GPUs of dgx2; one is in use)", text)
        table = run("compare", "--hw", "p4000,dgx2", "--model", "resnet50", "--format", "csv").stdout
        rows = list(csv.DictReader(io.StringIO(table)))
        self.assertEqual([row["price_basis"] for row in rows], ["launch_price", "price"])
        self.assertTrue(all(row["price_source"].startswith("datasheet: ") for row in rows))

    def test_money_is_read_as_people_write_it(self):
        job = ["compare", "--hw", "p4000,titan-xp", "--model", "lenet", "--budget"]
        told = [run(*job, text).stdout for text in ("40000 USD", "40000", "40,000", "40,000 USD", "40k USD", "40 kUSD", "$40000", "0.04M USD")]
        self.assertIn("budget 40000 USD", told[0])
        self.assertEqual(set(told), {told[0]})
        power = [run(*job, "40k", "--power-price", text).stdout for text in ("0.2 USD/kWh", "0.2", "$0.2/kWh")]
        self.assertIn("0.2 USD/kWh", power[0])
        self.assertEqual(set(power), {power[0]})

    def test_the_best_within_a_budget_are_chosen_among_all_that_has_a_price(self):
        for named in ([], ["--hw", "all"]):
            done = run("compare", *named, "--model", "resnet50", "--precision", "amp", "--batch", "128", "--budget", "40000", "--objective", "time")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"Fastest within the budget: [a-z0-9-]+ \d, (bought|rented), \d+ images/s")
            self.assertRegex(" ".join(done.stderr.split()), r"shown are the best \d+ by time")
            self.assertLess(len(done.stdout.splitlines()), 120)
            listed = done.stdout.split("\nPrices are from\n")[1].split("\n\n")[0]
            sources = [" ".join(source.split()) for source in re.split(r"^  \[\d+\] ", listed, flags=re.M)[1:]]
            self.assertGreater(len(sources), 3)
            self.assertEqual(len(sources), len(set(sources)))
        self.assertEqual(run("compare", "--hw", "all", "--model", "resnet50").stderr,
                         "tbdsim: --hw all: add --budget, such as --budget '40000 USD', to choose among all that has a price\n")

    def test_a_single_machine_has_its_name(self):
        self.assertRegex(run("compare", "--hw", "p4000", "--model", "lenet").stdout, r"(?m)^p4000 +\d")

    def test_several_wrong_names_are_told_at_once(self):
        done = run("predict", "--hw", "dgx1", "--model", "resnet50", "--what-if", "ampp", "--what-if", "nvlink-2y")
        self.assertEqual(done.stderr, 'tbdsim: predict: --what-if: unknown what-if "ampp", did you mean "amp"?; unknown what-if "nvlink-2y", '
                                      'did you mean "nvlink-2x"?\n')

    def test_a_network_that_no_candidate_uses_is_told(self):
        note = "network ethernet-1g, ethernet-10g: without effect, since the job runs on one node"
        networks = ["compare", "--hw", "dgx1", "--model", "lenet", "--network", "ethernet-1g,ethernet-10g"]
        self.assertIn(note, run(*networks).stderr)
        self.assertNotIn(note, run(*networks, "--nodes", "2").stderr)
        some = run(*networks, "--nodes", "1,2").stderr
        self.assertEqual((some.count(note), some.count("(2 of 4 candidates)")), (1, 1))
        # Samples of another machine come over it.
        loaded = run("compare", "--hw", "titan-xp", "--model", "resnet50", "--stack", "mxnet-1.2", "--input", "imagenet-records",
                     "--input-hosts", "8", "--network", "ethernet-1g,ethernet-10g")
        self.assertNotIn("without effect", loaded.stderr)

    def test_options_without_effect_are_told_once(self):
        one_copy = "tbdsim: note: --zero 1: there is one copy of the network, and nothing to shard over it"
        alone = ["--hw", "titan-xp", "--model", "resnet50"]
        self.assertEqual(run("compare", *alone, "--zero", "0,1").stderr, one_copy + " (1 of 2 candidates)\n")
        servers = ["--hw", "p4000", "--nodes", "4", "--network", "10gbe", "--stack", "mxnet-1.2", "--exchange", "ps", "--model", "vgg19"]
        tcp = "tbdsim: note: --set network.rdma=true: without effect, since the servers of --exchange ps speak TCP\n"
        self.assertIn(tcp, run("compare", *servers, "--what-if", "rdma").stderr)
        one_node = "tbdsim: note: --set network.bandwidth=2x: without effect, since the job runs on one node; use --nodes, such as --nodes 2\n"
        self.assertIn(one_node, run("compare", "--hw", "dgx1", "--model", "resnet50", "--what-if", "network-2x").stderr)
        with tempfile.TemporaryDirectory() as folder:
            swept = run("sweep", *alone, "--zero", "1", "-o", os.path.join(folder, "zero.db"))
            self.assertEqual((swept.returncode, swept.stderr), (0, one_copy + "\n"))
            swept = run("sweep", *servers, "--what-if", "rdma", "-o", os.path.join(folder, "rdma.db"))
            self.assertEqual((swept.returncode, swept.stderr), (0, tcp))

    def test_how_busy_the_processors_are_stands_in_tables(self):
        job = ["--hw", "dgx1", "--model", "lenet"]
        expected = predict(*job)["utilization"]["cpu"]
        row, = csv.DictReader(io.StringIO(run("compare", *job, "--format", "csv").stdout))
        self.assertEqual(float(row["cpu_busy"]), expected)
        with tempfile.TemporaryDirectory() as folder:
            for name in ("s.csv", "s.jsonl"):
                run("sweep", *job, "-o", os.path.join(folder, name))
            row, = csv.DictReader(io.StringIO(Path(folder, "s.csv").read_text(encoding="utf-8")))
            self.assertEqual(float(row["cpu_busy"]), expected)
            self.assertEqual(json.loads(Path(folder, "s.jsonl").read_text(encoding="utf-8"))["utilization"]["cpu"], expected)

    def test_memory_of_several_batches_names_gpus_and_their_machine(self):
        title = " ".join(run("memory", "--hw", "dgx1", "--model", "resnet50", "--batch", "8,16").stdout.split("\n\n")[0].split())
        self.assertIn("on 8 x v100-sxm2-16gb of dgx1, ", title)
        self.assertIn("on 2 x p4000, ", " ".join(run("memory", "--hw", "p4000", "--gpus", "2", "--model", "resnet50", "--batch", "8,16").stdout.split()))

    def test_one_network_and_one_kind_of_price_need_no_word_of_others(self):
        done = run("compare", "--hw", "p4000,titan-xp", "--model", "resnet50")
        self.assertNotIn("Rented", done.stdout)
        self.assertNotIn("same network", done.stdout)
        self.assertNotIn("tensor", done.stdout)

    def test_the_share_of_the_tensor_cores_stands_where_they_are_used(self):
        done = run("compare", "--hw", "dgx1", "--model", "resnet50", "--precision", "fp32,amp")
        title, fp32, amp = done.stdout.split("\n\n")[1].split("\n")[:3]
        at = title.index("tensor")
        share = [float(line[at:at + 6].split()[0]) for line in (fp32, amp)]
        self.assertEqual(share[0], 0)
        self.assertGreater(share[1], 0)

    def test_a_rack_has_lines_of_80_columns(self):
        done = run("topology", "--hw", "gb200-nvl72")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLessEqual(max(map(len, done.stdout.split("\n"))), 80)
        self.assertIn("NV18 between any two of gpu0 to gpu71", done.stdout)


class ChangedSweeps(unittest.TestCase):
    def test_rows_of_a_changed_file_go_and_parts_of_other_inputs_are_not_merged(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(os.path.join(DATA, "small_cnn.toml"), folder)
            network, at = os.path.join(folder, "small_cnn.toml"), lambda name: os.path.join(folder, name)
            sweep = ["sweep", "--hw", "p4000,titan-xp", "--model", network]
            for part in ("1.db", "2.db"):
                self.assertEqual(run(*sweep, "--shard", part[0] + "/2", "-o", at(part)).returncode, 0)
            with open(network, "a", encoding="utf-8") as file:
                file.write("# another digest\n")
            again = run(*sweep, "--shard", "1/2", "-o", at("1.db"))
            self.assertEqual((again.returncode, again.stdout, again.stderr),
                             (0, "1 points, 1 predicted now, 1 rows in %s\n" % at("1.db"),
                              "tbdsim: note: 1 rows of %s were predicted from other inputs (catalogue, files or version) and are "
                              "gone\n" % at("1.db")))
            merged = run("sweep", "merge", at("all.db"), at("1.db"), at("2.db"))
            self.assertEqual((merged.returncode, merged.stderr),
                             (2, "%s: was predicted from other inputs than %s: catalogue, files or version have changed in between; "
                                 "sweep again into the older one\n" % (at("2.db"), at("1.db"))))
            self.assertEqual(run(*sweep, "--shard", "2/2", "-o", at("2.db")).returncode, 0)
            self.assertEqual(run("sweep", "merge", at("all.db"), at("1.db"), at("2.db")).stdout, "2 rows in %s\n" % at("all.db"))


class InFolder(unittest.TestCase):
    """Commands in a folder of their own."""
    JOB = ["predict", "--hw", "p4000", "--model", "lenet"]

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def at(self, name):
        return os.path.join(self.folder.name, name)

    def command(self, *words, **options):
        environment = {**os.environ, "TBDSIM_CATALOGUE": SOURCE}
        return subprocess.run([PROGRAM, *words], cwd=options.pop("cwd", self.folder.name), env=environment, capture_output=True,
                              text=True, timeout=60, **options)


class KeptFiles(InFolder):
    """What a command may not destroy is there after it, byte for byte."""

    def test_a_sweep_is_no_trace_and_no_report(self):
        self.assertEqual(self.command("sweep", "--hw", "p4000", "--model", "lenet", "-o", "s.db").returncode, 0)
        before = Path(self.at("s.db")).read_bytes()
        os.link(self.at("s.db"), self.at("hard.json"))
        os.symlink("s.db", self.at("symbolic.json"))
        for name in ("s.db", "hard.json", "symbolic.json"):
            for option in ("--trace", "--report"):
                done = self.command(*self.JOB, option, name)
                self.assertEqual(done.returncode, 2)
                self.assertRegex(done.stderr, r'^tbdsim: %s: holds what this command did not write \("SQLite format 3.*"\.\.\.\); '
                                              r'write to another file, or remove it\n$' % name)
        self.assertEqual(Path(self.at("s.db")).read_bytes(), before)

    def test_links_to_an_input_are_that_input(self):
        machine = shutil.copy(os.path.join(SOURCE, "hardware", "gpus", "p4000.toml"), self.folder.name)
        before = Path(machine).read_bytes()
        os.link(machine, self.at("hard.json"))
        os.symlink("p4000.toml", self.at("symbolic.json"))
        for name in ("hard.json", "symbolic.json"):
            done = self.command("predict", "--hw", "p4000.toml", "--model", "lenet", "--trace", name)
            self.assertEqual((done.returncode, done.stderr),
                             (2, "tbdsim: %s: is read by the same command; write to another file\n" % name))
        self.assertEqual(Path(machine).read_bytes(), before)

    def test_a_full_disk_keeps_the_old_result(self):
        # LLVM's OpenMP makes a file of a kilobyte as it starts.
        for option, name in (("--trace", "t.json"), ("--report", "r.html")):
            self.assertEqual(self.command(*self.JOB, option, name).returncode, 0)
            os.chmod(self.at(name), 0o600)
            before = Path(self.at(name)).read_bytes()
            done = self.command(*self.JOB, option, name,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY)))
            self.assertEqual((done.returncode, done.stderr), (2, 'tbdsim: cannot write "%s": File too large\n' % name))
            self.assertEqual(Path(self.at(name)).read_bytes(), before)
            self.assertEqual(self.command(*self.JOB, option, name).returncode, 0)
            self.assertEqual(os.stat(self.at(name)).st_mode & 0o777, 0o600)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["r.html", "t.json"])

    def test_a_sweep_that_misses_an_input_keeps_its_rows(self):
        shutil.copy(os.path.join(DATA, "small_cnn.toml"), self.folder.name)
        sweep = ["sweep", "--hw", "p4000,titan-xp", "--model", "small_cnn.toml", "-o", self.at("s.db")]
        self.assertEqual(self.command(*sweep).returncode, 0)
        rows = self.command("sweep", "export", "s.db").stdout
        os.mkdir(self.at("elsewhere"))
        gone = ('%s: its 2 rows are kept: "small_cnn.toml", from which they were predicted in %s, is not found here; sweep there '
                'with the file in place, or name another file with -o\n' % (self.at("s.db"), self.folder.name))
        done = self.command(*sweep, cwd=self.at("elsewhere"))
        self.assertEqual((done.returncode, done.stderr), (2, gone))
        # Another file of that name in another folder.
        Path(self.at("elsewhere/small_cnn.toml")).write_text(Path(self.at("small_cnn.toml")).read_text() + "# other\n")
        done = self.command(*sweep, cwd=self.at("elsewhere"))
        self.assertEqual((done.returncode, done.stderr),
                         (2, "%s: its 2 rows are kept: they were predicted in %s, whose files are others than those here; sweep "
                             "there, or name another file with -o\n" % (self.at("s.db"), self.folder.name)))
        os.rename(self.at("small_cnn.toml"), self.at("away.toml"))
        done = self.command(*sweep)
        self.assertEqual((done.returncode, done.stderr), (2, gone))
        self.assertEqual(self.command("sweep", "export", "s.db").stdout, rows)
        os.rename(self.at("away.toml"), self.at("small_cnn.toml"))
        self.assertIn("2 points, 0 predicted now, 2 rows", self.command(*sweep).stdout)


    def test_a_sweep_whose_input_is_damaged_keeps_its_rows(self):
        source = Path(DATA, "small_cnn.toml").read_text(encoding="utf-8")
        network = Path(self.at("m.toml"))
        network.write_text(source, encoding="utf-8")
        sweep = ["sweep", "--hw", "p4000", "--model", "m.toml", "--batch", "1,2,3", "-o", "s.db"]
        self.assertEqual(self.command(*sweep).returncode, 0)
        rows = self.command("sweep", "export", "s.db").stdout
        for damaged in ("garbage\n", source + "\n[surplus]\n", ""):
            network.write_text(damaged, encoding="utf-8")
            done = self.command(*sweep)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, "^m.toml:")
            self.assertEqual(self.command("sweep", "export", "s.db").stdout, rows)
        network.write_text(source, encoding="utf-8")
        self.assertIn("3 points, 0 predicted now, 3 rows", self.command(*sweep).stdout)


class SweepFiles(InFolder):
    """What a sweep writes and what its export reads."""
    SWEEP = ["sweep", "--hw", "p4000,titan-xp", "--model", "lenet", "--batch", "8,16"]

    def test_the_ending_of_the_file_chooses_the_form(self):
        for name, lines in (("s.csv", 5), ("s.jsonl", 4)):
            done = self.command(*self.SWEEP, "-o", name)
            self.assertEqual((done.returncode, done.stdout),
                             (0, "4 points, 4 predicted now, 4 rows in %s; %s.db keeps them to go on from\n" % (name, name)), done.stderr)
            text = Path(self.at(name)).read_text(encoding="utf-8")
            self.assertEqual(text.count("\n"), lines)
            again = self.command(*self.SWEEP, "-o", name)
            self.assertIn("4 points, 0 predicted now, 4 rows in " + name, again.stdout)
            self.assertEqual(Path(self.at(name)).read_text(encoding="utf-8"), text)
        rows = [json.loads(line) for line in Path(self.at("s.jsonl")).read_text(encoding="utf-8").splitlines()]
        self.assertEqual([row["config"]["batch"] for row in rows], ["8", "16"] * 2)
        table = list(csv.DictReader(io.StringIO(Path(self.at("s.csv")).read_text(encoding="utf-8"))))
        self.assertEqual([float(row["step_time_s"]) for row in table], [row["step_time_s"]["value"] for row in rows])
        self.assertEqual(self.command("sweep", "export", "s.csv.db").stdout, Path(self.at("s.csv")).read_text(encoding="utf-8"))

    def test_other_endings_are_refused(self):
        for name in ("s.xlsx", "s"):
            done = self.command(*self.SWEEP, "-o", name)
            self.assertEqual((done.returncode, done.stderr),
                             (2, 'tbdsim: sweep: -o: expected a file that ends in .db (SQLite), .csv or .jsonl, got "%s"\n' % name))
        Path(self.at("mine.csv")).write_text("a,b\n1,2\n")
        done = self.command(*self.SWEEP, "-o", "mine.csv")
        self.assertEqual((done.returncode, done.stderr), (2, 'tbdsim: mine.csv: holds what this command did not write ("a,b"...); '
                                                             'write to another file, or remove it\n'))
        self.assertEqual(os.listdir(self.folder.name), ["mine.csv"])

    def test_an_export_only_reads(self):
        self.assertEqual(self.command(*self.SWEEP, "-o", "s.db").returncode, 0)
        before = (Path(self.at("s.db")).read_bytes(), os.stat(self.at("s.db")).st_mtime_ns)
        os.chmod(self.at("s.db"), 0o444)
        os.chmod(self.folder.name, 0o555)
        done = self.command("sweep", "export", "s.db")
        os.chmod(self.folder.name, 0o755)
        self.assertEqual((done.returncode, done.stderr, done.stdout.count("\n")), (0, "", 5))
        self.assertEqual((Path(self.at("s.db")).read_bytes(), os.stat(self.at("s.db")).st_mtime_ns), before)
        self.assertEqual(os.listdir(self.folder.name), ["s.db"])

    def test_an_unfinished_sweep_is_told(self):
        self.assertEqual(self.command(*self.SWEEP, "--shard", "1/4", "-o", "s.db").returncode, 0)
        done = self.command("sweep", "export", "s.db")
        self.assertEqual((done.returncode, done.stdout.count("\n"), done.stderr),
                         (0, 2, "tbdsim: note: s.db holds 1 of 4 points; the sweep that wrote it goes on where it is run again\n"))

    def test_a_damaged_sweep_is_told(self):
        self.assertEqual(self.command(*self.SWEEP, "-o", "s.db").returncode, 0)
        whole = Path(self.at("s.db")).read_bytes()
        for name, damaged in (("cut.db", whole[:8192]), ("zeros.db", whole[:4096] + bytes(len(whole) - 4096)),
                              ("header.db", whole[:100] + bytes(200) + whole[300:])):
            Path(self.at(name)).write_bytes(damaged)
            done = self.command("sweep", "export", name)
            self.assertEqual((done.returncode, done.stdout), (2, ""), name)
            self.assertRegex(done.stderr, name + ": (damaged|not a sweep)")

    def test_damaged_figures_are_neither_exported_nor_gone_on_from(self):
        self.assertEqual(self.command(*self.SWEEP, "-o", "s.db").returncode, 0)
        for number, (damage, message) in enumerate((
                ("UPDATE point SET step_time_s = 1e999 WHERE position = 2", "row 2 holds figures that no sweep writes"),
                ("UPDATE point SET throughput = -1 WHERE position = 0", "row 0 holds figures that no sweep writes"),
                ("UPDATE point SET config = 'garbage' WHERE position = 1", "row 1 holds figures that no sweep writes"),
                ("UPDATE sweep SET value = '-5' WHERE key = 'points'", "notes -5 points"),
                ("DELETE FROM sweep WHERE key = 'points'", "does not note of which grid its 4 rows are"),
                ("DELETE FROM sweep", "does not note of which grid its 4 rows are"),
                ("UPDATE point SET position = 9 WHERE position = 3", "holds row 9 of a grid of 4 points"))):
            name = shutil.copy(self.at("s.db"), self.at("damaged%d.db" % number))
            database = sqlite3.connect(name)
            database.execute(damage)
            database.commit()
            database.close()
            for command in (["sweep", "export", name], [*self.SWEEP, "-o", name], ["sweep", "merge", self.at("all.db"), name]):
                done = self.command(*command)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", "%s: damaged: %s\n" % (name, message)), command)
            self.assertFalse(os.path.exists(self.at("all.db")))

    def test_rows_that_answer_another_point_are_told(self):
        self.assertEqual(self.command(*self.SWEEP, "-o", "s.db").returncode, 0)
        database = sqlite3.connect(self.at("s.db"))
        database.execute("UPDATE point SET config = (SELECT config FROM point WHERE position = 0) WHERE position = 1")
        database.commit()
        database.close()
        done = self.command(*self.SWEEP, "-o", "s.db")
        self.assertEqual((done.returncode, done.stderr), (2, "s.db: damaged: row 1 is no point of this grid\n"))

    def test_a_sweep_that_ended_before_its_first_point_is_told(self):
        self.assertEqual(self.command(*self.SWEEP, "-o", "s.db").returncode, 0)
        database = sqlite3.connect(self.at("s.db"))
        database.executescript("DELETE FROM point; DELETE FROM sweep;")
        database.close()
        done = self.command("sweep", "export", "s.db")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, "", "tbdsim: note: s.db holds no points: the sweep that wrote it ended before its first; run it again\n"))

    def test_the_grid_of_a_sweep_takes_options_of_a_job(self):
        shutil.copy(os.path.join(DATA, "anchors.toml"), self.at("anchors.toml"))
        grid = 'schema = 1\n[grid]\nhw = "p4000"\nmodel = "lenet"\n'
        Path(self.at("g.toml")).write_text(grid + 'calibration = "anchors.toml"\n', encoding="utf-8")
        done = self.command("sweep", "--grid", "g.toml", "-o", "c.db")
        self.assertEqual((done.returncode, done.stdout), (0, "1 points, 1 predicted now, 1 rows in c.db\n"), done.stderr)
        for line in ("seed = 3", "kernels = true", "links = true"):
            Path(self.at("g.toml")).write_text(grid + line + "\n", encoding="utf-8")
            done = self.command("sweep", "--grid", "g.toml", "-o", "g.db")
            self.assertEqual(done.returncode, 2)
            self.assertIn("g.toml:5:", done.stderr)
            self.assertIn("grid.%s: no option of a job; the grid of a sweep takes hw, " % line.split()[0], done.stderr)

    def test_options_without_effect_on_a_claim_are_told(self):
        def problem(expression):
            Path(self.at("c.toml")).write_text('schema = 1\n[study]\nname = "n"\nsource = "assumed: a test"\n[grid]\nhw = "p4000"\n'
                                               'model = "lenet"\n[[claim]]\nid = "c"\nexpr = "%s"\n' % expression, encoding="utf-8")
            done = self.command("validate", "c.toml", "--format", "csv")
            return next(csv.DictReader(io.StringIO(done.stdout)))["problem"]
        self.assertEqual(problem("throughput(kernels=true) > 0"),
                         "kernels=true: without effect, since throughput is no part of what it adds; leave it out")
        self.assertEqual(problem("max(kernels.groups.launches(kernels=true)) > 0"), "")
        self.assertEqual(problem("throughput(seed=3) > 0"), "--seed 3: without effect, since nothing of this job is random")
        self.assertEqual(problem("throughput(seed=3, stack=mxnet-18.04, input=imagenet-records, model=resnet50) > 0"), "")
        Path(self.at("victim.txt")).write_text("garbage\n", encoding="utf-8")
        for option in ("hw", "layout_from"):
            self.assertRegex(problem("throughput(%s=victim.txt) > 0" % option), "victim.txt")

    def test_a_line_break_in_a_name_does_not_end_the_message(self):
        for words in (["--hw", "x\ny", "--model", "lenet"], ["--hw", "p4000", "--model", "x\ny"],
                      ["--hw", "p4000", "--model", "lenet", "--stack", "x\ny"]):
            done = self.command("predict", *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn('"x\\ny"', done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_a_sweep_that_may_not_be_read_says_why(self):
        os.symlink("loop", self.at("loop"))
        done = self.command("sweep", "export", "loop/s.db")
        self.assertEqual((done.returncode, done.stderr), (2, "loop/s.db: cannot open: Too many levels of symbolic links\n"))

    def test_what_a_foreign_schema_holds_is_not_run(self):
        self.assertEqual(self.command(*self.SWEEP, "-o", "s.db").returncode, 0)
        endless = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT i FROM c"
        for number, schema in enumerate((
                "CREATE TRIGGER t BEFORE INSERT ON sweep BEGIN SELECT count(*) FROM (%s); END" % endless,
                "DROP TABLE point; CREATE VIEW point AS " + endless)):
            name = shutil.copy(self.at("s.db"), self.at("foreign%d.db" % number))
            database = sqlite3.connect(name)
            database.executescript(schema)
            database.close()
            for command in (["sweep", "export", name], [*self.SWEEP, "-o", name], ["sweep", "merge", self.at("all.db"), name]):
                done = self.command(*command)
                self.assertEqual((done.returncode, done.stderr),
                                 (2, name + ": has tables, triggers or views that no sweep has; name a file that sweep -o wrote\n"))

    def test_an_export_ends_as_its_form_says(self):
        self.assertEqual(self.command(*self.SWEEP, "-o", "s.db").returncode, 0)
        for name, options, form in (("o.db", [], "CSV"), ("o.csv", ["--format", "json"], "JSON")):
            done = self.command("sweep", "export", "s.db", *options, "-o", name)
            self.assertEqual((done.returncode, done.stderr), (2, "tbdsim: sweep export: writes %s, and -o %s ends otherwise; name a "
                                                                 "file that ends in .csv, .json or .jsonl\n" % (form, name)))


class Bounds(unittest.TestCase):
    def test_threads_are_bounded(self):
        done = run("compare", "--hw", "p4000,titan-xp", "--model", "lenet", OMP_NUM_THREADS="99999")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, run("compare", "--hw", "p4000,titan-xp", "--model", "lenet", OMP_NUM_THREADS="1").stdout)

    def system(self, folder, device, gpus, links=""):
        path = os.path.join(folder, "node.toml")
        Path(path).write_text('schema = 1\nname = "node"\ndevice = "%s"\ngpus = %d\nsource = "assumed: a test"\n%s'
                              % (device, gpus, links))
        return path

    def test_thousands_of_gpus_cost_no_more_than_their_number(self):
        with tempfile.TemporaryDirectory() as folder:
            wires = ", ".join('{a = "gpu%d", b = "gpu%d"}' % (i, (i + 1) % 512) for i in range(512))
            ring = self.system(folder, "v100-sxm2-16gb", 512, '[link.nvlink]\nkind = "nvlink"\nbandwidth = "25 GB/s"\n'
                               'source = "assumed: a test"\nwires = [%s]\n' % wires)
            begun = time.monotonic()
            done = run("topology", "--hw", ring, "--format", "csv")
            self.assertEqual((done.returncode, done.stdout.count("\n")), (0, 1 + 512 * 511), done.stderr)
            node = self.system(folder, "p4000", 4096)
            done = run("predict", "--hw", node, "--model", "resnet50")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLess(time.monotonic() - begun, 20)  # 60 s before; 2 s alone
            done = run("predict", "--hw", node, "--model", "resnet50", "--stack", "mxnet-1.2", "--exchange", "p2p")
            self.assertEqual((done.returncode, done.stderr),
                             (2, "tbdsim: node: copies between every two of 4096 GPUs of a node are not modelled, at most 256 GPUs\n"))
            done = run("predict", "--hw", node, "--model", "resnet50", "--stack", "mxnet-1.2", "--exchange", "local")
            self.assertEqual(done.returncode, 0, done.stderr)  # 2.9 s before, 0.5 s alone
            self.assertLess(time.monotonic() - begun, 40)
            done = run("topology", "--hw", node)
            self.assertEqual((done.returncode, done.stderr),
                             (2, "tbdsim: node: the pairs of 4096 GPUs are too many to list, at most 1024 GPUs; choose some with "
                                 "--gpus or --devices\n"))

    def test_implausible_values_are_refused(self):
        for change, message in (
                ("hw.memory_capacity=1e12 GiB", 'expected a size such as "16 GiB", got "1e12 GiB" (above 1000 PB, the most that is '
                                                'accepted)'),
                ("stack.host.dispatch=1e300 ms", 'expected a time such as "1.9 us", got "1e300 ms" (above 11600 d, the most that is '
                                                 'accepted)'),
                ("hw.peak_fp32=5e-324 TFLOP/s", 'expected a FLOP rate such as "15.7 TFLOP/s", got "5e-324 TFLOP/s" (below 1 FLOP/s, '
                                                'the least that is accepted)')):
            done = run("predict", "--hw", "titan-xp", "--model", "lenet", "--set", change)
            self.assertEqual((done.returncode, done.stdout), (2, ""), change)
            self.assertIn(message, done.stderr)


class NoRoom(unittest.TestCase):
    """The hint of a job that does not fit names what does."""

    def hint(self, *options):
        done = run("predict", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        notes = [line for line in done.stderr.split("\n") if "does not fit" in line]
        return notes[0].replace("tbdsim: note: ", "") if notes else ""

    def test_batch_micro_batches_and_recomputing_that_are_named_do_fit(self):
        job = ["--hw", "v100-sxm2-16gb", "--model", "resnet50"]
        hint = self.hint(*job, "--batch", "400")
        named = re.fullmatch(r"batch 400 does not fit; batch (\d+) is the largest that does \((--batch \d+ --accumulate \d+) for as "
                             r"large an update\); with (--recompute \w+) it does; `memory --max-batch` tells more", hint)
        self.assertTrue(named, hint)
        largest = int(named[1])
        self.assertEqual(self.hint(*job, "--batch", str(largest)), "")
        self.assertNotEqual(self.hint(*job, "--batch", str(largest + 1)), "")
        self.assertEqual(self.hint(*job, *named[2].split()), "")
        self.assertEqual(self.hint(*job, "--batch", "400", *named[3].split()), "")

    def test_sharding_and_splitting_are_told_where_they_make_room(self):
        hint = self.hint("--hw", "dgx1", "--model", "bert_large", "--batch", "44")
        self.assertRegex(hint, r"there is room with --zero \d or --tensor-parallel \d")
        for option in re.findall(r"(--zero \d|--tensor-parallel \d+)", hint):
            done = run("memory", "--hw", "dgx1", "--model", "bert_large", "--batch", "44", *option.split(), "--format", "json")
            self.assertTrue(json.loads(done.stdout)["memory"]["fits"], option)

    def test_a_hint_offers_only_what_the_framework_has(self):
        """Megatron-LM of 2021 shards nothing, later ones only the optimiser."""
        job = ["--hw", "dgx-a100-80gb", "--model", "gpt3-13b", "--nodes", "2", "--precision", "bf16"]
        hints = [self.hint(*job, "--stack", stack) for stack in ("megatron-lm-2021", "megatron-core-0.14")]
        for hint in hints:
            self.assertNotIn("--zero 2", hint)
            self.assertNotIn("--zero 3", hint)
            self.assertIn("there is room with --tensor-parallel 4", hint)


class Examples(unittest.TestCase):
    def test_every_example_of_the_help_runs(self):
        lines = examples()
        self.assertGreaterEqual(len(lines), 18)
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.join(SOURCE, "scenarios"), os.path.join(folder, "scenarios"))
            for line in lines:
                with self.subTest(line):
                    done = subprocess.run([PROGRAM, *line.split()], cwd=folder, capture_output=True, text=True, timeout=600,
                                          env={**os.environ, "TBDSIM_CATALOGUE": SOURCE})
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertTrue(done.stdout)


class PredictJson(unittest.TestCase):
    CONFIGURATIONS = [
        ["--hw", "dgx1.toml", "--model", "resnet50"],
        ["--hw", "v100-sxm2-16gb", "--model", "alexnet", "--batch", "16"],
        ["--hw", "dgx1", "--model", "vgg16", "--nodes", "4", "--stack", "tensorflow-1.12"],
        ["--hw", "titan-xp", "--model", "lenet", "--stack", "mxnet-1.2"],
    ]

    def test_keys(self):
        for options in self.CONFIGURATIONS:
            with self.subTest(options=options):
                result = predict(*options)
                self.assertEqual(problems(result, PREDICT), [])
                self.assertEqual(result["schema"], "tbdsim.predict/1")
                self.assertEqual(result["level"], 0.8)

    def test_sums(self):
        for options in self.CONFIGURATIONS:
            with self.subTest(options=options):
                result = predict(*options)
                step, stages = result["step_time_s"], result["stages_s"]
                self.assertAlmostEqual(sum(stages[s] for s in STAGES if s != "exchange_total") / step["value"], 1.0, delta=1e-9)
                self.assertLessEqual(stages["exchange_exposed"], stages["exchange_total"] * (1 + 1e-9))
                self.assertAlmostEqual(sum(limit["share"] for limit in result["limits"]), 1.0, delta=1e-9)
                self.assertEqual(result["limits"][0], result["limit"])
                config, throughput = result["config"], result["throughput"]
                self.assertEqual(config["global_batch"], config["batch_per_gpu"] * config["gpus"])
                self.assertAlmostEqual(throughput["value"] * step["value"] / config["global_batch"], 1.0, delta=1e-12)
                for ranged in (step, throughput):
                    self.assertLess(ranged["low"], ranged["value"])
                    self.assertLess(ranged["value"], ranged["high"])

    def test_memory(self):
        for options in self.CONFIGURATIONS:
            with self.subTest(options=options):
                memory = predict(*options)["memory"]
                for gpu in memory["gpus"]:
                    # Each part is rounded to a whole byte, so that ten of them may be five off.
                    self.assertAlmostEqual(sum(gpu["parts_bytes"].values()), gpu["peak_bytes"], delta=5)
                    self.assertLessEqual(gpu["allocated_bytes"], gpu["reserved_bytes"])
                    self.assertLessEqual(gpu["reserved_bytes"], gpu["peak_bytes"])
                    self.assertLessEqual(gpu["pre_training_bytes"], gpu["peak_bytes"])
                self.assertEqual(memory["fits"], all(gpu["peak_bytes"] <= memory["capacity_bytes"] for gpu in memory["gpus"]))

    def test_digest_of_the_input_file(self):
        import hashlib
        hardware = predict("--hw", "dgx1", "--model", "lenet")["inputs"]["hardware"]
        with open(hardware["file"], "rb") as file:
            self.assertEqual(hardware["sha256"], hashlib.sha256(file.read()).hexdigest())

    def test_epochs(self):
        result = predict("--hw", "dgx1", "--model", "lenet", "--samples", "1K", "--epochs", "3")
        epochs = result["epochs"]
        # 1000 samples in steps of 8 x 32: three full ones and the rest.
        self.assertEqual(epochs["steps_per_epoch"], 4)
        steps = 4 * result["step_time_s"]["value"]
        self.assertAlmostEqual(epochs["epoch_time_s"]["value"], epochs["start_up_s"] + steps, delta=1e-12)
        self.assertAlmostEqual(epochs["total_time_s"]["value"], epochs["start_up_s"] + 3 * steps, delta=1e-12)

    def test_an_epoch_is_the_same_in_predict_scale_and_sweep(self):
        job = ("--hw", "dgx1", "--model", "lenet", "--gpus", "2", "--samples", "256K")
        predicted = predict(*job)["epochs"]
        row, = json.loads(run("scale", *job, "--format", "json").stdout)["rows"]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s.csv")
            run("sweep", *job, "-o", path)
            with open(path, newline="") as file:
                swept, = csv.DictReader(file)
        self.assertEqual(row["epoch_time_s"], predicted["epoch_time_s"]["value"])
        self.assertAlmostEqual(float(swept["epoch_time_s"]) / row["epoch_time_s"], 1, delta=1e-12)
        self.assertEqual((row["start_up_s"], float(swept["start_up_s"])), (predicted["start_up_s"],) * 2)
        self.assertGreater(row["start_up_s"], 0)

    def test_layers_and_kernels(self):
        result = predict("--hw", "v100-sxm2-16gb", "--model", "resnet50", "--layers", "--kernels")
        kernels = result["kernels"]
        self.assertAlmostEqual(sum(group["time_share"] for group in kernels["groups"]), 1.0, delta=1e-9)
        times = [group["time_s"] for group in kernels["groups"]]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertAlmostEqual(sum(times) / kernels["time_s"], 1.0, delta=1e-9)
        mean = kernels["mean_fp32_utilization"]
        weighted = sum(group["time_share"] * group["fp32_utilization"] for group in kernels["groups"])
        self.assertAlmostEqual(weighted, mean, delta=1e-9)
        for index in kernels["long_below_mean"]:
            self.assertLess(kernels["groups"][index]["fp32_utilization"], mean)
        for index in kernels["long_above_mean"]:
            self.assertGreaterEqual(kernels["groups"][index]["fp32_utilization"], mean)
        # torchvision's ResNet-50 has 25,557,032 trainable numbers.
        self.assertEqual(sum(layer["parameters"] for layer in result["layers"]), 25557032)

    def test_checker_finds_what_is_wrong(self):
        good = predict(*self.CONFIGURATIONS[0])
        del good["stages_s"]["metric"]
        good["memory"]["fits"] = 1
        good["provenance"] = []
        self.assertEqual(sorted(problems(good, PREDICT)),
                         ["result.memory.fits: 1", "result.provenance: no or empty array", "result.stages_s.metric: missing"])


class Completion(unittest.TestCase):
    def completed(self, *words):
        """What bash offers for the last of `words`."""
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(PROGRAM, os.path.join(folder, "tbdsim"))
            script = run("docs", "bash").stdout + 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tbdsim; echo "${COMPREPLY[*]}"\n'
            environment = {**os.environ, "PATH": folder + ":" + os.environ["PATH"], "TBDSIM_CATALOGUE": SOURCE}
            done = subprocess.run(["bash", "-c", script, "bash", "tbdsim", *words], capture_output=True, text=True, cwd=folder,
                                  env=environment, check=True)
            return done.stdout.split()

    def test_bash_offers_verbs_options_names_kinds_and_words(self):
        self.assertEqual(self.completed("li"), ["list"])
        self.assertEqual(self.completed("memory", "--ze"), ["--zero"])
        self.assertEqual(self.completed("predict", "--hw", "gtx-1080"), ["gtx-1080", "gtx-1080-ti"])
        self.assertEqual(self.completed("list", "s"), ["systems", "storage", "stacks"])
        self.assertEqual(self.completed("show", "titan-x"), ["titan-x-maxwell", "titan-x-pascal", "titan-xp"])
        self.assertEqual(self.completed("memory", "--by", ""), ["structure", "layer", "type", "time"])

    def test_fish_offers_the_same(self):
        script = run("docs", "fish").stdout
        for part in ("-n '__fish_seen_subcommand_from predict' -l hw -r -a '(__tbdsim_names systems gpus)' -d 'System, or a GPU in a plain PCIe host'",
                     "-l by -x -a 'structure layer type time'", "-n '__fish_seen_subcommand_from list' -f -a 'gpus systems ",
                     "-n __fish_use_subcommand -f -a memory -d ", "-n __fish_use_subcommand -f -a help -d ",
                     "-n '__fish_seen_subcommand_from help' -f -a 'predict compare "):
            self.assertIn(part, script)
        verbs = re.search(r"there are (.*)", run("calibrate", "no-such-verb").stderr)[1].replace(",", "")
        self.assertIn("-n '__fish_seen_subcommand_from calibrate' -a '%s'" % verbs, script)
        if shutil.which("fish"):
            subprocess.run(["fish", "-n"], input=script, text=True, check=True)

    def test_zsh_offers_the_same(self):
        script = run("docs", "zsh").stdout
        for part in ("'--hw[System, or a GPU in a plain PCIe host]:NAME|FILE: _tbdsim_names systems gpus'",
                     ":(structure layer type time)'", "'2:kind:(gpus systems ", "'--gpus[GPUs of the job \\[all GPUs of --nodes nodes\\]]:N: '"):
            self.assertIn(part, script)
        if shutil.which("zsh"):
            subprocess.run(["zsh", "-n"], input=script, text=True, check=True)


def flat(row):
    """A row of JSON as CSV has it: what stands in an object within it has columns of its own."""
    inner = {name.replace(" ", "_"): part for value in row.values() if isinstance(value, dict) for name, part in value.items()}
    return {**{key: value for key, value in row.items() if not isinstance(value, dict)}, **inner}


class OtherFormats(unittest.TestCase):
    def test_csv_agrees_with_json(self):
        options = ["--hw", "dgx1", "--model", "resnet50"]
        row, = csv.DictReader(io.StringIO(run("predict", *options, "--format", "csv").stdout))
        result = predict(*options)
        self.assertEqual(float(row["step_time_s"]), result["step_time_s"]["value"])
        self.assertEqual(float(row["throughput_high_samples_per_s"]), result["throughput"]["high"])
        self.assertEqual(float(row["backward_s"]), result["stages_s"]["backward"])
        self.assertEqual(row["limit"], result["limit"]["resource"])

    def test_each_table_has_its_csv(self):
        options = ["--hw", "dgx1", "--model", "lenet"]
        for table, rows in (("layers", lambda r: r["layers"]), ("kernels", lambda r: r["kernels"]["groups"]),
                            ("links", lambda r: r["links"])):
            read = list(csv.DictReader(io.StringIO(run("predict", *options, "--" + table, "--format", "csv").stdout)))
            wanted = [flat(row) for row in rows(predict(*options, "--" + table))]
            self.assertGreater(len(wanted), 5)
            self.assertEqual([{k: str(v) for k, v in row.items() if isinstance(v, (str, int))} for row in wanted],
                             [{k: row[k] for k, v in want.items() if isinstance(v, (str, int))} for row, want in zip(read, wanted)])
            self.assertEqual([set(row) for row in read], [set(want) for want in wanted])
        row, = csv.DictReader(io.StringIO(run("predict", *options, "--samples", "256K", "--epochs", "3", "--format", "csv").stdout))
        epochs = predict(*options, "--samples", "256K", "--epochs", "3")["epochs"]
        self.assertEqual((int(row["epochs"]), float(row["total_time_high_s"]), float(row["total_usd"])),
                         (3, epochs["total_time_s"]["high"], epochs["total_usd"]))

    def test_the_stages_of_a_pipeline_are_counted(self):
        stages = lambda *options: json.loads(run("memory", "--hw", "dgx1", "--model", "resnet50", "--format", "json",
                                                 *options).stdout)["config"]["pipeline"]
        self.assertEqual((stages("--pipeline-parallel", "3", "--gpus", "3"), stages("--gpus", "3")), (3, 1))

    def test_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.json")
            done = run("predict", "--hw", "dgx1", "--model", "lenet", "--trace", path)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(path) as file:
                events = json.load(file)["traceEvents"]
        spans = [event for event in events if event["ph"] == "X"]
        kernels, exchanges = ([event for event in spans if (event["pid"], event["tid"]) == (0, tid)] for tid in (0, 1))
        self.assertGreater(len(kernels), 20)
        self.assertGreater(len(exchanges), 0)
        for stream in (kernels, exchanges):
            for before, after in zip(stream, stream[1:]):
                # In a stream nothing starts before the last one ended, but for rounding to picoseconds.
                self.assertGreaterEqual(after["ts"], before["ts"] + before["dur"] - 1e-5)

    def test_modules_lie_around_their_kernels(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.json")
            self.assertEqual(run("predict", "--hw", "v100-sxm2-16gb", "--model", "resnet50", "--trace", path).returncode, 0)
            with open(path) as file:
                spans = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X" and (e["pid"], e["tid"]) == (0, 0)]
        modules = [event for event in spans if event["cat"] == "module"]
        self.assertEqual(len([m for m in modules if m["name"] == "layer3.2"]), 2)  # forward and backward
        for module in modules:
            inside = [e for e in spans if e["cat"] not in ("module", "update") and e["name"].startswith(module["name"] + ".") and
                      module["ts"] - 1e-5 <= e["ts"] and e["ts"] + e["dur"] <= module["ts"] + module["dur"] + 1e-5]
            self.assertGreater(len(inside), 0, module)

    def test_a_chakra_trace_is_read_again_as_the_step(self):
        job = ["predict", "--hw", "dgx1", "--model", "resnet50", "--batch", "16"]
        with tempfile.TemporaryDirectory() as folder:
            path, parts, drawn = (os.path.join(folder, name) for name in ("step.et", "parts.csv", "step.json"))
            for name in (path, drawn):
                self.assertEqual(run(*job, "--trace", name).returncode, 0)
            with open(drawn) as file:
                spans = [event for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
            done = run("calibrate", "import", path, "-o", parts)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            times = {}
            with open(parts, newline="") as file:
                for row in csv.DictReader(file):
                    times[row["by"], row["name"]] = int(row["time_ns"])
            refused = run("predict", "--hw", "dgx1", "--model", "resnet50", "--stack", "mxnet-1.2", "--exchange", "p2p", "--trace", path)
            self.assertEqual((refused.returncode, refused.stderr.split(": ", 3)[-1]),
                             (2, "Chakra's form has collectives alone, and gradients are exchanged by p2p; use --exchange allreduce or write .json\n"))
        exchange = sum(span["dur"] for span in spans if span["name"].startswith("bucket"))
        kernels = sum(span["dur"] for span in spans if "kernel" in span.get("args", {}))
        # The form counts whole microseconds.
        self.assertAlmostEqual(times["family", "exchange"] * 1e-3, exchange, delta=6)
        self.assertAlmostEqual(sum(time for (by, name), time in times.items() if by == "family" and name != "exchange") * 1e-3, kernels, delta=20)

    def test_a_diagnosis_is_a_list_of_causes(self):
        done = run("explain", "--hw", "dgx1", "--model", "resnet50", "--precision", "amp", "--measured", "2600 images/s", "--format", "json")
        answer = json.loads(done.stdout)
        self.assertEqual(answer["measured"]["unit"], "images/s")
        self.assertFalse(answer["measured"]["expected"])
        self.assertEqual(answer["diagnosis"][0]["cause"], "precision-not-active")
        for cause in answer["diagnosis"]:
            self.assertEqual(set(cause), {"cause", "text", "amount", "set", "stack", "speed", "off", "in_range", "weight", "test"})
            self.assertAlmostEqual(cause["off"], 2600 / cause["speed"]["value"] - 1)
            again = run("predict", "--hw", "dgx1", "--model", "resnet50", "--precision", "amp", "--format", "json",
                        *[word for set_value in cause["set"] for word in ("--set", set_value)],
                        *(["--stack", cause["stack"]] if cause["stack"] else []))
            self.assertAlmostEqual(json.loads(again.stdout)["throughput"]["value"], cause["speed"]["value"], places=6)

    def test_a_replay_without_changes_is_the_measured_step(self):
        job = ["predict", "--hw", "v100-sxm2-16gb", "--gpus", "2", "--model", "resnet50", "--batch", "32", "--format", "json"]
        for name in ("kineto.json", "kineto.json.gz", "nsight.sqlite", "nvprof.csv", "chakra.et"):
            trace = ["--from-trace", os.path.join(SOURCE, "tests", "data", "traces", name)]
            same = json.loads(run(*job, *trace).stdout)
            self.assertAlmostEqual(same["step_time_s"]["value"] / same["measured_step_time_s"], 1.0, places=9, msg=name)
            changed = json.loads(run(*job, *trace, "--set", "hw.device.memory_bandwidth=0.5x").stdout)
            self.assertGreater(changed["step_time_s"]["value"], same["step_time_s"]["value"], name)
            factors = {family["family"]: family["factor"] for family in changed["families"]}
            self.assertGreater(factors["normalisation"], factors["convolution"])
            self.assertLess(changed["step_time_s"]["low"], changed["step_time_s"]["value"])

    def test_settings_that_help_together_are_one_command(self):
        for job in (("--hw", "dgx1", "--model", "resnet50"), ("--hw", "titan-xp", "--model", "resnet50", "--stack", "mxnet-1.2"),
                    ("--hw", "v100-sxm2-16gb", "--model", "bert-base")):
            with self.subTest(job=job):
                answer = json.loads(run("explain", *job, "--format", "json").stdout)
                together = answer["together"]
                self.assertGreaterEqual(len(together["options"]), 2)
                helped = predict(*job, *" ".join(together["options"]).split())
                base = predict(*job)
                self.assertEqual(helped["step_time_s"], together["step_time_s"])
                self.assertAlmostEqual(helped["throughput"]["value"] / base["throughput"]["value"] - 1, together["gain"], delta=1e-9)
                self.assertTrue(together["fits"])
                alone = [row["gain"] for row in answer["what_ifs"] if row["kind"] == "setting" and "gain" in row and row["fits"]]
                self.assertGreater(together["gain"], max(alone))
                self.assertIn(together["options"][-1], run("explain", *job).stdout.replace("\n    ", " "))

    def test_help_verb(self):
        self.assertEqual(run("help", "predict").stdout, run("predict", "--help").stdout)
        self.assertEqual(run("help").stdout, run("--help").stdout)

    def test_tables_take_the_width_of_a_terminal(self):
        """Names too long for 80 columns are numbered there, and stand in the table of a wider terminal."""
        job = ["compare", "--hw", "aws-p4d.24xlarge,dgx1", "--model", "resnet50", "--batch", "16,32", "--optimizer", "sgd-momentum,adam"]
        self.assertIn("\n#1 ", run(*job).stdout)
        for columns in (80, 160):
            leader, follower = pty.openpty()
            fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
            with subprocess.Popen([PROGRAM, *job], stdout=follower, stderr=subprocess.DEVNULL, env={**os.environ, "TBDSIM_CATALOGUE": SOURCE}) as process:
                os.close(follower)
                shown = b""
                try:
                    while part := os.read(leader, 65536):
                        shown += part
                except OSError:  # the other end is closed
                    pass
            os.close(leader)
            self.assertEqual(process.returncode, 0)
            self.assert_narrow(shown.decode().replace("\r", ""), columns)
            self.assertEqual(b"\n#1 " in shown or shown.startswith(b"#1 "), columns == 80, shown)

    def test_trace_lanes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.json")
            done = run("predict", "--hw", "dgx1", "--model", "alexnet", "--stack", "mxnet-1.2", "--exchange", "p2p", "--input",
                       "imagenet-records", "--trace", path)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(path) as file:
                events = json.load(file)["traceEvents"]
        names = {event["args"]["name"]: (event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
        for lane in ("host thread", "store's process", "input workers (4)", "copies to the GPUs"):
            self.assertIn(lane, names)
            pid, tid = names[lane]
            spans = [e for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) == (pid, tid)]
            self.assertGreater(len(spans), 0, lane)
        self.assertIn("metric", {event["cat"] for event in events if event["ph"] == "X"})

    def traced(self, *job):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.json")
            done = run("predict", *job, "--links", "--format", "json", "--trace", path)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(path) as file:
                return json.loads(done.stdout), json.load(file)["traceEvents"]

    def rows_of(self, events):
        """{(process, row): (their names, spans)}; spans of one row do not overlap unless they nest."""
        processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        rows = {(e["pid"], e["tid"]): ((processes[e["pid"]], e["args"]["name"]), []) for e in events if e["name"] == "thread_name"}
        for event in events:
            if event["ph"] == "X":
                rows[event["pid"], event["tid"]][1].append(event)
        for (_, lane), spans in rows.values():
            spans.sort(key=lambda e: (e["ts"], -e["dur"]))
            for before, after in zip(spans, spans[1:] if lane != "compute stream" else []):
                self.assertGreaterEqual(after["ts"], before["ts"] + before["dur"] - 1e-5, lane)
        return list(rows.values())

    TRACED = [("--hw", "dgx1", "--model", "resnet50", "--gpus", "1"),
              ("--hw", "dgx1", "--model", "resnet50", "--gpus", "4"),
              ("--hw", "dgx1", "--model", "resnet50", "--nodes", "2"),
              ("--hw", "dgx1", "--model", "resnet50", "--gpus", "4", "--stack", "mxnet-1.2", "--exchange", "ps"),
              ("--hw", "dgx1", "--model", "resnet50", "--gpus", "4", "--stack", "mxnet-1.2", "--exchange", "p2p"),
              ("--hw", "dgx1", "--model", "alexnet", "--input", "imagenet-records"),
              ("--hw", "dgx1", "--model", "resnet50", "--gpus", "4", "--pipeline-parallel", "4", "--accumulate", "8")]

    def test_a_trace_ends_with_its_step(self):
        for job in self.TRACED:
            with self.subTest(job=job):
                answer, events = self.traced(*job)
                step = 1e6 * answer["step_time_s"]["value"]
                rows = self.rows_of(events)
                spans = [span for _, row in rows for span in row]
                self.assertGreaterEqual(min(span["ts"] for span in spans), -1e-5)
                self.assertAlmostEqual(max(span["ts"] + span["dur"] for span in spans), step, delta=1e-6 * step)

    def test_links_of_a_trace_carry_what_the_table_of_links_says(self):
        for job in self.TRACED[1:5]:
            with self.subTest(job=job):
                answer, events = self.traced(*job)
                lanes = {lane: row for (process, lane), row in self.rows_of(events) if process == "links"}
                told = {e["args"]["name"]: e["args"]["bytes_per_step"] for e in events if "bytes_per_step" in e.get("args", {})}
                step = 1e6 * answer["step_time_s"]["value"]
                loaded = {link["name"]: link for link in answer["links"] if link["bytes"] > 0}
                self.assertGreater(len(loaded), 0)
                self.assertEqual(set(lanes), set(loaded))
                for name, link in loaded.items():
                    self.assertEqual(told[name], link["bytes"])
                    self.assertAlmostEqual(sum(span["dur"] for span in lanes[name]) / step, link["busy"], delta=0.02)

    NARROW = ["list", "list gpus", "list systems", "list networks", "list hosts", "list storage", "list stacks", "list models",
              "show dgx1", "show v100-sxm2-16gb", "show infiniband-edr", "show bert-large", "show mxnet-1.2", "topology --hw dgx2",
              "topology --hw dgx1 --nodes 4 --network infiniband-edr --collective all-reduce",
              "topology --hw dgx1 --route gpu0 gpu7 --bytes 100MB",
              "predict --hw dgx1 --nodes 4 --model bert-base --layers --kernels --links --host --samples 256K",
              "explain --hw v100-sxm2-16gb --model resnet50 --stack pytorch-1.13 --layers",
              "scale --hw dgx1 --model resnet50 --gpus 1,2,4,8 --samples 1281167",
              "memory --hw dgx1 --model inception_v3 --by layer --max-batch", "memory --hw v100-sxm2-16gb --model gpt2 --by layer",
              "memory --hw dgx1 --model resnet50 --by time", "memory --hw dgx1 --model inception_v3@mxnet --stack mxnet-18.04",
              "network --hw p4000 --nodes 2 --network 10gbe --stack mxnet-1.2 --exchange ps --model inception_v3",
              "compare --hw titan-xp,v100-sxm2-16gb --model resnet50,bert-base --batch 16,32 --stack pytorch-2.1,mxnet-1.2",
              "explain --hw dgx1 --model resnet50 --precision amp --measured 2600images/s",
              "explain --hw dgx1 --model resnet50 --stack mxnet-1.2", "validate --rows scenarios/published/u39kun.csv",
              "validate scenarios/seeds/gpu_comparison.toml", "--help"]

    def assert_narrow(self, text, width):
        for line in text.splitlines():
            self.assertLessEqual(len(line), width, line)

    def test_tables_fit_80_columns(self):
        for options in PredictJson.CONFIGURATIONS:
            self.assert_narrow(run("predict", *options, "--kernels", "--layers", "--samples", "256K").stdout, 80)
        for command in self.NARROW:
            words = [os.path.join(SOURCE, w) if w.startswith("scenarios/") else w for w in command.split()]
            with self.subTest(command=command):
                done = run(*words, TERM="xterm-256color", CLICOLOR_FORCE="1")
                self.assertIn(done.returncode, (0, 1), done.stderr)
                self.assertNotIn("\x1b", done.stdout + done.stderr)
                self.assert_narrow(done.stdout, 80)
        for verb in ("predict", "compare", "sweep", "explain", "network", "scale", "memory", "validate", "topology", "list", "show"):
            self.assert_narrow(run(verb, "--help").stdout, 80)

    def test_lists_are_json(self):
        for kind in ("gpus", "systems", "networks", "hosts", "storage", "stacks", "models"):
            result = json.loads(run("list", kind, "--format", "json").stdout)
            self.assertEqual(result["schema"], "tbdsim.list/1")
            for entry in result["entries"]:
                self.assertTrue(entry["id"] and entry["source"], entry)

    def test_show_model(self):
        result = json.loads(run("show", "resnet50", "--format", "json").stdout)
        self.assertEqual(result["parameters"], 25557032)
        for key in ("parameters", "forward_macs_per_sample", "backward_macs_per_sample", "saved_bytes_per_sample"):
            self.assertEqual(sum(layer[key] for layer in result["layers"]), result[key], key)

    def test_topology(self):
        result = json.loads(run("topology", "--hw", "dgx1", "--route", "gpu0", "gpu3", "--bytes", "1 GB", "--format", "json").stdout)
        self.assertEqual(result["peer_pairs"], 32)
        self.assertEqual(len(result["pairs"]), 56)
        self.assertEqual(result["ring_set"]["effective_rings"], 6)
        direct = result["ways"][0]
        self.assertEqual(direct["vertices"], ["gpu0", "gpu3"])
        self.assertAlmostEqual(direct["time_s"], direct["latency_s"] + 1e9 / direct["bandwidth_bytes_per_s"], delta=1e-12)


class Validate(unittest.TestCase):
    TABLE = os.path.join(DATA, "runs.csv")

    def result(self):
        return json.loads(run("validate", self.TABLE, "--format", "json").stdout)

    def test_keys(self):
        result = self.result()
        self.assertEqual(problems(result, VALIDATE), [])
        self.assertEqual(result["schema"], "tbdsim.validate/1")

    def test_rows(self):
        one, two, three = self.result()["rows"]
        self.assertAlmostEqual(one["error"], one["predicted"] / one["measured"] - 1, delta=1e-12)
        self.assertLess(one["low"], one["predicted"])
        self.assertEqual((one["use"], two["use"]), ("validation", "fit"))
        self.assertEqual(three["skipped"], 'unknown network "resnet5", did you mean one of "resnet50", "resnet50_v1.5", "resnet50_v2", '
                         '"fasterrcnn_resnet50_fpn", "maskrcnn_resnet50_fpn", "wide_resnet50_2"? See `tbdsim list models`; files of your own end in .onnx, .toml or .json')
        self.assertNotIn("predicted", three)

    def test_groups_are_over_time(self):
        result = self.result()
        one = result["rows"][0]
        self.assertEqual((result["groups"][0]["n"], result["groups"][0]["skipped"]), (1, 1))
        self.assertAlmostEqual(result["all"]["bias"], one["measured"] / one["predicted"] - 1, delta=1e-12)
        self.assertEqual(result["fitted_groups"][0]["n"], 1)

    def test_limit_both_sides(self):
        mean = self.result()["all"]["mean_ape"]
        with tempfile.TemporaryDirectory() as folder:
            table = os.path.join(folder, "known.csv")
            with open(self.TABLE) as whole, open(table, "w") as known:
                known.writelines(line for line in whole if not line.startswith("three,"))
            self.assertEqual(run("validate", table, "--max-mean-ape", repr(mean)).returncode, 0)
            self.assertEqual(run("validate", table, "--max-mean-ape", repr(mean * (1 - 1e-9))).returncode, 1)
        # A mean over fewer rows than the table has is no proof.
        left_out = run("validate", self.TABLE, "--max-mean-ape", "100%")
        self.assertEqual(left_out.returncode, 1)
        self.assertIn("three was not predicted (unknown network", left_out.stderr)
        self.assertEqual(run("validate", self.TABLE).returncode, 0)

    def test_a_claim_that_states_an_option_without_effect_is_not_evaluated(self):
        scenario = """schema = 1
[study]
name = "options without effect"
source = "assumed: test"
[grid]
hw = "titan-xp"
model = "resnet50"
precision = "fp32"
[[claim]]
id = "zero"
expr = "throughput(zero=1) > 0"
[[claim]]
id = "network"
expr = "throughput() > 0 and predict.throughput(network=10gbe) > 0"
[[claim]]
id = "what-if"
expr = "throughput(what_if=network-2x, network=10gbe, nodes=2) > throughput(nodes=2, network=10gbe)"
[[claim]]
id = "of the grid"
grid = { network = "10gbe", nodes = [1, 2] }
expr = "throughput() > 0"
"""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "idle.toml")
            Path(path).write_text(scenario, encoding="utf-8")
            done = run("validate", path, "--format", "csv")
        claims = {row["id"]: (row["holds"], row["problem"]) for row in csv.DictReader(io.StringIO(done.stdout))}
        self.assertEqual(claims, {
            "zero": ("false", "--zero 1: there is one copy of the network, and nothing to shard over it"),
            "network": ("false", "network 10gbe: without effect, since the job runs on one node; use --nodes, such as --nodes 2"),
            "what-if": ("true", ""), "of the grid": ("true", "")})

    def test_rows_in_csv(self):
        rows = list(csv.DictReader(io.StringIO(run("validate", self.TABLE, "--format", "csv").stdout)))
        self.assertEqual([row["id"] for row in rows], ["one", "two", "three"])
        self.assertEqual(rows[2]["predicted"], "")


class Process(unittest.TestCase):
    def test_words_of_the_user_do_not_steer_the_terminal(self):
        for words in (["predict", "--hw", "dg\x1b[31mx1", "--model", "resnet50"], ["show", "a\x1b[31m"],
                      ["predict", "--hw", "dgx1", "--model", "resnet50", "--set", "a\x1b[31m=1"],
                      ["predict", "--hw", "dgx1", "--model", "resnet50", "--what-if", "a\x1b[31m"]):
            done = run(*words)
            self.assertEqual(done.returncode, 2)
            self.assertNotIn("\x1b", done.stderr)
            self.assertIn("\\x1b[31m", done.stderr)

    def test_a_remark_is_made_once(self):
        done = run("predict", "--hw", "dgx1", "--model", "resnet50", "--what-if", "amp", "--what-if", "amp")
        self.assertEqual((done.returncode, done.stderr.count("note: parallel.precision set to amp")), (0, 1), done.stderr)

    def test_a_named_pipe_that_nobody_reads_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "pipe")
            os.mkfifo(pipe)
            report = run("predict", "--hw", "p4000", "--model", "lenet", "--report", pipe)
            self.assertEqual((report.returncode, report.stderr),
                             (2, f'tbdsim: cannot write "{pipe}": a named pipe that nobody reads\n'))
            sweep = run("sweep", "--hw", "p4000", "--model", "lenet", "-o", pipe)
            self.assertEqual((sweep.returncode, sweep.stderr),
                             (2, f"{pipe}: not a file; name a new one, or one that sweep -o wrote\n"))

    def test_a_named_pipe_that_nobody_writes_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            pipe = os.path.join(folder, "pipe.json")
            os.mkfifo(pipe)
            for words in (["calibrate", "import", pipe, "-o", os.path.join(folder, "out.csv")],
                          ["predict", "--hw", "dgx1", "--model", "resnet50", "--from-trace", pipe],
                          ["predict", "--hw", "dgx1", "--model", "resnet50", "--layout-from", pipe],
                          ["plan", "--hw", "dgx1", "--model", "gpt3-350m", "--precision", "fp16", "--global-batch", "8", "--prices", pipe]):
                done = run(*words)
                self.assertEqual((done.returncode, done.stderr), (2, f"{pipe}: expected a regular file, got a named pipe\n"), words)

    def test_an_input_is_not_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            machine = shutil.copy(os.path.join(SOURCE, "hardware", "gpus", "p4000.toml"), folder)
            before = Path(machine).read_bytes()
            for option in ("--report", "--trace"):
                done = run("predict", "--hw", machine, "--model", "lenet", option, machine)
                self.assertEqual((done.returncode, done.stderr),
                                 (2, f"tbdsim: {machine}: is read by the same command; write to another file\n"))
            self.assertEqual(Path(machine).read_bytes(), before)
            both = os.path.join(folder, "page.html")
            self.assertEqual(run("predict", "--hw", "p4000", "--model", "lenet", "--report", both, "--trace", both).returncode, 2)

    def test_every_page_names_its_command_and_replaces_no_other_file(self):
        table = os.path.join(SOURCE, "scenarios", "memory", "sockeye.csv")
        with tempfile.TemporaryDirectory() as folder:
            own = shutil.copy(os.path.join(DATA, "small_cnn.toml"), os.path.join(folder, "it's <b>mine.toml"))
            one = ["--hw", "p4000", "--model", own]
            for number, words in enumerate((["predict", *one], ["compare", *one], ["scale", *one, "--gpus", "1", "--samples", "256K"], ["memory", *one],
                                            ["memory", *one, "--batch", "1,2"], ["explain", *one], ["network", *one, "--nodes", "2", "--network", "ethernet-10g"],
                                            ["sweep", *one, "-o", os.path.join(folder, "s.db")], ["sweep", "export", os.path.join(folder, "s.db")],
                                            ["topology", "--hw", "dgx1"], ["validate", table])):
                page = os.path.join(folder, f"{number}.html")
                done = run(*words, "--report", page)
                self.assertIn(done.returncode, (0, 1), done.stderr)
                text = Path(page).read_text(encoding="utf-8")
                data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])
                self.assertEqual(data["verb"], words[0])
                self.assertEqual(shlex.split(data["command"]), ["tbdsim", *words, "--report", page])
                foreign = os.path.join(folder, "notes.html")
                Path(foreign).write_text("mine")
                done = run(*words, "--report", foreign)
                self.assertEqual((done.returncode, Path(foreign).read_text()), (2, "mine"), done.stderr)

    def test_same_bytes_every_time(self):
        table = os.path.join(SOURCE, "scenarios", "published", "mxnet_1_2.csv")
        for command in (["predict", "--hw", "dgx1", "--model", "resnet50", "--format", "json", "--kernels"],
                        ["validate", table, "--format", "json"], ["validate", table, "--rows"]):
            outputs = {run(*command, OMP_NUM_THREADS=threads).stdout for threads in ("1", "1", "2", "2")}
            self.assertEqual(len(outputs), 1, command)

    def test_broken_output_is_reported(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "--version"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (2, "tbdsim: cannot write the result: No space left on device\n"))

    def test_catalogue_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("list", TBDSIM_CATALOGUE=folder)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stderr, 'tbdsim: TBDSIM_CATALOGUE is "%s", which holds no hardware/gpus\n' % folder)
            # As installed: bin/tbdsim beside share/tbdsim.
            os.makedirs(os.path.join(folder, "bin"))
            os.makedirs(os.path.join(folder, "share", "tbdsim", "hardware", "gpus"))
            installed = shutil.copy(PROGRAM, os.path.join(folder, "bin"))
            result = json.loads(run("list", "--format", "json", program=installed, TBDSIM_CATALOGUE="").stdout)
            self.assertEqual(result["entries"][0], {"kind": "kind", "id": "gpus", "name": "gpus", "entries": 0, "source": ""})

    def test_calibrate_is_the_program_beside(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = shutil.copy(PROGRAM, folder)
            done = run("calibrate", "fit", program=alone)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stderr, "tbdsim: calibrate needs tbdsim-calibrate beside tbdsim; "
                             "cmake --build FOLDER --target tbdsim-calibrate makes it\n")
            beside = os.path.join(folder, "tbdsim-calibrate")
            with open(beside, "w") as file:
                file.write("#!/bin/sh\necho \"$@\"\nexit 3\n")
            os.chmod(beside, 0o755)
            done = run("calibrate", "fit", "a b", program=alone)
            self.assertEqual((done.returncode, done.stdout), (3, "fit a b\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
