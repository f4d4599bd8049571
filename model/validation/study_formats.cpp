#include "model/validation/study_formats.hpp"

namespace tbdsim {
namespace {

constexpr KeyMeaning kScenario[] = {
    {"", "**`schema`**", "1", ""},
    {"[study]", "**`name`**, **`source`**, `description`",
     "what it is about and from where; the source is that of every claim without its own", ""},
    {"[study]", "`tables`", "measured-run tables to assess as well, paths from the scenario", "none"},
    {"[grid]", "options of jobs",
     "without dashes, as `hw = \"dgx1\"`, `batch = [16, 32]`; a list makes one evaluation (of a claim) or one row (of a sweep) "
     "for each value. Only options that change a prediction are taken. Files lie beside the scenario",
     "none"},
    {"[[measured]]", "columns of a measured-run table", "rows of one", "none"},
    {"[[claim]]", "**`id`**, **`expr`**", "unique name, and the claim, as `scenarios/README.md` says", ""},
    {"[[claim]]", "`tolerance`",
     "`\"10 %\"` of the right side, or an amount such as `\"0.05\"` or `\"0.04 GB\"`; the same as `within 10 %` in the "
     "expression",
     "exact"},
    {"[[claim]]", "`use`",
     "`validation`; `lookup`: every function reads a value of the catalogue (`name=`), none is predicted; `fit`: constants were "
     "set with this figure; `trivial`: can hardly fail; `control`: nobody published it, it leaves out a mechanism of this "
     "project. The latter three are shown, not counted; look-ups are counted and told",
     "`lookup` where it is one, else `validation`"},
    {"[[claim]]", "`source`, `reason`, `grid`",
     "where the figure was published; why it fails; options in place of the scenario's", ""},
};

constexpr KeyMeaning kMeasuredRunTable[] = {
    {"", "**`id`**", "unique name of the row", ""},
    {"", "**`hw`**",
     "`--hw`, a device (one board in a plain PCIe host), a system, or a file. Files of all columns lie beside the table", ""},
    {"", "**`model`**", "`--model`; a bare name means the variant that the stack's framework ships", ""},
    {"", "`stack`", "`--stack`, with the version the source states; the nearest catalogued version answers for it", ""},
    {"", "`precision`, `gpus`, `nodes`, `network`, `seq_len`, `exchange`, `optimizer`, `input`", "the options of these names",
     ""},
    {"", "`batch_per_gpu`", "`--batch`", ""},
    {"", "`options`",
     "further options, as on the command line: `--image 299 --devices 0,3`; of a `bus_bandwidth` row `--collective all-reduce "
     "--bytes 1048576`, and if known `--nccl 2.12 --launch one-process`. A row with an option that says nothing about its metric "
     "is "
     "skipped with the reason",
     ""},
    {"", "**`metric`**, **`unit`**",
     "what was measured: `throughput` in `samples/s`; `step_time_s`, `forward_s`, `backward_s`, `forward_backward_s`, "
     "`weight_update_s` in `s`; `peak_memory_bytes`, `peak_allocated_bytes`, `peak_reserved_bytes`, `pre_training_bytes` in "
     "`bytes` (of several GPUs that of the fullest; `least_peak_memory_bytes` that of the emptiest); `max_batch_per_gpu` in "
     "`samples`; `bus_bandwidth` in `bytes/s`; `efficiency` in `1`, throughput over that of as many single GPUs",
     ""},
    {"", "**`measured`**", "the number, above zero", ""},
    {"", "`spread`", "one standard deviation of the runs behind a median, of two runs half their range; empty: one run", ""},
    {"", "`use`", "`fit`: a parameter was set with this row, so it never counts towards accuracy; `validation` (default)", ""},
    {"", "`group`", "one published table: framework and device", ""},
    {"", "`source`", "repository, path and commit, or page", ""},
};

constexpr FileFormat kFormats[] = {
    {"Scenario", "a file for `validate`; its `[grid]` for `sweep --grid`", kScenario},
    {"Measured-run table",
     "CSV with a header row, for `validate`. Columns map to the options of `predict`; an empty cell is the option's default",
     kMeasuredRunTable},
};

}  // namespace

std::span<const FileFormat> study_formats() { return kFormats; }

}  // namespace tbdsim
