#include "model/report/verdict_colours.hpp"

#include "tests/catch.hpp"

using namespace tbdsim;

TEST_CASE("verdicts of a table have colours on a terminal", "[report]") {
  CHECK(with_verdict_colours("64  12.3 GB  yes\n256  25.8 GB  NO\n") ==
        "64  12.3 GB  \x1b[32myes\x1b[0m\n256  25.8 GB  \x1b[1;31mNO\x1b[0m\n");
  CHECK(with_verdict_colours("256 22.4 GB 22.5 GB - 24.2 GB NO\n") == "256 22.4 GB 22.5 GB - 24.2 GB \x1b[1;31mNO\x1b[0m\n");
  CHECK(with_verdict_colours("7   131 GB  NO, 45.7 GB too much") == "7   131 GB  \x1b[1;31mNO\x1b[0m, 45.7 GB too much");
  CHECK(with_verdict_colours("2  +3.6 %  ?\n3  +9 %  ?*") == "2  +3.6 %  \x1b[33m?\x1b[0m\n3  +9 %  \x1b[33m?*\x1b[0m");
  CHECK(with_verdict_colours("too big  l4  bought\n4.42  181 %  too big") ==
        "\x1b[1;31mtoo big\x1b[0m  l4  bought\n4.42  181 %  \x1b[1;31mtoo big\x1b[0m");
  CHECK(with_verdict_colours("Memory (80 % range): DOES NOT FIT, 11 GB too much") ==
        "Memory (80 % range): \x1b[1;31mDOES NOT FIT\x1b[0m, 11 GB too much");
}

TEST_CASE("words that are no verdicts stay plain", "[report]") {
  for (const char* const text : {"batch  step  fits\n", "NOTHING here fails us\n", "? 2 row(s) cannot be told apart\n",
                                 "what holds it up\n", "{\"text\": \"batch 64 does not fit; ...\"}\n", ""})
    CHECK(with_verdict_colours(text) == text);
}
