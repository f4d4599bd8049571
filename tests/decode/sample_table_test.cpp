#include "calibrate/decode/sample_table.hpp"

#include <set>

#include "tests/catch.hpp"

using namespace tbdsim;
using namespace tbdsim::calibrate;

namespace {

const std::string kHeader = "device,family,op,precision,pass,shape,time_s,spread_s,timing\n";

std::vector<Sample> good(const std::string& text) {
  auto samples = parse_samples(text, "s.csv");
  if (!samples) FAIL(to_text(samples.error()));
  return *samples;
}

/// What is said of one row below the usual header: `line:column: message` of each problem.
std::string problems_in(const std::string& text) {
  const auto samples = parse_samples(text, "s.csv");
  if (samples) return "no problem";
  std::string all;
  for (const Error& error : samples.error())
    all += std::to_string(error.where.line) + ":" + std::to_string(error.where.column) + ": " + error.message + "\n";
  return all;
}
std::string problems_of(const std::string& row) { return problems_in(kHeader + row + "\n"); }

std::string with_shape(const std::string& family, const std::string& shape) {
  return problems_of("v100," + family + ",x,fp32,forward," + shape + ",1e-3,,kernel");
}

const std::string kGemm = "v100,gemm,matmul,fp16,forward,b=1;m=16;n=1760;k=32;ta=0;tb=1";

}  // namespace

TEST_CASE("a sample carries every column in base units") {
  const auto samples = good(
      "device,family,op,precision,pass,shape,time_s,spread_s,timing,algorithm,layout,clock_mhz,memory_clock_mhz,power_w,driver,"
      "library,date,flags,source\n" +
      kGemm + ",5.9e-05,2e-6,call,splitk,nhwc,1312,877,300,418.67,cudnn 7.6.2; cuda 10.1,2019-09-01,first-layer cold,a b\n");
  REQUIRE(samples.size() == 1);
  const Sample& s = samples[0];
  CHECK(s.device == "v100");
  CHECK(s.family == "gemm");
  CHECK(s.op == "matmul");
  CHECK(s.precision == "fp16");
  CHECK(s.pass == "forward");
  CHECK(s.at("n") == 1760);
  CHECK(s.at("ta") == 0);
  CHECK(s.at("tb") == 1);
  CHECK(s.time == Seconds(5.9e-5));
  CHECK(s.spread == Seconds(2e-6));
  CHECK(s.call_timing);
  CHECK(s.algorithm == "splitk");
  CHECK(s.layout == "nhwc");
  CHECK(s.clock == Hertz(1312e6));
  CHECK(s.memory_clock == Hertz(877e6));
  CHECK(s.power == Watts(300));
  CHECK(s.driver == "418.67");
  CHECK(s.library == "cudnn 7.6.2; cuda 10.1");
  CHECK(s.date == "2019-09-01");
  CHECK(s.source == "a b");
  CHECK(s.line == 2);
  CHECK(s.flagged("first-layer"));
  CHECK(s.flagged("cold"));
  CHECK_FALSE(s.flagged("first"));  // a flag is a whole word
  CHECK_FALSE(s.flagged(""));
}

TEST_CASE("a flag may carry a count") {
  const auto with_flags = [](const std::string& flags) {
    return "device,family,op,precision,pass,shape,time_s,timing,flags\n" + kGemm + ",1e-3,call," + flags + "\n";
  };
  const Sample s = good(with_flags("cold shapes_before=120"))[0];
  CHECK(s.flag_value("shapes_before") == 120.0);
  CHECK_FALSE(s.flag_value("shapes"));
  CHECK_FALSE(s.flag_value("cold"));
  CHECK(problems_in(with_flags("shapes_before=many")) ==
        "2:72: flags: expected a count such as \"shapes_before=120\", got \"shapes_before=many\"\n");
}

TEST_CASE("trailing columns may be absent and fields of optional columns empty") {
  const auto samples = good("device,family,op,precision,pass,shape,time_s,spread_s,timing,algorithm,layout,clock_mhz\n" + kGemm +
                            ",1e-3,,kernel,,,\n");
  CHECK_FALSE(samples[0].spread);
  CHECK_FALSE(samples[0].clock);
  CHECK_FALSE(samples[0].memory_clock);
  CHECK_FALSE(samples[0].call_timing);
  CHECK_FALSE(samples[0].flagged("cold"));
}

