// The tables of exchanges and frameworks: each row is found by its name, and its fields agree with each other.
#include "model/stack/exchange.hpp"

#include <set>
#include <string>

#include "tests/catch.hpp"

using namespace tbdsim;

TEST_CASE("every exchange and every framework is found by its name, however it is written") {
  std::set<std::string_view> names;
  for (const ExchangeInfo& row : exchanges()) {
    INFO(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(&info(row.kind) == &row);
    CHECK(parse_exchange(row.name) == row.kind);
  }
  for (const FrameworkInfo& row : frameworks()) {
    INFO(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(&info(row.kind) == &row);
    CHECK(parse_framework(row.name) == row.kind);
    CHECK(parse_framework(row.title) == row.kind);
  }
  CHECK(parse_exchange("All-Reduce") == Exchange::allreduce);
  CHECK(parse_exchange("PS_P3") == Exchange::ps_p3);
  CHECK_FALSE(parse_exchange(""));
  CHECK_FALSE(parse_exchange("psp"));
  CHECK_FALSE(parse_framework("pytroch"));
}

TEST_CASE("who sums, who updates and what an exchange keeps on GPUs agree in every row") {
  for (const ExchangeInfo& row : exchanges()) {
    INFO(row.name);
    CHECK((row.buffers == ExchangeBuffers::root_store) ==
          (row.updates == ExchangePlace::first_gpu && row.framework == Framework::mxnet));
    CHECK((row.buffers == ExchangeBuffers::home_store) == (row.updates == ExchangePlace::home_gpus));
    CHECK((row.buffers == ExchangeBuffers::home_merges) == row.parameter_servers);
    CHECK((row.buffers == ExchangeBuffers::host_store) == (row.updates == ExchangePlace::host));
    CHECK((row.buffers == ExchangeBuffers::buckets) == (row.updates == ExchangePlace::ranks));
    // Whoever updates has the sums.
    if (row.updates != ExchangePlace::ranks) CHECK(row.sums == row.updates);
    // Servers stand beside the workers, so the node's own memory holds what they sum; BytePS's stand apart.
    CHECK(row.parameter_servers == (row.updates == ExchangePlace::servers));
    CHECK(row.host_sums == (row.updates == ExchangePlace::host || row.updates == ExchangePlace::servers));
    CHECK(row.one_process == (row.updates != ExchangePlace::ranks));
  }
}

TEST_CASE("only an all-reduce is a collective, only MXNet has stores on GPUs") {
  for (const ExchangeInfo& row : exchanges()) {
    INFO(row.name);
    CHECK(row.collective() == (row.kind == Exchange::allreduce));
    if (row.device_store()) CHECK(row.framework == Framework::mxnet);
  }
  CHECK(exchanges().front().kind == Exchange::allreduce);
}

TEST_CASE("BytePS is no parameter server: its workers update, and hold on a GPU what an all-reduce holds") {
  const ExchangeInfo& byteps = info(Exchange::byteps);
  CHECK_FALSE(byteps.parameter_servers);
  CHECK(byteps.sums == ExchangePlace::servers);
  CHECK(byteps.updates == ExchangePlace::ranks);
  CHECK(byteps.buffers == info(Exchange::allreduce).buffers);
}
