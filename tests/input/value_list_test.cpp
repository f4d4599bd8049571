// Lists and ranges as users write them.
#include "model/input/value_list.hpp"

#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

using Numbers = std::vector<std::int64_t>;

std::string refused(std::string_view text) {
  const auto list = parse_number_list("--gpus", text);
  REQUIRE_FALSE(list);
  return list.error().front().message;
}

}  // namespace

TEST_CASE("numbers: single, listed, every one of a range, geometric, joined in the order given") {
  CHECK(parse_number_list("--gpus", "4").value() == Numbers{4});
  CHECK(parse_number_list("--gpus", "1,2,4,8").value() == Numbers{1, 2, 4, 8});
  CHECK(parse_number_list("--gpus", "1..8").value() == Numbers{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(parse_number_list("--gpus", "4..128*2").value() == Numbers{4, 8, 16, 32, 64, 128});
  CHECK(parse_number_list("--gpus", "4..127*2").value() == Numbers{4, 8, 16, 32, 64});
  CHECK(parse_number_list("--gpus", "8,1..3,5..5").value() == Numbers{8, 1, 2, 3, 5});
  CHECK(parse_number_list("--gpus", "1..9223372036854775807*9").value().size() == 20);
}

TEST_CASE("numbers: what is refused, and how") {
  const std::string expected = "--gpus: expected whole numbers such as 1,2,4 or 1..8 or 4..128*2, got ";
  CHECK(refused("") == expected + "\"\"");
  CHECK(refused("1,,2") == expected + "\"\"");
  CHECK(refused("two") == expected + "\"two\"");
  CHECK(refused("1.5") == expected + "\"1.5\"");
  CHECK(refused("9223372036854775808") == expected + "\"9223372036854775808\" (a number beyond 64 bits)");
  CHECK(refused("1..99999999999999999999*2") == expected + "\"1..99999999999999999999*2\" (a number beyond 64 bits)");
  CHECK(refused("8..1") == expected + "\"8..1\" (it runs down)");
  CHECK(refused("1..8*1") == expected + "\"1..8*1\" (a factor is at least 2)");
  CHECK(refused("0..8*2") == expected + "\"0..8*2\" (0 never grows by a factor)");
  CHECK(refused("1..8*") == expected + "\"1..8*\"");
  CHECK(refused("1..1000000000") == "--gpus: 1..1000000000 stands for more than 100000 values");
}

TEST_CASE("sizes: bytes or units, a range doubles unless it names its factor") {
  CHECK(parse_size_list("--bytes", "4096,1KiB").value() == std::vector<Bytes>{Bytes(4096.0), Bytes(1024.0)});
  CHECK(parse_size_list("--bytes", "1KiB..1GiB").value().size() == 21);
  CHECK(parse_size_list("--bytes", "1KiB..1MiB*4").value().size() == 6);
  CHECK(parse_size_list("--bytes", "1KiB..1 parsec").error().front().message ==
        "--bytes: expected sizes such as 1KiB,1MiB or 1KiB..1GiB, got \"1KiB..1 parsec\"");
}

TEST_CASE("words between commas") {
  CHECK(parse_word_list("--model", "lenet,alexnet").value() == std::vector<std::string>{"lenet", "alexnet"});
  CHECK(parse_word_list("--model", "lenet,").error().front().message == "--model: expected names between commas, got \"lenet,\"");
}
