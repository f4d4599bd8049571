"""The Python module answers what the command line prints, refuses what it refuses, and executes nothing of what it is given.

Usage: module_test.py PROGRAM SOURCE_DIR, with the module on PYTHONPATH
"""
import ast
import inspect
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import tbdsim
from tbdsim._question import TABLE

PROGRAM, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
JOB = {"hw": "dgx1", "model": "resnet50"}


def printed(*words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


class Executed(Exception):
    """Raised by what must not run."""


class Trap:
    """An object whose every conversion runs code."""

    def _run(self, *_):
        raise Executed

    __str__ = __repr__ = __int__ = __float__ = __index__ = __bool__ = __iter__ = __len__ = __fspath__ = __format__ = _run


class SlyText(str):
    def __str__(self):
        raise Executed


class Answers(unittest.TestCase):
    def same(self, answer, *words):
        code, out, _ = printed(*words, "--format", "json")
        self.assertIn(code, (0, 1))
        self.assertEqual(json.dumps(answer), json.dumps(json.loads(out)))

    def test_every_verb_answers_as_printed(self):
        job = ("--hw", "dgx1", "--model", "resnet50")
        self.same(tbdsim.predict(**JOB, batch=16, layers=True), "predict", *job, "--batch", "16", "--layers")
        self.same(tbdsim.scale(**JOB, gpus=[1, 2], samples="1M"), "scale", *job, "--gpus", "1,2", "--samples", "1M")
        self.same(tbdsim.compare(hw=["titan-xp", "p4000"], model="resnet50", power_price="0.2 USD/kWh"), "compare", "--hw",
                  "titan-xp,p4000", "--model", "resnet50", "--power-price", "0.2 USD/kWh")
        self.same(tbdsim.memory(**JOB, max_batch=True), "memory", *job, "--max-batch")
        self.same(tbdsim.explain(**JOB), "explain", *job)
        kept = ["pipeline-parallel=1", "tensor-parallel=1"]
        tried = ["stack.parallel.overlaps_gradients=true,false"]
        self.same(tbdsim.plan(hw="dgx-a100-80gb", model="gpt2", gpus=8, global_batch=64, top=2, keep=kept, try_=tried), "plan", "--hw",
                  "dgx-a100-80gb", "--model", "gpt2", "--gpus", "8", "--global-batch", "64", "--top", "2", "--keep", kept[0], "--keep", kept[1],
                  "--try", tried[0])
        self.same(tbdsim.plan(hw="dgx-a100-80gb", model="gpt2", gpus=8, global_batch=64, top=2, keep=kept), "plan", "--hw",
                  "dgx-a100-80gb", "--model", "gpt2", "--gpus", "8", "--global-batch", "64", "--top", "2", "--keep", kept[0], "--keep", kept[1])
        table = os.path.join(ROOT, "scenarios", "seeds")
        self.same(tbdsim.validate(table), "validate", table)

    def test_a_sweep_without_a_file_has_the_rows_of_one_with_it(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "grid.db")
            rows = tbdsim.sweep(**JOB, batch=[16, 32], gpus="1,2")
            self.assertEqual(rows, tbdsim.sweep(**JOB, batch=[16, 32], gpus="1,2", output=file))
            self.assertEqual(rows, json.loads(printed("sweep", "export", file, "--format", "json")[1]))
            self.assertEqual(len(rows.rows()), 4)
            os.remove(file)
            text = pathlib.Path(folder, "grid.csv")
            tbdsim.sweep(**JOB, batch=[16, 32], output=text)
            self.assertEqual(len(text.read_text().splitlines()), 3)

    def test_set_takes_text_lists_and_dictionaries(self):
        one = tbdsim.predict(**JOB, set="hw.device.memory_bandwidth=2x")
        self.assertEqual(one, tbdsim.predict(**JOB, set=["hw.device.memory_bandwidth=2x"]))
        self.assertEqual(one, tbdsim.predict(**JOB, set={"hw.device.memory_bandwidth": "2x"}))
        self.assertLess(one.step_time_s.value, tbdsim.predict(**JOB).step_time_s.value)

    def test_attributes_rows_and_notices(self):
        answer = tbdsim.predict(**JOB)
        self.assertIs(type(answer), tbdsim.Prediction)
        self.assertEqual(answer.step_time_s.value, answer["step_time_s"]["value"])
        self.assertEqual(answer.rows()[0]["step_time_s.value"], answer.step_time_s.value)
        with self.assertRaisesRegex(AttributeError, "this answer has no 'step_time'; it has schema, tool"):
            answer.step_time
        with self.assertRaisesRegex(TypeError, "^limit: not a list of rows; lists of rows are limits, provenance$"):
            answer.rows("limit")
        self.assertEqual(tbdsim.predict(**dict(JOB, gpus=1)).notices, ("USD/h is that of all 8 GPUs of dgx1; one is in use",))

    def test_no_key_hides_behind_a_method(self):
        def keys(value):
            if isinstance(value, dict):
                for key, inner in value.items():
                    yield key
                    yield from keys(inner)
            elif isinstance(value, list):
                for inner in value:
                    yield from keys(inner)

        answers = [tbdsim.predict(**JOB, layers=True, kernels=True, host=True, links=True), tbdsim.memory(**JOB), tbdsim.explain(**JOB)]
        found = {key for answer in answers for key in keys(answer)} - {"notices"}
        self.assertEqual({key for key in found if hasattr(tbdsim.Prediction, key)}, set())

    def test_frames_and_arrays(self):
        answer = tbdsim.compare(hw=["titan-xp", "p4000"], model="resnet50")
        column = [row.throughput.value for row in answer["rows"]]
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed")
        self.assertEqual(answer.array("throughput.value").tolist(), column)
        self.assertEqual(tbdsim.explain(**JOB).array("gain").dtype, numpy.dtype(float))
        with self.assertRaisesRegex(KeyError, "no row has 'speed'; columns are schema"):
            answer.array("speed")
        try:
            import pandas
        except ImportError:
            return
        frame = answer.frame()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(frame["throughput.value"].tolist(), column)
        self.assertEqual(len(tbdsim.predict(**JOB, layers=True).frame("layers")), len(tbdsim.predict(**JOB, layers=True).layers))

    def test_numbers_of_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed")
        self.assertEqual(tbdsim.predict(**JOB, batch=numpy.int64(16)), tbdsim.predict(**JOB, batch=16))
        self.assertEqual(tbdsim.scale(**JOB, gpus=numpy.array([1, 2]), samples="1M"), tbdsim.scale(**JOB, gpus=[1, 2], samples="1M"))

    def test_a_file_that_changed_is_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "mine.toml")
            text = pathlib.Path(ROOT, "hardware", "gpus", "titan-xp.toml").read_text()
            file.write_text(text)
            before = tbdsim.predict(hw=file, model="resnet50").memory.capacity_bytes
            line = next(line for line in text.splitlines() if line.startswith("memory_capacity"))
            file.write_text(text.replace(line, 'memory_capacity = "24 GiB"'))
            self.assertEqual(before, 12 * 2**30)
            self.assertEqual(tbdsim.predict(hw=file, model="resnet50").memory.capacity_bytes, 24 * 2**30)


