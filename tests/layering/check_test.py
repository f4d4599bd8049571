#!/usr/bin/env python3
"""Each rule of check.py: a small tree that obeys it passes, the same tree with one breach is reported."""
import pathlib
import tempfile
import unittest

import check

LAYERS = """set(layer_support)
set(layer_units support)
set(layer_cost support
    units)
set(layer_schedule ${layer_cost} cost)
set(layer_fit cost)
set(layer_calibrate_cli ${layer_fit} fit)
"""

GOOD = {
    "cmake/layers.cmake": LAYERS,
    "model/support/result.hpp": "#pragma once\n#include <string>\n",
    "model/units/parse.hpp": '#pragma once\n#include "model/support/result.hpp"\n',
    "model/cost/gemm.hpp": '#pragma once\n#include "model/units/parse.hpp"\n#include "model/cost/shape.hpp"\n',
    "model/cost/gemm.cpp": "namespace tbdsim {\nstatic constexpr int kTile = 4;\nint f() { return kTile; }\n}\n",
    "model/schedule/lower.cpp": '#include "model/cost/gemm.hpp"\n#include "model/support/result.hpp"\n',
    "calibrate/fit/gemm_fit.cpp": '#include "model/cost/gemm.hpp"\n',
    "calibrate/cli/main.cpp": '#include "calibrate/fit/gemm_fit.hpp"\n#include <CLI/CLI.hpp>\n',
    "model/cli/main.cpp": "#include <CLI/CLI.hpp>\n",
    "tests/cost/gemm_test.cpp": "// static int kept = 0;\n",
}


def breaches(changes):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**GOOD, **changes}.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return check.check(folder)


