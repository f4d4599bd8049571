// Looking names up in a table: folded, with a suggestion for a slip and the list for anything else.
#include "model/support/find_named.hpp"

#include "model/support/name_words.hpp"

#include "tests/catch.hpp"

using namespace tbdsim;

TEST_CASE("a name is found whatever its case and signs, a miss says which was meant, or what there is") {
  struct Entry {
    std::string_view name;
    int value;
  };
  const std::vector<Entry> entries{{"sgd-momentum", 1}, {"adam", 2}};
  CHECK(find_named(entries, "optimizer", "SGD_Momentum")->value == 1);
  CHECK(find_named(entries, "optimizer", "adm").error().front().message == "unknown optimizer \"adm\", did you mean \"adam\"?");
  CHECK(find_named(entries, "optimizer", "lion", {"none"}).error().front().message ==
        "unknown optimizer \"lion\"; there are none, sgd-momentum, adam");
}

TEST_CASE("what follows a name that is not known") {
  CHECK(name_hint("adm", {"sgd", "adam"}, "`list`") == ", did you mean \"adam\"?");
  const std::vector<std::string> networks{"resnet50", "phlippe_resnet", "resnet_v1_50", "vgg16"};
  CHECK(name_hint("resnt50", networks, "`list`") == ", did you mean \"resnet50\"?");
  CHECK(name_hint("regnet50", networks, "`list`").find("did you mean") == std::string::npos);  // a family of its own
  CHECK(name_hint("reset50", networks, "`list`") == ", did you mean \"resnet50\"?");
  CHECK(name_hint("rmsprop", {"sgd", "adam"}, "`list`") == "; see `list`");
  CHECK(name_hint("rmsprop", {"sgd", "adam"}).empty());
  std::vector<std::string> many;
  for (int i = 1; i <= 8; ++i) many.push_back("gpu" + std::to_string(i));
  const std::string eight =
      ", did you mean one of \"gpu1\", \"gpu2\", \"gpu3\", \"gpu4\", \"gpu5\", \"gpu6\", \"gpu7\", \"gpu8\"";
  CHECK(name_hint("gpu", many, "`list`") == eight + "? See `list`");
  many.emplace_back("gpu9");
  CHECK(name_hint("gpu", many) == eight + " or another?");
}

TEST_CASE("a name with a word that no other has is no slip: its relatives are told, and how to describe it") {
  const std::vector<std::string> boards{"rtx-6000", "a6000", "rtx-4090", "l40s", "h100-pcie-80gb"};
  const std::string rest = ". Describe it in a file of your own, or see `list`";
  CHECK(name_hint("rtx-6000-ada", boards, "`list`", "a file of your own") ==
        "; none has \"ada\", the nearest relatives are \"rtx-6000\", \"a6000\"" + rest);
  CHECK(name_hint("RTX6000Ada", boards, "`list`", "a file of your own") ==
        "; none has \"ada\", the nearest relatives are \"rtx-6000\", \"a6000\"" + rest);
  // Another number is another product, one figure more or fewer a slip.
  CHECK(name_hint("rtx-4080", boards, "`list`") ==
        "; none has \"4080\", the nearest relatives are \"rtx-4090\", \"rtx-6000\"; see `list`");
  CHECK(name_hint("rtx-40900", boards, "`list`") == ", did you mean \"rtx-4090\"?");
  CHECK(name_hint("h100-nvl", boards) == "; none has \"nvl\", the nearest relative is \"h100-pcie-80gb\"");
  CHECK(name_hint("l40s-6000", boards) ==
        "; none has all words of \"l40s-6000\", the nearest relatives are \"rtx-6000\", \"a6000\", \"l40s\"");
  CHECK(name_hint("gaudi2", boards).empty());
  CHECK(name_hint(std::string(65, '6') + "-rtx", boards).empty());
}

TEST_CASE("words of a name that another lacks") {
  using Words = std::vector<std::string>;
  CHECK(missing_words("rtx-6000-ada", {"rtx-6000"}) == Words{"ada"});
  CHECK(missing_words("RTX6000Ada", {"rtx-6000"}) == Words{"ada"});
  for (const auto& [typed, meant] : std::vector<std::pair<std::string, std::string>>{{"dxg1", "dgx1"},
                                                                                     {"gtx1080it", "gtx-1080-ti"},
                                                                                     {"resnet5O", "resnet50"},
                                                                                     {"10gb", "10gbe"},
                                                                                     {"titan-xpp", "titan-xp"},
                                                                                     {"rtx-40900", "rtx-4090"},
                                                                                     {"rtx-409", "rtx-4090"},
                                                                                     {"pytroch-1.4", "pytorch-1.4"},
                                                                                     {"", "dgx1"}}) {
    INFO(typed);
    CHECK(missing_words(typed, {meant}).empty());
  }
  CHECK(missing_words("resnet51", {"resnet50"}) == Words{"51"});
  CHECK(missing_words("mi300a", {"mi300x"}) == Words{"a"});
  CHECK(missing_words("dgx-h200", {"dgx-b200"}) == Words{"h"});
  CHECK(missing_words("rtx-4080", {"rtx-4090"}) == Words{"4080"});
}
