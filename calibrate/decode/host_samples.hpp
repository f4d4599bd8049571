#pragma once
#include <string>
#include <vector>

#include "model/support/result.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim::calibrate {

/// One measured cost of a host: what a framework spends on an operator, or a loop of this program.
struct HostSample {
  std::string op;      ///< "conv2d", "sgd_momentum"; loops "cpu_virtual_call"
  std::string pass;    ///< "forward", "backward", "update_loop", "update_listed", "speed"
  std::string device;  ///< where the tensors were: "cpu", "meta"; empty of loops
  Seconds time, spread;
};

/// Costs of one host.
struct HostSamples {
  std::string cpu;        ///< as the system names it
  std::string framework;  ///< "torch 1.13.0"; empty: none was measured
  std::string date, source;
  std::vector<HostSample> samples;
};

/// The table as text: one row a sample.
[[nodiscard]] std::string to_csv(const HostSamples& host);

/// Errors: all problems of the table; rows of several CPUs or framework versions; no rows.
[[nodiscard]] Result<HostSamples> read_host_samples(const std::string& path);

/// Adds what calibrate/collect/pytorch_host.py printed: `# torch VERSION`, then rows `op,pass,device,time_s,spread_s`.
/// Errors: a row of another form, by its line; no version; no rows.
[[nodiscard]] Result<void> add_pytorch_output(const std::string& text, HostSamples& host);

inline constexpr std::string_view kHostHeader = "cpu,framework,op,pass,device,time_s,spread_s,date,source";

}  // namespace tbdsim::calibrate
