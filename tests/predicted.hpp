#pragma once
// One session over the tree's own catalogue for all tests of a program, and predictions that must succeed.
#include <memory>
#include <string>

#include "model/configuration/session.hpp"
#include "model/prediction/predict.hpp"
#include "tests/catch.hpp"

namespace tbdsim {

inline Session& session() {
  static const std::shared_ptr<Session> kSession = open_session({TBDSIM_SOURCE_DIR});
  return *kSession;
}

inline Prediction predicted(const PredictOptions& options) {
  const auto prediction = predict(session(), options);
  INFO((prediction ? std::string() : to_text(prediction.error())));
  REQUIRE(prediction);
  return *prediction;
}

/// The problems of a prediction; empty: there are none.
inline std::string refusal(const PredictOptions& options) {
  const auto prediction = predict(session(), options);
  return prediction ? "" : to_text(prediction.error());
}

}  // namespace tbdsim
