#include "model/schedule/divided/pass_time.hpp"

#include <algorithm>
#include <numeric>

namespace tbdsim {
namespace {

class PassRun {
 public:
  void run(const PassItem& item) {
    host_ += item.host;
    time_.issue += item.host;
    time_.bytes[static_cast<std::size_t>(item.axis)] += item.bytes;
    switch (item.kind) {
      case PassItem::Kind::kernel:
        kernel(item);
        break;
      case PassItem::Kind::collective:
        call(item);
        wait(item.axis);
        break;
      case PassItem::Kind::hidden:
        call(item);
        break;
      case PassItem::Kind::join:
        wait(item.axis);
        break;
    }
  }

  void begin_round() {
    begin_ = compute_;
    time_ = {};
  }
  [[nodiscard]] PassTime end_round() {
    time_.time = compute_ - begin_;
    return time_;
  }

 private:
  void kernel(const PassItem& item) {
    if (host_ > compute_) {
      time_.host += host_ - compute_;
      compute_ = host_;
    }
    Seconds left = item.device;
    const Seconds beside = std::max(Seconds(0.0), call_end_ - compute_);
    const double slower = 1.0 / (1.0 - lost(taken_, item.memory_bound));
    const Seconds before = time_.kernels;
    if (beside > Seconds(0.0)) {
      const Seconds shared = std::min(beside, slower * left);
      left -= (1.0 / slower) * shared;
      compute_ += shared;
      time_.kernels += shared;
    }
    compute_ += left;
    time_.kernels += left;
    if (item.memory_bound) time_.memory += time_.kernels - before;
  }

  void call(const PassItem& item) {
    time_.exchange[static_cast<std::size_t>(item.axis)] += std::max(item.device, item.alone);
    if (item.device <= Seconds(0.0)) return;
    const Seconds begin = std::max({host_, compute_, call_end_});
    if (item.kind == PassItem::Kind::collective && host_ > std::max(compute_, call_end_)) {
      time_.host += host_ - compute_;
      compute_ = host_;
    }
    call_end_ = begin + item.device;
    taken_ = item.taken;
  }

  void wait(Axis axis) {
    if (call_end_ <= compute_) return;
    time_.exposed[static_cast<std::size_t>(axis)] += call_end_ - compute_;
    compute_ = call_end_;
  }

  Seconds host_{0.0}, compute_{0.0}, call_end_{0.0}, begin_{0.0};
  Taken taken_;
  PassTime time_;
};

}  // namespace

Seconds PassTime::exposed_sum() const { return std::accumulate(exposed.begin(), exposed.end(), Seconds(0.0)); }

PassTime& PassTime::operator+=(const PassTime& more) {
  time += more.time;
  kernels += more.kernels;
  memory += more.memory;
  host += more.host;
  offload += more.offload;
  issue += more.issue;
  of_experts += more.of_experts;
  for (std::size_t i = 0; i < kAxes; ++i) {
    exchange[i] += more.exchange[i];
    exposed[i] += more.exposed[i];
    bytes[i] += more.bytes[i];
  }
  return *this;
}

double lost(Taken taken, bool memory_bound) { return memory_bound ? std::max(taken.sms, taken.memory) : taken.sms; }

double memory_share(const PassTime& pass) { return pass.kernels > Seconds(0.0) ? pass.memory / pass.kernels : 0.0; }

double lost_of_mix(Taken taken, double memory_share) {
  return memory_share * lost(taken, true) + (1.0 - memory_share) * lost(taken, false);
}

PassTime operator*(double times, PassTime pass) {
  pass.of_experts *= times;
  for (Seconds* each : {&pass.time, &pass.kernels, &pass.memory, &pass.host, &pass.offload, &pass.issue}) *each *= times;
  for (std::size_t i = 0; i < kAxes; ++i) {
    pass.exchange[i] *= times;
    pass.exposed[i] *= times;
    pass.bytes[i] *= times;
  }
  return pass;
}

PassTime pass_time(std::span<const PassItem> items) {
  PassRun run;
  PassTime result;
  for (int round = 0; round < 2; ++round) {
    run.begin_round();
    for (const PassItem& item : items) run.run(item);
    result = run.end_round();
  }
  return result;
}

}  // namespace tbdsim
