#include "model/study/measured_families.hpp"

namespace tbdsim {

FamilyTimes predicted_families(const Prediction& prediction) {
  using trace::WorkFamily;
  FamilyTimes times{};
  for (const KernelTime& kernel : prediction.detail.kernels) {
    const bool update = kernel.pass == Pass::update;
    of(times, update ? WorkFamily::update : trace::family_of_name(kernel.name)) += kernel.time;
  }
  for (const ExchangeTime& exchange : prediction.detail.exchanges) of(times, WorkFamily::exchange) += exchange.time;
  for (const LaneEvent& event : prediction.detail.lanes)
    if (event.lane.find("copy") != std::string::npos) of(times, WorkFamily::copy) += event.time;
  return times;
}

}  // namespace tbdsim
