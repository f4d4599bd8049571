// Tables of other tools, turned into samples; every mistake by its message.
#include "calibrate/decode/foreign_table.hpp"

#include "calibrate/decode/sample_writer.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using namespace tbdsim::calibrate;
using Catch::WithinRel;

namespace {

const ForeignDefaults kBoard{"h100-sxm5-80gb", "bf16", "", "", true, false};

constexpr const char* kNccl =
    "# nThread 1 nGpus 2 minBytes 1024 maxBytes 1048576 step: 4(factor)\n"
    "# nccl-tests version 2.13.9 nccl-headers=22105 nccl-library=22105\n"
    "# Collective test starting: all_gather_perf\n"
    "# Using devices\n"
    "#  Rank  0 Group  0 Pid  1 on      node1 device  0 [0x07] NVIDIA A100-SXM4-80GB\n"
    "#  Rank  1 Group  0 Pid  1 on      node1 device  1 [0x0b] NVIDIA A100-SXM4-80GB\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
    "        1024           128      half    none      -1     9.08    0.11    0.06      0     9.02    0.11    0.06      0\n"
    "     1048576        131072      half    none      -1    19.90   52.69   26.35      0    19.80   52.96   26.48      0\n"
    "# Avg bus bandwidth    : 13.2\n";

constexpr const char* kNsight =
    "Processing [report1.sqlite]...\n"
    "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
    "60.0,6000000,30,200000.0,199000,180000,230000,900.0,\"sm90_xmma_gemm_bf16bf16_tn<1, 2>\"\n"
    "30.0,3000000,10,300000.0,299000,280000,330000,900.0,ncclDevKernel_AllReduce_Sum_f32_RING_LL\n"
    "10.0,1000000,40,25000.0,24000,20000,30000,900.0,\"void at::native::vectorized_elementwise_kernel<4>\"\n";

constexpr const char* kProfiler =
    "-----------  ------------  ------------  ------------  ------------  ------------\n"
    "       Name    Self CPU %      Self CPU     Self CUDA     CUDA total    # of Calls\n"
    "-----------  ------------  ------------  ------------  ------------  ------------\n"
    "   aten::mm        10.00%       1.000ms       2.500ms       2.500ms            10\n"
    "ampere_bf16_s16816gemm         0.00%       0.000us       2.500ms       2.500ms            10\n"
    "flash_fwd_kernel         0.00%       0.000us     500.000us     500.000us             5\n"
    "-----------  ------------  ------------  ------------  ------------  ------------\n"
    "Self CPU time total: 10.000ms\n";

}  // namespace

TEST_CASE("formats are known by their header") {
  CHECK(format_of("m,n,k,ms\n1,2,3,4\n") == ForeignFormat::products);
  CHECK(format_of("# a note\nk, m, n, time_us\n") == ForeignFormat::products);
  CHECK(format_of(kNccl) == ForeignFormat::nccl_tests);
  CHECK(format_of(kNsight) == ForeignFormat::nsight_systems);
  CHECK(format_of(kProfiler) == ForeignFormat::pytorch_profiler);
  // As spreadsheets write them.
  CHECK(format_of("\xEF\xBB\xBFm,n,k,ms\r\n1,2,3,4\r\n") == ForeignFormat::products);
  CHECK(format_of("m;n;k;ms\n1;2;3;0,5\n") == ForeignFormat::products);
  CHECK(format_of("m\tn\tk\tms\n1\t2\t3\t4\n") == ForeignFormat::products);
  CHECK(format_of("\"m\",\"n\",\"k\",\"ms\"\n1,2,3,4\n") == ForeignFormat::products);
  CHECK_FALSE(format_of("time,name\n1,2\n"));
  CHECK_FALSE(format_of(""));
}

TEST_CASE("a table of products") {
  const auto samples = import_products("m,n,k,ms,dtype\n4096,4096,1024,0.25,bfloat16\n8,512,512,0.01,half\n", "mine.csv", kBoard);
  REQUIRE(samples);
  REQUIRE(samples->size() == 2);
  CHECK(sample_row(samples->front()) ==
        "h100-sxm5-80gb,gemm,matmul,bf16,forward,b=1;m=4096;n=4096;k=1024;ta=0;tb=1,0.00025,,kernel,,,,,,,,,,\n");
  CHECK(samples->back().precision == "fp16");
  for (const auto& [column, seconds] : {std::pair{"us", 5e-6}, {"time_ms", 5e-3}, {"s", 5.0}}) {
    const auto one = import_products(std::string("m,n,k,") + column + "\n16,16,16,5\n", "mine.csv", kBoard);
    REQUIRE(one);
    CHECK_THAT(one->front().time.base(), WithinRel(seconds, 1e-12));
  }
}

