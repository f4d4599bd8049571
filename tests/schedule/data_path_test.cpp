// Reading from storage and copying to the GPUs: closed forms of the data sheet's figures.
#include "model/schedule/data_path.hpp"

#include "model/schedule/input_pipeline.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

const Catalogue kCatalogue{TBDSIM_SOURCE_DIR};
constexpr Bytes kImage{110e3};

Storage storage(const char* name) {
  auto loaded = load_storage(kCatalogue, name);
  REQUIRE(loaded);
  return *loaded;
}

}  // namespace

TEST_CASE("a hard disk: records at its rate, files at one seek each") {
  const Storage disk = storage("hdd");
  // 110 kB / 150 MB/s = 0.733 ms; a seek of 12.7 ms before it.
  CHECK_THAT(read_cost(disk, kImage, SampleAccess::records).storage.base(), WithinRel(110e3 / 150e6, 1e-12));
  CHECK(read_cost(disk, kImage, SampleAccess::records).thread == Seconds(0.0));
  CHECK_THAT(read_cost(disk, kImage, SampleAccess::files).storage.base(), WithinRel(12.7e-3 + 110e3 / 150e6, 1e-12));
}

TEST_CASE("flash serves many accesses at once: its rate limits files too, one worker still waits for each") {
  const Storage ssd = storage("ssd");
  const ReadCost files = read_cost(ssd, kImage, SampleAccess::files);
  CHECK_THAT(files.storage.base(), WithinRel(110e3 / 0.55e9, 1e-12));
  CHECK_THAT(files.thread.base(), WithinRel(0.1e-3 + 110e3 / 0.55e9, 1e-12));
  // Small files: 32 accesses of 0.1 ms at a time.
  CHECK_THAT(read_cost(ssd, Bytes(1.0), SampleAccess::files).storage.base(), WithinRel(0.1e-3 / 32, 1e-3));
}

TEST_CASE("every storage of the catalogue reads records no slower than files") {
  for (const std::string& id : catalogue_ids(kCatalogue, "storage")) {
    INFO(id);
    const Storage s = storage(id.c_str());
    for (const double bytes : {1e2, 1e5, 1e8}) {
      const ReadCost records = read_cost(s, Bytes(bytes), SampleAccess::records),
                     files = read_cost(s, Bytes(bytes), SampleAccess::files);
      CHECK(records.storage <= files.storage);
      CHECK(files.thread >= files.storage);
    }
  }
}

TEST_CASE("copies: GPUs behind one PCIe switch share its link, pageable memory is copied twice") {
  const auto dgx1 = load_system(kCatalogue, "dgx1");
  REQUIRE(dgx1);
  const Bytes bytes(12e6);  // 1 ms at 12 GB/s
  const Topology& t = dgx1->topology;
  CHECK_THAT(input_copy_time(t, {0}, bytes, true).base(), WithinRel(1e-3, 1e-9));
  CHECK_THAT(input_copy_time(t, {0, 1}, bytes, true).base(), WithinRel(2e-3, 1e-9));
  CHECK_THAT(input_copy_time(t, {0, 2}, bytes, true).base(), WithinRel(1e-3, 1e-9));
  CHECK_THAT(input_copy_time(t, {0}, bytes, false).base(), WithinRel(1e-3 + 1.2e-3, 1e-9));
}

TEST_CASE("the slowest of reading, decoding and an overlapped copy sets the pace of loading") {
  InputPipeline p;
  p.threads = 4;
  p.decode = 10.0_ms;  // 8 samples on 4 threads: 20 ms
  CHECK_THAT(pace(p, 8, 1.0_ms, 1).step.base(), WithinRel(20e-3, 1e-9));
  p.read = 5.0_ms;  // 40 ms
  CHECK_THAT(pace(p, 8, 1.0_ms, 1).step.base(), WithinRel(40e-3, 1e-9));
  p.copy = 60.0_ms;
  CHECK_THAT(pace(p, 8, 1.0_ms, 1).step.base(), WithinRel(60e-3, 1e-9));
  p.copy_overlaps = false;
  CHECK_THAT(pace(p, 8, 1.0_ms, 1).step.base(), WithinRel(40e-3, 1e-9));
}

TEST_CASE("workers beyond the cores share them, waiting for storage needs no core") {
  InputPipeline p;
  p.decode = 10.0_ms;
  p.cores = 4;
  p.threads = 4;
  CHECK_THAT(decode_time(p, 8, 1, 1).base(), WithinRel(20e-3, 1e-12));
  p.threads = 8;
  CHECK_THAT(decode_time(p, 8, 1, 1).base(), WithinRel(20e-3, 1e-12));
  p.wait = 10.0_ms;
  p.threads = 4;
  CHECK_THAT(decode_time(p, 8, 1, 1).base(), WithinRel(40e-3, 1e-12));
  p.threads = 8;
  CHECK_THAT(decode_time(p, 8, 1, 1).base(), WithinRel(20e-3, 1e-12));
}
