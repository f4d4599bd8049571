#include "model/configuration/framework_arguments/framework_format.hpp"

namespace tbdsim {
namespace {

constexpr KeyMeaning kKeys[] = {
    {"", "**`name`**, **`title`**, **`source`**", "texts", ""},
    {"", "**`form`**", "how it writes settings: `arguments`, `toml`, `json`, `overrides`", ""},
    {"", "**`stack`**", "where `--stack` names none", ""},
    {"", "`network`", "settings that describe the network, which `--model` names; a `*` at the end stands for any", "none"},
    {"", "`no_cost`", "settings that do not change the cost of a step", "none"},
    {"", "`divides_layers`", "it refuses layers that do not divide over the parts of an interleaved pipeline", "false"},
    {"", "`unsaid`", "\"option=value\" that it has no setting for and needs none: always so, or said elsewhere", "none"},
    {"[[setting]]", "**`key`**, `also`", "its name, with dots between tables; names in other releases", "none"},
    {"[[setting]]", "`option`", "option of the job that it stands for", "none"},
    {"[[setting]]", "`parallel`", "key of the stack's `[parallel]` table that it sets, in place of `option`", "none"},
    {"[[setting]]", "`unmodelled`, `harmless`",
     "what it changes that is not modelled, with any value or with those of `values`; values with which it does not", "none"},
    {"[[setting]]", "`rule`",
     "what its value is: `value`, `factor` of the GPUs, `sharded-copies`, `replicas`, `keeps-gathered` (between "
     "forward and backward), `layers`, `layers-per-part`; "
     "`first-counts`, `last-counts`: the table of words or the head counts as a layer of its stage",
     "`value`"},
    {"[[setting]]", "`flag`", "it stands without a value", "false"},
    {"[[setting]]", "`values`", "\"theirs=ours\"; theirs `*` is any other, ours `*` the same, ours empty says nothing",
     "the same values"},
    {"[[setting]]", "`each`", "size that a unit of the value stands for", "it is no size"},
    {"[[setting]]", "`absent`", "value that holds where it is not stated", "none"},
    {"[[setting]]", "`when`", "\"key=value\", beside which alone it has a meaning", "always"},
    {"[[setting]]", "`against`", "\"key=value\", beside which the framework refuses it", "none"},
    {"[[setting]]", "`beside`", "\"key=value\" that are written with it", "none"},
    {"[[setting]]", "`written`", "false: it is read, not written", "true"},
};

constexpr FileFormat kFormats[] = {{"Settings of a training framework",
                                    "`hardware/frameworks/`, for `--layout-from` and `--as`. The first row of an option that a "
                                    "file states holds",
                                    kKeys}};

}  // namespace

std::span<const FileFormat> framework_format() { return kFormats; }

}  // namespace tbdsim