class Refusals(unittest.TestCase):
    def refused(self, expected, function, **arguments):
        with self.assertRaises(tbdsim.Error) as caught:
            function(**arguments)
        self.assertEqual(str(caught.exception), expected)

    def test_what_the_command_line_refuses_is_refused_in_its_words(self):
        code, _, text = printed("predict", "--hw", "dgx9", "--model", "resnet50")
        self.assertEqual(code, 2)
        self.refused(text.replace("tbdsim: ", "", 1).rstrip("\n"), tbdsim.predict, hw="dgx9", model="resnet50")
        code, _, text = printed("predict", "--hw", "dgx1", "--model", "resnet50", "--batch", "0")
        self.refused(text.replace("tbdsim: ", "", 1).rstrip("\n"), tbdsim.predict, **JOB, batch=0)

    def test_every_unknown_name_is_told(self):
        self.refused('predict: unknown option "--bach", did you mean "--batch"?\npredict: unknown option "--gpu", did you mean "--gpus"?',
                     tbdsim.predict, **JOB, bach=1, gpu=2)
        self.refused("predict: --format: the answer is JSON here", tbdsim.predict, **JOB, format="csv")

    def test_no_value_becomes_an_option(self):
        self.refused('unknown network "--help"; see `tbdsim list models`; files of your own end in .onnx, .toml or .json',
                     tbdsim.predict, hw="dgx1", model="--help")
        with self.assertRaisesRegex(tbdsim.Error, "no such file|cannot read|--help"):
            tbdsim.validate("--help")
        self.refused("predict: --model: a name or value without NUL characters is expected", tbdsim.predict, hw="dgx1", model="resnet50\0x")

    def test_positions_of_files(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "mine.toml")
            file.write_text("schema = 1\nnope = 3\n")
            with self.assertRaises(tbdsim.Error) as caught:
                tbdsim.predict(hw=file, model="resnet50")
            self.assertIn((str(file), 2), [(error["file"], error["line"]) for error in caught.exception.errors])

    def test_objects_of_other_types(self):
        def wrong(expected, function, *given, **arguments):
            with self.assertRaises(TypeError) as caught:
                function(*given, **arguments)
            self.assertEqual(str(caught.exception), expected)

        trap = Trap()
        wrong("predict: batch: expected text or a number, got Trap", tbdsim.predict, **JOB, batch=trap)
        wrong("predict: batch: expected text or a number, got bool", tbdsim.predict, **JOB, batch=True)
        wrong("predict: batch: expected text or a number, got list", tbdsim.predict, **JOB, batch=[1, 2])
        wrong("predict: batch: expected text or a number, got bytes", tbdsim.predict, **JOB, batch=b"16")
        wrong("predict: hw: expected text or a number, got dict", tbdsim.predict, hw={}, model="resnet50")
        wrong("predict: layers: expected True or False, got Trap", tbdsim.predict, **JOB, layers=trap)
        wrong("predict: layers: expected True or False, got int", tbdsim.predict, **JOB, layers=1)
        wrong("scale: gpus: expected text, a number, or a list of them, got Trap", tbdsim.scale, **JOB, gpus=[1, trap])
        wrong('predict: set: expected text such as "KEY=VALUE", a list of them, or a dictionary, got Trap', tbdsim.predict, **JOB,
              set={"hw.device.memory_bandwidth": trap})
        wrong("predict: expected no positional arguments, got 1", tbdsim.predict, "dgx1")
        wrong("validate: file is given twice", tbdsim.validate, "a.csv", file="b.csv")
        self.assertEqual(tbdsim.predict(hw=SlyText("dgx1"), model="resnet50"), tbdsim.predict(**JOB))