TEST_CASE("columns are found by name, so their order is free") {
  const auto samples =
      good("timing,time_s,shape,pass,precision,op,family,device\ncall,0.5,rows=8;cols=4,forward,fp32,softmax,softmax,t4\n");
  CHECK(samples[0].device == "t4");
  CHECK(samples[0].at("cols") == 4);
  CHECK(samples[0].time == Seconds(0.5));
}

TEST_CASE("names of columns that changed places show as values of the wrong kind") {
  CHECK(problems_in("device,family,op,pass,precision,shape,time_s,spread_s,timing\n" + kGemm + ",1e-3,,kernel\n") ==
        "2:18: pass: unknown pass \"fp16\"; known are forward, backward_data, backward_weights, backward, update, none\n"
        "2:23: precision: unknown precision \"forward\"; known are fp32, tf32, fp16, bf16, fp8\n");
}

TEST_CASE("the text of a shape is its kind") {
  CHECK(good(kHeader + "t4,rnn,rnn,fp32,forward,cell=lstm;input=8;hidden=4;batch=2;steps=3;layers=1;directions=2,1,,kernel\n")[0]
            .kind == "lstm");
  CHECK(good(kHeader + "t4,copy,copy,fp32,none,bytes=0;kind=h2d-pinned,1e-6,,kernel\n")[0].kind == "h2d-pinned");
}

TEST_CASE("a file says all that is wrong with it at once") {
  CHECK(problems_in(kHeader + "v100,gem,matmul,fp61,foward,b=1,-1,,kernal\n" +
                    ",gemm,,fp16,forward,b=1;m=1;n=1;k=1;ta=0;tb=0,x,-1,call\n") ==
        "2:6: family: unknown family \"gem\", did you mean \"gemm\"?\n"
        "2:17: precision: unknown precision \"fp61\", did you mean \"fp16\"?\n"
        "2:22: pass: unknown pass \"foward\", did you mean \"forward\"?\n"
        "2:33: time_s: expected a time above 0, got \"-1\"\n"
        "2:37: timing: unknown timing \"kernal\", did you mean \"kernel\"?\n"
        "3:1: device: expected a name such as \"v100-sxm2-16gb\", got an empty field\n"
        "3:7: op: expected a name such as \"matmul\", got an empty field\n"
        "3:47: time_s: expected a number, got \"x\"\n"
        "3:49: spread_s: expected a spread of at least 0, got \"-1\"\n");
}

TEST_CASE("a time is a finite number above zero") {
  CHECK(problems_of(kGemm + ",0,,kernel") == "2:62: time_s: expected a time above 0, got \"0\"\n");
  CHECK(problems_of(kGemm + ",nan,,kernel") == "2:62: time_s: expected a finite number, got \"nan\"\n");
  CHECK(problems_of(kGemm + ",inf,,kernel") == "2:62: time_s: expected a finite number, got \"inf\"\n");
  CHECK(problems_of(kGemm + ",,,kernel") == "2:62: time_s: expected a number, got an empty field\n");
  CHECK(problems_of(kGemm + ",1e-12,,kernel") == "no problem");
}

TEST_CASE("a spread may be zero, a clock and a power may not") {
  CHECK(problems_of(kGemm + ",1,0,kernel") == "no problem");
  CHECK(problems_in("device,family,op,precision,pass,shape,time_s,timing,clock_mhz,power_w\n" + kGemm + ",1,kernel,0,0\n") ==
        "2:71: clock_mhz: expected a clock above 0, got \"0\"\n"
        "2:73: power_w: expected a power above 0, got \"0\"\n");
}

TEST_CASE("keys of a shape: unknown, missing, repeated, without a value") {
  CHECK(with_shape("softmax", "rows=1;col=2") ==
        "2:29: shape: unknown key of softmax \"col\", did you mean \"cols\"?\n"
        "2:29: shape: missing key of softmax: cols\n");
  CHECK(with_shape("softmax", "") == "2:29: shape: missing keys of softmax: rows, cols\n");
  CHECK(with_shape("softmax", "rows=1;cols=2;rows=3") == "2:29: shape: key \"rows\" appears twice\n");
  CHECK(with_shape("softmax", "rows=1;cols") ==
        "2:29: shape: expected key=value, got \"cols\"\n"
        "2:29: shape: missing key of softmax: cols\n");
  CHECK(with_shape("softmax", "rows=1;;cols=2") == "2:29: shape: expected key=value, got \"\"\n");
  CHECK(with_shape("softmax", "rows=1;cols=2;") == "no problem");
  CHECK(with_shape("softmax", "zeta=1;rows=1;cols=2") == "2:29: shape: unknown key of softmax \"zeta\"; known are rows, cols\n");
}

