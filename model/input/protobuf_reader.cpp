#include "model/input/protobuf_reader.hpp"

namespace tbdsim {

bool ProtobufReader::next_varint(std::uint64_t& value) {
  constexpr unsigned kLongest = 10;
  value = 0;
  if (at_ >= message_.size()) return false;
  for (unsigned i = 0; i < kLongest && at_ < message_.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(message_[at_++]);
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << (7 * i);
    if ((byte & 0x80U) == 0) return true;
  }
  broken_ = true;
  return false;
}

bool ProtobufReader::next_fixed(std::size_t size, std::uint64_t& value) {
  value = 0;
  if (at_ >= message_.size()) return false;
  if (message_.size() - at_ < size) {
    broken_ = true;
    return false;
  }
  for (std::size_t i = 0; i < size; ++i)
    value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(message_[at_ + i])) << (8 * i);
  at_ += size;
  return true;
}

bool ProtobufReader::next(ProtobufField& field) {
  std::uint64_t tag = 0;
  if (broken_ || !next_varint(tag)) return false;
  field = {static_cast<std::uint32_t>(tag >> 3U), ProtobufField::Kind::varint, 0, {}};
  bool good = field.number != 0;
  switch (tag & 7U) {
    case 0:
      good = good && next_varint(field.value);
      break;
    case 1:
      field.kind = ProtobufField::Kind::fixed64;
      good = good && next_fixed(8, field.value);
      break;
    case 2:
      field.kind = ProtobufField::Kind::bytes;
      good = good && next_varint(field.value) && field.value <= message_.size() - at_;
      if (!good) break;
      field.bytes = message_.substr(at_, static_cast<std::size_t>(field.value));
      at_ += field.bytes.size();
      break;
    case 5:
      field.kind = ProtobufField::Kind::fixed32;
      good = good && next_fixed(4, field.value);
      break;
    default:
      good = false;
  }
  broken_ = broken_ || !good;
  return good;
}

}  // namespace tbdsim