class Shape(unittest.TestCase):
    def test_signatures_and_documentation_are_those_of_the_option_table(self):
        for verb in TABLE:
            function = getattr(tbdsim, verb)
            shown = printed(verb, "--help")[1]
            for name in inspect.signature(function).parameters:
                self.assertTrue(name == "file" or f"--{name.rstrip('_').replace('_', '-')}" in shown, f"{verb} {name}")
                self.assertIn(f"\n{name}: ", function.__doc__)

    def test_stubs_are_python_and_name_every_function_and_class(self):
        text = pathlib.Path(tbdsim.__file__).with_suffix(".pyi").read_text()
        names = {node.name for node in ast.parse(text).body if hasattr(node, "name")}
        self.assertLessEqual(set(tbdsim.__all__) - {"__version__"}, names)
        self.assertIn("class PredictionStepTimeS(Answer):\n    value: float\n    low: float\n    high: float\n", text)

    def test_the_catalogue_is_looked_for_where_it_is_named(self):
        code = "import tbdsim\ntry: tbdsim.predict(hw='dgx1', model='resnet50')\nexcept ValueError as error: print(error)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ, TBDSIM_CATALOGUE="/nowhere"))
        self.assertEqual(done.stdout, 'TBDSIM_CATALOGUE is "/nowhere", which holds no hardware/gpus\n\n', done.stderr)


class Threads(unittest.TestCase):
    def test_threads_get_the_same_answers(self):
        alone = tbdsim.predict(**JOB)
        found = []

        def work(batch):
            for _ in range(20):
                found.append((batch, tbdsim.predict(**JOB, batch=batch)))

        threads = [threading.Thread(target=work, args=(batch,)) for batch in (16, 32, 32, 64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(found), 80)
        self.assertTrue(all(answer == alone for batch, answer in found if batch == 32))

    def test_a_long_call_lets_other_threads_run(self):
        ended, ran = threading.Event(), []

        def long():
            tbdsim.validate(os.path.join(ROOT, "scenarios", "seeds"))
            ended.set()

        thread = threading.Thread(target=long)
        thread.start()
        while not ended.is_set():
            ran.append(1)
        thread.join()
        self.assertGreater(len(ran), 1000)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