class Layering(unittest.TestCase):
    def test_a_good_tree_passes(self):
        self.assertEqual(breaches({}), [])

    def test_forbidden_include(self):
        self.assertEqual(breaches({"model/units/parse.cpp": '#include <string>\n#include "model/cost/gemm.hpp"\n'}),
                         ["model/units/parse.cpp:2: units may not include cost (model/cost/gemm.hpp)"])

    def test_an_allowed_layer_of_an_allowed_layer_is_not_allowed_by_itself(self):
        self.assertEqual(breaches({"calibrate/fit/gemm_fit.cpp": '#  include "model/units/parse.hpp"\n'}),
                         ["calibrate/fit/gemm_fit.cpp:1: fit may not include units (model/units/parse.hpp)"])

    def test_model_never_includes_calibrate(self):
        self.assertEqual(breaches({"model/cost/gemm.cpp": '#include "calibrate/fit/gemm_fit.hpp"\n'}),
                         ["model/cost/gemm.cpp:1: model/ may not include calibrate/fit/gemm_fit.hpp"])

    def test_the_json_parts_are_for_the_report_sources(self):
        self.assertEqual(breaches({"model/report/json_parts.hpp": "#pragma once\n#include <nlohmann/json.hpp>\n",
                                   "model/report/x.hpp": '#pragma once\n#include "model/report/json_parts.hpp"\n'}),
                         ["model/report/x.hpp:2: model/report/json_parts.hpp is for sources of model/report/"])

    def test_unknown_folder(self):
        self.assertEqual(breaches({"model/extra/x.cpp": '#include "model/support/result.hpp"\n'}),
                         ["model/extra/x.cpp:1: folder extra is not in cmake/layers.cmake"])

    def test_relative_include(self):
        self.assertEqual(breaches({"model/cost/gemm.cpp": '#include "../units/parse.hpp"\n'}),
                         ['model/cost/gemm.cpp:1: include "../units/parse.hpp" from the repository root'])

    def test_cycle_in_the_table(self):
        table = LAYERS.replace("set(layer_support)", "set(layer_support units)")
        self.assertEqual(breaches({"cmake/layers.cmake": table}),
                         ["cmake/layers.cmake:1: layer support reaches itself", "cmake/layers.cmake:1: layer units reaches itself"])

    def test_a_circle_of_files(self):
        self.assertEqual(breaches({"model/cost/shape.hpp": '#pragma once\n#include "model/cost/tile.hpp"\n',
                                   "model/cost/tile.cpp": '#include "model/cost/gemm.hpp"\n'}),
                         ["model/cost/gemm.hpp:3: includes run in a circle: "
                          "model/cost/gemm > model/cost/shape > model/cost/tile > model/cost/gemm"])

    def test_header_without_guard(self):
        self.assertEqual(breaches({"model/cost/shape.hpp": "// a comment\n#pragma once\n"}),
                         ["model/cost/shape.hpp:1: the first line of a header is #pragma once"])

    def test_mutable_state(self):
        for line, what in (("static int calls = 0;", "static data that can change"),
                           ("  static std::vector<int> kept;", "static data that can change"),
                           ("inline static std::map<int, Name> names{};", "static data that can change"),
                           ("thread_local int depth = 0;", "thread_local state"),
                           ("int calls = 0;", "a variable at namespace scope"),
                           ("std::vector<int> kept;", "a variable at namespace scope"),
                           ("Registry& registry() { return Registry::instance(); }", "a singleton")):
            with self.subTest(line):
                self.assertIn(f"model/cost/state.cpp:1: {what}", breaches({"model/cost/state.cpp": line + "\n"}))

    def test_what_is_no_mutable_state(self):
        for line in ("static const int kTile = 4;", "  static Result<Name> open(const std::string& path);",
                     "  [[nodiscard]] static SimTime from(Seconds t) { return {1}; }", "constexpr double kHour = 3600.0;",
                     "// static int calls = 0;", '  print("static int calls = 0;");', "int run(int argc);", "  int local = 0;",
                     "static_assert(true);", "const int kTile = 4;", "inline constexpr Bounds kPositive{0.0, 1.0, true};",
                     "using Errors = std::vector<Error>;", "Errors in_order(std::vector<Note> notes) {"):
            with self.subTest(line):
                self.assertEqual(breaches({"model/cost/state.cpp": line + "\n"}), [])

    def test_length_on_both_sides(self):
        self.assertEqual(breaches({"model/cost/long.cpp": "//\n" * 400}), [])
        self.assertEqual(breaches({"model/cost/long.cpp": "//\n" * 401}),
                         ["model/cost/long.cpp:1: 401 lines; above 400 say 'Long because ...' at the top"])
        self.assertEqual(breaches({"model/cost/long.cpp": "// Long because it is a table.\n" + "//\n" * 400}), [])
        self.assertEqual(breaches({"model/cost/long.hpp": "#pragma once\n" + "//\n" * 149}), [])
        self.assertEqual(breaches({"model/cost/long.hpp": "#pragma once\n" + "//\n" * 150}),
                         ["model/cost/long.hpp:1: 151 lines; above 150 say 'Long because ...' at the top"])

    def test_functions_on_both_sides(self):
        def function(lines):
            return "int f(int a,\n      int b) {\n" + "  a += b;\n" * (lines - 3) + "}\n"

        self.assertEqual(breaches({"model/cost/long.cpp": function(60)}), [])
        self.assertEqual(breaches({"model/cost/long.cpp": function(61)}),
                         ["model/cost/long.cpp:1: a function of 61 lines; above 60 say 'Long because ...' over it"])
        self.assertEqual(breaches({"model/cost/long.cpp": "// Long because it is a table.\n" + function(61)}), [])
        page = "std::string_view page() {\n  return R\"html(\n" + "<p>\n" * 100 + ")html\";\n}\n"
        self.assertEqual(breaches({"model/cost/long.cpp": page}), [])

    def test_one_type_of_a_name(self):
        text = "namespace tbdsim {\n\nstruct Step {\n};\n\n}  // namespace tbdsim\n"
        hidden = text.replace("struct", "namespace {\nstruct").replace("};", "};\n}  // namespace")
        self.assertEqual(breaches({"model/cost/a.hpp": "#pragma once\n" + text, "model/cost/b.hpp": "#pragma once\n" + text}),
                         ["model/cost/b.hpp:4: model/cost/a.hpp defines another tbdsim::Step"])
        self.assertEqual(breaches({"model/cost/a.hpp": "#pragma once\n" + text, "model/cost/b.cpp": hidden}), [])

    def test_one_user_of_a_library(self):
        self.assertEqual(breaches({"model/cli/other.cpp": "#include <CLI/CLI.hpp>\n"}),
                         ["model/cli/other.cpp:1: CLI/ is already included by model/cli/main.cpp; one file may"])
        self.assertEqual(breaches({"model/cost/x.hpp": "#pragma once\n#include <toml++/toml.h>\n"}),
                         ["model/cost/x.hpp:2: toml++/ in a header"])

    def test_one_folder_of_a_library(self):
        self.assertEqual(breaches({"model/report/x.cpp": "#include <nlohmann/json.hpp>\n"}), [])
        self.assertEqual(breaches({"model/cost/x.cpp": "#include <nlohmann/json.hpp>\n"}),
                         ["model/cost/x.cpp:1: nlohmann/ belongs into sources of model/report/ or calibrate/cli/ or model/input/ or model/trace/"])

    def test_vague_names(self):
        self.assertEqual(breaches({"model/cost/utils.hpp": "#pragma once\n"}), ["model/cost/utils.hpp:1: a name that says nothing"])
        self.assertEqual(breaches({"tests/common/x.cpp": ""}), ["tests/common:1: a name that says nothing"])

    def test_paths_of_one_machine(self):
        self.assertEqual(breaches({"hardware/a.toml": "# from ../" + "shared/data\n"}), ["hardware/a.toml:1: a path of one machine"])
        self.assertEqual(breaches({"README.md": "\n/" + "work/main\n"}), ["README.md:2: a path of one machine"])


if __name__ == "__main__":
    unittest.main()
