// Apart from the reader, and with the standard library alone: it also runs inside programs that are recorded.
#include "calibrate/decode/activity_log.hpp"

namespace tbdsim::calibrate {
namespace {

template <class... Numbers>
std::string line(const char* word, const Numbers&... numbers) {
  std::string text = word;
  ((text += ' ', text += std::to_string(numbers)), ...);
  return text;
}

}  // namespace

std::string activity_header(const ActivityLog& log) {
  return std::string(kActivityMagic) + "\ndevice " + log.device + "\ndriver " + log.driver + "\nlibrary " + log.library +
         "\ndate " + log.date + '\n';
}

std::string activity_line(const Activity& a) {
  switch (a.kind) {
    case ActivityKind::kernel:
      return line("kernel", a.correlation, a.stream, a.start_ns, a.end_ns, a.grid[0], a.grid[1], a.grid[2], a.block[0],
                  a.block[1], a.block[2], a.registers, a.shared_bytes) +
             ' ' + a.name + '\n';
    case ActivityKind::copy:
      return line("copy", a.correlation, a.stream, a.start_ns, a.end_ns, a.bytes) + ' ' + a.name + '\n';
    case ActivityKind::fill:
      break;
  }
  return line("fill", a.correlation, a.stream, a.start_ns, a.end_ns, a.bytes) + '\n';
}

}  // namespace tbdsim::calibrate
