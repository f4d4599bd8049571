#pragma once
#include <optional>
#include <string_view>

#include "model/hardware/device.hpp"
#include "model/hardware/kernel_constants.hpp"

namespace tbdsim {

/// What decides the clock of a device, or of a board when its samples were taken.
struct Clocked {
  std::string_view architecture;
  const Architecture* chip = nullptr;
  BoardClass board_class = BoardClass::professional;
  int multiprocessors = 1, lanes = 64;
  ClockLimits limits;
};
/// Lanes beyond those that schedulers feed count as far as the peak rate counts them.
[[nodiscard]] Clocked clocked(const Device& device);
[[nodiscard]] Clocked clocked(const BoardParameters& board);

/// The clock at which peak rates are listed, by the lanes' peak rate. A stated boost clock bounds it: a rate that lanes and clock
/// cannot reach says nothing of the clock.
[[nodiscard]] Hertz listed_clock(const Clocked& board);

/// Lanes of a multiprocessor that the peak rate counts at the stated boost clock: at most all, and all where no boost clock is
/// stated. A description may state more lanes than its peak rate can use; the others do no work.
[[nodiscard]] double counted_lanes(const Clocked& board);

/// Clock at which a board issues instructions and fetches operands: the stated boost clock where the peak rate counts fewer lanes
/// than there are, else the listed clock.
[[nodiscard]] Hertz issue_clock(const Clocked& board);

/// Lanes of a multiprocessor that its schedulers can keep in work: four schedulers issue to 32 lanes each.
[[nodiscard]] double fed_lanes(double lanes);

/// Share of their peak that the schedulers of a multiprocessor let `lanes` fp32 lanes reach in products. 64 lanes leave a
/// scheduler every second cycle for all else than multiply-adds, 128 none (`product_issue` of the family).
[[nodiscard]] double issue_limit(const Architecture& chip, double lanes);

/// How far boards of the device's class run above their listed clock against those of the lender's.
[[nodiscard]] double class_clock(const Clocked& device, const Clocked& lender);

/// Share of its listed clock that `device` keeps in fp32 products for each share that `lender` keeps of its own.
///
/// A sustained clock that is stated counts as it stands. Else a board wants the clock of its class: GeForce and TITAN boards run
/// above the clock they list, those of one generation at about one clock, whatever they list, but never below their own. Of the
/// clock that it wants, a board keeps what its power limit allows its lanes. The kept clock grows with the wanted one, so a board
/// that lists more is never slower.
[[nodiscard]] double kept_against(const Clocked& device, const Clocked& lender);

/// Clock at which a board runs fp32 products over its listed one: above it by class, below it by power or as stated.
[[nodiscard]] double wanted_clock(const Clocked& board);

/// Share of its listed clock that a board keeps in fp32 products: the stated sustained clock, else what its power allows.
[[nodiscard]] double kept_clock(const Clocked& board);

/// A chip's voltage falls with its clock down to a least one: power goes with the cube of the clock near the top and with the
/// clock itself at the bottom. The power between, f^(1/0.55), is what the Tesla T4 (70 W) keeps in fp32 against V100, and the
/// P4 (75 W) against the GTX 1080 Ti (samples of calibrate/samples).
[[nodiscard]] double clock_by_power(double joule, double needed);

}  // namespace tbdsim