TEST_CASE("mistakes in a table of products, to the letter") {
  const auto message = [](const char* text) {
    const auto read = import_products(text, "mine.csv", kBoard);
    REQUIRE_FALSE(read);
    return to_text(read.error());
  };
  CHECK(message("m,n,k,ms,us\n1,2,3,4,5\n").find("two columns of times, ms and us: leave one") != std::string::npos);
  CHECK(message("m,n,k\n1,2,3\n").find("no column of times: expected one of ms, time_ms, us, time_us, s, time_s") !=
        std::string::npos);
  CHECK(message("m,n,k,ms\n1,2,3,\n").find("ms: expected a number, got an empty field") != std::string::npos);
  CHECK(message("m,n,k,ms\n1,2,3,0\n").find("ms: expected a time above 0, got \"0\"") != std::string::npos);
  CHECK(message("m,n,k,ms\n1,2.5,3,1\n").find("n: expected a whole number of at least 1, got \"2.5\"") != std::string::npos);
  CHECK(message("m,n,k,ms,b,batch\n1,2,3,1,1,4\n").find("two columns for the same, b and batch: leave one") != std::string::npos);
  CHECK(message("m,n,k,ms,dtype\n1,2,3,1,int4\n").find("unknown precision \"int4\"") != std::string::npos);
  CHECK(message("m;n;k;ms\n1;2;3;0,5\n") ==
        "mine.csv: columns are parted by semicolons: write commas between them, and points in decimals\n");
  CHECK(message("m\tn\tk\tms\n1\t2\t3\t4\n").find("parted by tabs") != std::string::npos);
  CHECK(message("m,n,k,ms\n").find("no product below the header") != std::string::npos);
}

TEST_CASE("what nccl-tests prints") {
  const auto samples = import_nccl_tests(kNccl, "out.txt", kBoard);
  REQUIRE(samples);
  REQUIRE(samples->size() == 2);
  CHECK(samples->front().op == "all_gather");
  CHECK(samples->front().precision == "fp16");
  CHECK(samples->front().library == "NCCL 2.21.5");
  CHECK(shape_text(samples->back()) == "bytes=1048576;ranks=2;nodes=1");
  CHECK_THAT(samples->back().time.base(), WithinRel(19.90e-6, 1e-12));
  const auto nameless = import_nccl_tests("# busbw algbw\n", "out.txt", kBoard);
  REQUIRE_FALSE(nameless);
  REQUIRE(nameless.error().size() == 3);
  CHECK(nameless.error()[0].message == "which collective? the output does not name its program; use --op all_reduce");
  CHECK(nameless.error()[1].message == "how many ranks? there is no line \"#  Rank  0 ... on HOST device 0\"");
}

TEST_CASE("what nccl-tests prints: times of a tenth of a second and more, which have no point") {
  const auto samples = import_nccl_tests(
      "# Collective test starting: all_reduce_perf\n"
      "#  Rank  0 Group  0 Pid  1 on  a device  0 [0x07] H100\n"
      "#  Rank  1 Group  0 Pid  1 on  b device  0 [0x07] H100\n"
      "2147483648 536870912 float sum -1 81362.5 26.39 49.49 0 81400.1 26.38 49.47 0\n"
      "4294967296 1073741824 float sum -1 162826 26.38 49.46 0 162454 26.44 49.57 N/A\n",
      "out.txt", kBoard);
  REQUIRE(samples);
  CHECK(samples->front().op == "all_reduce");
  CHECK_THAT(samples->front().time.base(), WithinRel(0.0813625, 1e-12));
  CHECK_THAT(samples->back().time.base(), WithinRel(0.162826, 1e-12));
  CHECK(shape_text(samples->back()) == "bytes=4294967296;ranks=2;nodes=2");
}

TEST_CASE("outputs of nccl-tests one after another are as many runs") {
  const std::string rank = "#  Rank  0 Group  0 Pid  1 on  a device  0 [0x07] H100\n";
  const std::string row = " 256 float sum -1 9.0 0.1 0.2 0 9.1 0.1 0.2 0\n";
  const auto samples =
      import_nccl_tests("$ ./build/reduce_perf -b 8\n# nThread 1\n" + rank + "1024" + row +
                            "# Collective test concluded: reduce_perf\n# Collective test starting: sendrecv_perf\n# nThread 1\n" +
                            rank + rank + "2048" + row + "# Avg bus bandwidth : 1\n",
                        "out.txt", kBoard);
  REQUIRE(samples);
  REQUIRE(samples->size() == 2);
  CHECK(samples->front().op == "reduce");
  CHECK(shape_text(samples->front()) == "bytes=1024;ranks=1;nodes=1");
  CHECK(samples->back().op == "send_recv");
  CHECK(shape_text(samples->back()) == "bytes=2048;ranks=2;nodes=1");
}

