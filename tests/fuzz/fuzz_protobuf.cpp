// Any bytes as a message in the wire format of protocol buffers: the walk ends, and never leaves the message.
#include "model/input/protobuf_reader.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace tbdsim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string message = fuzz::bytes(data, size);
  ProtobufReader reader(message);
  ProtobufField field;
  std::size_t payload = 0;
  while (reader.next(field)) {
    fuzz::require(field.number > 0, "a field has a number");
    payload += field.bytes.size() + 1;
    ProtobufReader inner(field.bytes);
    for (std::uint64_t value = 0; inner.next_varint(value);) payload += 0;
  }
  fuzz::require(payload <= size, "fields lie side by side in the message");
  return 0;
}
