#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/stack/exchange.hpp"

namespace tbdsim {

/// What trains, where and how, in the words of the output.
struct PredictedJob {
  std::string hardware, device, model, variant, stack, precision, optimizer;
  Exchange exchange = Exchange::allreduce;
  bool products_in_fp32 = false;  ///< asked for 16 bits, which are only stored: device or libraries have no kernels for them
  bool reads_overflow = false;  ///< mixed precision whose host reads, before it issues the update, whether a gradient overflowed
  std::string network;          ///< between nodes; empty for one node
  int ports = 1;                ///< on it, of a node
  int gpus = 1, nodes = 1, batch_per_gpu = 1, global_batch = 1;
  int hosts = 1, node_hosts = 1;  ///< of one node: that the job uses, and all; trays of a rack
};

/// What a job counts as a sample.
struct SampleKind {
  std::string input;  ///< where samples come from: "synthetic"
  std::string unit;   ///< "image"
  std::string text;   ///< what one is: "image 3x224x224", "length 128"
  std::string part;   ///< what throughput is also told in: "token", "audio second"; empty: nothing else
  double parts = 0;   ///< of a sample
};

/// An input file and the digest of what was read; both empty: there was none.
struct FileDigest {
  std::string path, sha256;
};

/// The files behind a prediction.
struct InputFiles {
  FileDigest hardware, stack;
  FileDigest workload;           ///< a user's network file
  FileDigest layout;             ///< a framework's settings
  std::vector<std::string> set;  ///< changed values of input files, KEY=VALUE
};

}  // namespace tbdsim