TEST_CASE("mistakes in what nccl-tests prints, to the letter") {
  const auto message = [](const std::string& row, const char* op = "") {
    ForeignDefaults defaults = kBoard;
    defaults.precision = "";
    defaults.op = op;
    const auto read = import_nccl_tests("# all_gather_perf\n#  Rank  0 on a device  0\n" + row + "\n", "out.txt", defaults);
    REQUIRE_FALSE(read);
    REQUIRE(read.error().size() == 1);
    return to_text(read.error());
  };
  const std::string rest = " 0.1 0.2 0 9.1 0.1 0.2 0";
  CHECK(message("1024 256 float none -1 nan" + rest) == "out.txt:3:1: expected a time in us above 0, got \"nan\"\n");
  CHECK(message("1024 256 float none -1 -4" + rest) == "out.txt:3:1: expected a time in us above 0, got \"-4\"\n");
  CHECK(message("1e30 256 float none -1 9" + rest) == "out.txt:3:1: expected a whole number of bytes, got \"1e30\"\n");
  CHECK(message("1024 256 double none -1 9" + rest) ==
        "out.txt:3:1: expected float, half, bfloat16, f8e4m3 or f8e5m2, got \"double\"; --precision names one instead\n");
  CHECK(message("1024 256 float none -1 9 0.1 0.2 7 9 0.1 0.2 0") == "out.txt:3:1: 7 results are wrong: this run is broken\n");
  CHECK(message("1024 256 float none") ==
        "out.txt:3:1: expected bytes, elements, type and twice time, algbw, busbw and #wrong, got 4 words\n");
  CHECK(message("1024 256 float none -1 9" + rest, "all_reduce") ==
        "out.txt: --op all_reduce: the output is of all_gather; leave the option out\n");
}

TEST_CASE("kernel summaries: what each kernel does, and no operator beside its kernel") {
  const auto nsight = import_kernel_summary(kNsight, "n.csv", ForeignFormat::nsight_systems);
  REQUIRE(nsight);
  REQUIRE(nsight->kernels.size() == 3);
  CHECK(nsight->kernels[0].kind == "products");
  CHECK(nsight->kernels[0].launches == 30);
  CHECK_THAT(nsight->kernels[0].total.base(), WithinRel(6e-3, 1e-12));
  CHECK(nsight->kernels[1].kind == "exchange");
  CHECK(nsight->kernels[2].kind == "memory");
  const auto profiler = import_kernel_summary(kProfiler, "p.txt", ForeignFormat::pytorch_profiler);
  REQUIRE(profiler);
  REQUIRE(profiler->kernels.size() == 2);
  CHECK(profiler->kernels[0].name == "ampere_bf16_s16816gemm");
  CHECK(profiler->kernels[1].kind == "attention");
  CHECK_THAT(profiler->kernels[1].total.base(), WithinRel(5e-4, 1e-12));
  CHECK(profiler->notes.empty());
}

TEST_CASE("a profiler's table: ranges are no kernels, and the rows are compared with its total") {
  const std::string header = "Name    Self CPU     Self CUDA    # of Calls\n";
  const std::string kernels = "ampere_gemm    0.000us     6.000ms    10\nvolta_gemm    0.000us     4.000ms    10\n";
  const auto read = [&](const std::string& rows, const char* total) {
    return import_kernel_summary(header + kernels + rows + "Self CUDA time total: " + total + "\n", "p.txt",
                                 ForeignFormat::pytorch_profiler);
  };
  const auto marked =
      read("ProfilerStep*    0.000us     12.500ms    5\nOptimizer.step#SGD.step    0.000us     1.200ms    5\n", "10.000ms");
  REQUIRE(marked);
  CHECK(marked->kernels.size() == 2);
  CHECK(marked->notes.empty());
  const auto cut = read("", "20.000ms");
  REQUIRE(cut);
  REQUIRE(cut->notes.size() == 1);
  CHECK(cut->notes.front() == "the kernels listed take 10 of 20 ms: print the table with row_limit=-1 for all");
  const auto own_range = read("my_block    0.000us     9.000ms    5\n", "10.000ms");
  REQUIRE_FALSE(own_range);
  CHECK(own_range.error().front().message ==
        "the kernels listed take 19 ms, and the table's own total is 10 ms: rows of `record_function` hold kernels that are "
        "listed, "
        "too; take them out");
}

TEST_CASE("mistakes in Nsight's summary: the line of the file, and what is no CSV") {
  const auto negative =
      import_kernel_summary("Processing [report1.sqlite]...\nTime (%),Total Time (ns),Instances,Name\n60.0,-6000000,30,kernel\n",
                            "n.csv", ForeignFormat::nsight_systems);
  REQUIRE_FALSE(negative);
  CHECK(negative.error().front().message == "Total Time (ns): expected a number above 0, got \"-6000000\"");
  CHECK(negative.error().front().where.line == 3);
  const auto laid_out = import_kernel_summary(" Time (%)  Total Time (ns)  Instances  Name\n 60.0  6000000  30  kernel\n",
                                              "n.txt", ForeignFormat::nsight_systems);
  REQUIRE_FALSE(laid_out);
  CHECK(laid_out.error().front().message ==
        "n.txt: a table laid out in columns: write CSV, `nsys stats --report cuda_gpu_kern_sum --format csv`");
}
