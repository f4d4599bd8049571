#include <cstdio>

#include "model/configuration/session.hpp"
#include "model/prediction/predict.hpp"

int main() {
  tbdsim::Catalogue catalogue;
  catalogue.root = CATALOGUE;
  tbdsim::PredictOptions options;
  options.hardware = "dgx1";
  options.model = "resnet50";
  const auto session = tbdsim::open_session(catalogue);
  const auto prediction = tbdsim::predict(*session, options);
  if (!prediction) {
    std::fprintf(stderr, "%s\n", prediction.error().front().message.c_str());
    return 1;
  }
  std::printf("%.0f images/s\n", prediction->throughput.value);
  return prediction->throughput.value > 0.0 ? 0 : 1;
}
