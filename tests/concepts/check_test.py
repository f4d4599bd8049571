#!/usr/bin/env python3
"""Each rule of check.py: a small tree that obeys it passes, the same tree with one breach is reported."""
import pathlib
import tempfile
import unittest

import check

GOOD = {
    "model/stack/exchange.cpp": '{Exchange::allreduce, "allreduce", kEvery},\n{Exchange::ps, "ps", kEvery},\n'
                                'bool same(std::string_view word) { return word == "ps"; }\n',
    "model/stack/framework.cpp": '{Framework::mxnet, "mxnet", "MXNet"},\n',
    "model/schedule/resource.cpp": '{Resource::host, "host", true, true},\n',
    "model/workload/pass.cpp": '{Pass::forward, "forward", Phase::forward, false, false},\n',
    "model/schedule/pipeline/schedule_kind.cpp": '{ScheduleKind::zb_h1, "zb-h1", true},\n',
    "model/hardware/device.cpp": '{Precision::fp32, "fp32"},\n',
    "model/prediction/input_verdict.cpp": '{InputPart::storage, "storage"},\n',
    "model/support/vendor.cpp": '{Vendor::nvidia, "NVIDIA"},\n',
    "model/hardware/kernel_family.cpp": '{KernelFamily::gemm, "gemm", false},\n',
    "hardware/gpus/v100-sxm2-16gb.toml": "",
    "model/report/json.cpp": 'json["host"] = 1;\njson["host"]["seconds"] = 2;  // x == "ps"\nprint("ps");\n',
    "calibrate/fit/observations.cpp": 'if (sample.pass == "forward") return;\n',
}


def breaches(changes):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**GOOD, **changes}.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return check.check(folder)


class Concepts(unittest.TestCase):
    def test_a_good_tree_passes(self):
        self.assertEqual(breaches({}), [])

    def test_each_comparison_is_seen(self):
        for code in ('if (exchange == "ps") f();', 'if ("ps" != exchange) f();', 'exchange ==\n  "ps"',
                     'exchange == std::string_view("ps")', 'std::string("ps") == exchange', 'exchange.rfind("ps", 0) == 0',
                     'exchange.starts_with("ps")', 'name.find("ps") != npos', 'names->count("ps")', 'return costs["ps"];',
                     'costs.at(std::string("ps"))', 'word.compare("ps")', 'std::strcmp(word, "ps")'):
            with self.subTest(code):
                self.assertEqual([b.split(": ", 1)[1] for b in breaches({"model/study/scale.cpp": code + "\n"})],
                                 ['"ps" is compared as a word; it is a member of Exchange'])

    def test_file_and_line(self):
        self.assertEqual(breaches({"calibrate/fit/x.cpp": '\n/* "ps" ==\n*/ bool b = framework == "mxnet";\n'}),
                         ['calibrate/fit/x.cpp:3: "mxnet" is compared as a word; it is a member of Framework'])

    def test_every_table_and_the_devices_count(self):
        for word, what in (("host", "a member of Resource"), ("forward", "a member of Pass"), ("gemm", "a member of KernelFamily"),
                           ("NVIDIA", "a member of Vendor"), ("nvidia", "a member of Vendor"), ("v100-sxm2-16gb", "a device")):
            with self.subTest(word):
                self.assertEqual(breaches({"model/cost/x.cpp": f'a == "{word}";\n'}),
                                 [f'model/cost/x.cpp:1: "{word}" is compared as a word; it is {what}'])

    def test_a_table_counts_where_its_words_mean_its_members(self):
        for code, what in (('precision == "fp32";', "a member of Precision"), ('slowest == "storage";', "a member of InputPart")):
            with self.subTest(code):
                word = code.split('"')[1]
                self.assertEqual(breaches({"model/report/x.cpp": code + "\n"}),
                                 [f'model/report/x.cpp:1: "{word}" is compared as a word; it is {what}'])
                self.assertEqual(breaches({"model/cost/x.cpp": code + "\n"}), [])

    def test_other_words_and_uses_pass(self):
        for code in ('if (exchange == "p") f();', 'print("ps");', '// exchange == "ps"', 'json["ps"] = 1;', 'json["a"]["ps"] = 1;',
                     'table.text("ps")', "exchange == Exchange::ps", 'add("ps", exchange)'):
            with self.subTest(code):
                self.assertEqual(breaches({"model/study/scale.cpp": code + "\n"}), [])

    def test_a_table_that_moved_is_missed(self):
        self.assertEqual(breaches({"model/stack/framework.cpp": "// moved\n"}),
                         ["model/stack/framework.cpp:1: no row of Framework; where is its table now?"])

    def test_another_meaning_is_allowed_only_where_it_is_needed(self):
        file = "model/workload/zoo/vgg.cpp"
        self.assertEqual(check.OTHER_MEANINGS["the variant of a network, called after who ships it or how it ends"][file], {"torch7"})
        table = {"model/stack/framework.cpp": '{Framework::torch7, "torch7", "Torch7"},\n'}
        self.assertEqual(breaches({**table, file: 'variant == "torch7"\n'}), [])
        self.assertEqual(breaches({**table, file: "variant == kOther\n"}),
                         [f'{file}:1: "torch7" is no longer compared there; take it out of OTHER_MEANINGS'])


if __name__ == "__main__":
    unittest.main()
