#include "calibrate/collect/device_name.hpp"

#include "model/hardware/cluster.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using namespace tbdsim::calibrate;

TEST_CASE("names that drivers give find their catalogue entries") {
  const auto ids = catalogue_ids({TBDSIM_SOURCE_DIR}, "gpus");
  CHECK(catalogue_id("NVIDIA H200", ids).value() == "h200-sxm-141gb");
  CHECK(catalogue_id("NVIDIA H100 80GB HBM3", ids).value() == "h100-sxm5-80gb");
  CHECK(catalogue_id("NVIDIA H100 PCIe", ids).value() == "h100-pcie-80gb");
  CHECK(catalogue_id("Tesla V100-SXM2-16GB", ids).value() == "v100-sxm2-16gb");
  CHECK(catalogue_id("NVIDIA GeForce RTX 2080 Ti", ids).value() == "rtx-2080-ti");
  CHECK(catalogue_id("NVIDIA A100-SXM4-40GB", ids).value() == "a100-sxm4-40gb");
}

TEST_CASE("relatives of one number are told apart, and a workstation's board is called without its line") {
  const auto ids = catalogue_ids({TBDSIM_SOURCE_DIR}, "gpus");
  CHECK(catalogue_id("NVIDIA GeForce RTX 2080", ids).value() == "rtx-2080");
  CHECK(catalogue_id("NVIDIA GeForce RTX 2080 SUPER", ids).value() == "rtx-2080-super");
  CHECK(catalogue_id("NVIDIA GeForce RTX 3080 Ti", ids).value() == "rtx-3080-ti");
  CHECK(catalogue_id("GeForce GTX 1060 6GB", ids).value() == "gtx-1060-6gb");
  CHECK(catalogue_id("Quadro RTX 4000", ids).value() == "rtx-4000");
  CHECK(catalogue_id("NVIDIA RTX 4000 Ada Generation", ids).value() == "rtx-4000-ada");
  CHECK(catalogue_id("Quadro GV100", ids).value() == "gv100");
  CHECK(catalogue_id("NVIDIA A2", ids).value() == "a2");
  CHECK(catalogue_id("NVIDIA RTX A2000", ids).value() == "a2000");
  CHECK(catalogue_id("NVIDIA RTX A2000 12GB", ids).value() == "a2000-12gb");
  CHECK(catalogue_id("NVIDIA RTX A6000", ids).value() == "a6000");
  CHECK_FALSE(catalogue_id("NVIDIA RTX A3000 Laptop GPU", ids));
}

TEST_CASE("a board that the catalogue lacks is not taken for one whose name begins alike") {
  const auto ids = catalogue_ids({TBDSIM_SOURCE_DIR}, "gpus");
  // The catalogue has l40s, gtx-1660-ti, p4000, m60, p40, gtx-1060-6gb, rtx-4000-ada, a100-..., rtx-3080, rtx-4090.
  for (const char* other : {"NVIDIA L20", "NVIDIA GeForce GTX 1660", "Quadro P400", "Tesla M6", "GeForce GTX 1060 3GB",
                            "NVIDIA RTX 4000 SFF Ada Generation", "NVIDIA GeForce RTX 4090 D", "NVIDIA A1", "NVIDIA TITAN",
                            "NVIDIA H100 CNX", "NVIDIA RTX PRO 5000 Blackwell", "NVIDIA GeForce RTX 3080 Laptop GPU"}) {
    INFO(other);
    CHECK_FALSE(catalogue_id(other, ids));
  }
  CHECK(catalogue_id("NVIDIA H100 NVL", ids).value() == "h100-nvl");
  CHECK(catalogue_id("NVIDIA H800", ids).value() == "h800-sxm5-80gb");
  CHECK(catalogue_id("NVIDIA B300 SXM6 AC", ids).value() == "b300-sxm-288gb");
  CHECK(catalogue_id("NVIDIA RTX 6000 Ada Generation", ids).value() == "rtx-6000-ada");
  CHECK(catalogue_id("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", ids).value() == "rtx-pro-6000");
  CHECK(catalogue_id("NVIDIA RTX PRO 6000 Blackwell Server Edition", ids).value() == "rtx-pro-6000-server");
  CHECK(catalogue_id("NVIDIA L40S", ids).value() == "l40s");
  CHECK(catalogue_id("NVIDIA L40", ids).value() == "l40");
  CHECK(catalogue_id("NVIDIA H200 NVL", ids).value() == "h200-nvl");
  CHECK(catalogue_id("NVIDIA L4", ids).value() == "l4");
  CHECK(catalogue_id("NVIDIA A10", ids).value() == "a10");
  CHECK(catalogue_id("Tesla M40", ids).value() == "m40");
  CHECK(catalogue_id("Tesla M40 24GB", ids).value() == "m40-24gb");
  CHECK(catalogue_id("NVIDIA TITAN X (Pascal)", ids).value() == "titan-x-pascal");
  CHECK(catalogue_id("NVIDIA H100 SXM", {"h100-pcie-80gb", "h100-sxm5-80gb"}).value() == "h100-sxm5-80gb");
}

TEST_CASE("several or no entries ask for the device") {
  const auto several = catalogue_id("NVIDIA V100", {"v100-pcie-16gb", "v100-sxm2-16gb"});
  REQUIRE_FALSE(several);
  CHECK(several.error().front().message == "\"NVIDIA V100\" may be v100-pcie-16gb, v100-sxm2-16gb; say which with --device");
  const auto none = catalogue_id("Voodoo 2", {"v100-pcie-16gb"});
  REQUIRE_FALSE(none);
  CHECK(none.error().front().message ==
        "no catalogued GPU is called \"Voodoo 2\"; name one of `tbdsim list gpus`, or a name of your own, with --device");
}