TEST_CASE("values of a shape, both sides of each bound") {
  const auto softmax = [](const std::string& rows) { return with_shape("softmax", "rows=" + rows + ";cols=2"); };
  const std::string wanted = "2:29: shape: rows: expected a whole number of at least 1, got ";
  CHECK(softmax("1") == "no problem");
  CHECK(softmax("0") == wanted + "\"0\"\n");
  CHECK(softmax("-3") == wanted + "\"-3\"\n");
  CHECK(softmax("1.5") == wanted + "\"1.5\"\n");
  CHECK(softmax("") == wanted + "\"\"\n");
  CHECK(softmax("9223372036854775807") == "no problem");
  CHECK(softmax("9223372036854775808") == wanted + "\"9223372036854775808\"\n");
  CHECK(with_shape("gemm", "b=1;m=1;n=1;k=1;ta=1;tb=2") == "2:26: shape: tb: expected 0 or 1, got \"2\"\n");
  CHECK(with_shape("collective", "bytes=0;ranks=2;nodes=1") == "no problem");
  CHECK(with_shape("collective", "bytes=-1;ranks=2;nodes=1") ==
        "2:32: shape: bytes: expected a whole number of at least 0, got \"-1\"\n");
  CHECK(with_shape("copy", "bytes=1;kind=h2d") ==
        "2:26: shape: kind: expected one of h2d-pinned, h2d-pageable, d2h-pinned, d2h-pageable, d2d, p2p, got \"h2d\"\n");
  CHECK(with_shape("pool", "n=1;c=1;h=1;w=1;r=1;s=1;stride=1;pad=0;kind=") == "2:26: shape: kind: expected a word, got \"\"\n");
}

TEST_CASE("columns: missing, misspelt, repeated") {
  CHECK(problems_in("device,family,op,precision,pass,shape,timing\n") == "1:1: time_s: missing column\n");
  CHECK(problems_in("device,family,op,precision,pass,shapes,time_s,timing\n") ==
        "1:33: shapes: unknown column, did you mean \"shape\"?\n");
  CHECK(problems_in("device,family,op,op,precision,pass,shape,time_s,timing\n") ==
        "1:18: op: repeated column, it is also column 3\n");
}

TEST_CASE("files without a sample") {
  CHECK(problems_in("") == "0:0: empty file\n");
  CHECK(problems_in(kHeader) == "0:0: no sample below the header\n");
  const auto missing = read_samples("/no/such/folder/s.csv");
  REQUIRE_FALSE(missing);
  CHECK(to_text(missing.error()) == "/no/such/folder/s.csv: cannot open: No such file or directory\n");
}

TEST_CASE("the message shows the line and underlines the field") {
  const auto samples = parse_samples(kHeader + "t4,softmax,softmax,fp23,forward,rows=1;cols=2,1,,call\n", "s.csv");
  REQUIRE_FALSE(samples);
  CHECK(to_text(samples.error()) ==
        "s.csv:2:20: precision: unknown precision \"fp23\", did you mean \"fp32\"?\n"
        "   2 | t4,softmax,softmax,fp23,forward,rows=1;cols=2,1,,call\n"
        "     |                    ^~~~\n");
}

TEST_CASE("the table of families is consistent") {
  std::set<std::string_view> names;
  for (const SampleFamily& family : sample_families()) {
    INFO(family.name);
    CHECK(names.insert(family.name).second);
    CHECK(find_family(family.name) == &family);
    std::set<std::string_view> keys;
    int texts = 0;
    std::string shape;
    for (const ShapeKey& key : family.keys) {
      INFO(key.name);
      CHECK(keys.insert(key.name).second);
      CHECK((key.words.empty() || key.kind == KeyKind::text));
      texts += key.kind == KeyKind::text;
      shape += std::string(key.name) + "=" +
               (key.kind != KeyKind::text ? "1" : std::string(key.words.empty() ? "x" : key.words[0])) + ";";
    }
    CHECK(texts <= 1);  // Sample::kind holds one
    CHECK(with_shape(std::string(family.name), shape) == "no problem");
  }
  CHECK(find_family("gem") == nullptr);
}
