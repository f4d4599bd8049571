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

TEST_CASE("kernel summaries: what each kernel does, and no operator beside its kernel") {
  const auto nsight = import_kernel_summary(kNsight, "n.csv", ForeignFormat::nsight_systems);
  REQUIRE(nsight);
  REQUIRE(nsight->size() == 3);
  CHECK(nsight->at(0).kind == "products");
  CHECK(nsight->at(0).launches == 30);
  CHECK_THAT(nsight->at(0).total.base(), WithinRel(6e-3, 1e-12));
  CHECK(nsight->at(1).kind == "exchange");
  CHECK(nsight->at(2).kind == "memory");
  const auto profiler = import_kernel_summary(kProfiler, "p.txt", ForeignFormat::pytorch_profiler);
  REQUIRE(profiler);
  REQUIRE(profiler->size() == 2);
  CHECK(profiler->at(0).name == "ampere_bf16_s16816gemm");
  CHECK(profiler->at(1).kind == "attention");
  CHECK_THAT(profiler->at(1).total.base(), WithinRel(5e-4, 1e-12));
}
