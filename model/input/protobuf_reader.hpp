#pragma once
#include <cstdint>
#include <string_view>

namespace tbdsim {

/// One field of a message in the wire format of protocol buffers. Which type a number stands for is the schema's to say.
struct ProtobufField {
  enum class Kind { varint, fixed32, fixed64, bytes };
  std::uint32_t number = 0;
  Kind kind = Kind::varint;
  std::uint64_t value = 0;  ///< of a varint or fixed field, as its bits
  std::string_view bytes;   ///< of a string, a message or a packed list: a view into the message
};

/// Walks through the fields of one message without copying and without looking inside them.
///
/// The reader never leaves the message: a length beyond its end, a varint of more than ten bytes, a group or field
/// number 0 stop it with `broken()`. Source: protobuf.dev, "Encoding".
class ProtobufReader {
 public:
  explicit ProtobufReader(std::string_view message) : message_(message) {}

  /// Reads the next field. False at the end of the message and where it is broken.
  [[nodiscard]] bool next(ProtobufField& field);
  [[nodiscard]] bool broken() const { return broken_; }
  /// The next varint of a packed list, in which numbers follow each other without tags.
  [[nodiscard]] bool next_varint(std::uint64_t& value);
  /// The next little-endian number of `size` bytes (at most 8) of a packed list.
  [[nodiscard]] bool next_fixed(std::size_t size, std::uint64_t& value);

 private:
  std::string_view message_;
  std::size_t at_ = 0;
  bool broken_ = false;
};

}  // namespace tbdsim
