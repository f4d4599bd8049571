#include "model/trace/gzip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <limits>

namespace tbdsim::trace {
namespace {

/// Unpacks piece by piece. Returns how many bytes this makes, and adds them to `text` where there is one. Errors: as
/// `unpack_gzip`.
Result<std::size_t> unpack(std::string_view bytes, std::size_t most, const std::string& name, std::string* text) {
  const auto refuse = [&](std::string why) { return tl::make_unexpected(Errors{Error{std::move(why), SourceRef{name, 0, 0}}}); };
  z_stream stream{};
  constexpr int kGzip = 16 + MAX_WBITS;
  if (inflateInit2(&stream, kGzip) != Z_OK) return refuse("zlib does not start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::array<char, std::size_t{1} << 16> piece;  // not cleared: written before it is read
  std::size_t size = 0;
  int status = Z_OK;
  while (status == Z_OK && size <= most) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    status = inflate(&stream, Z_NO_FLUSH);
    const std::size_t made = piece.size() - stream.avail_out;
    size += made;
    if (text != nullptr) text->append(piece.data(), made);
    // A file may be several streams, one after the other.
    if (status == Z_STREAM_END && stream.avail_in > 0) status = inflateReset(&stream);
  }
  inflateEnd(&stream);
  if (size > most) return refuse(fmt::format("larger than {} MiB once it is unpacked", most >> 20));
  if (status != Z_STREAM_END) return refuse(stream.avail_in == 0 ? "gzip: cut short" : "gzip: damaged");
  return size;
}

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.size() > 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b'; }

Result<std::string> unpack_gzip(std::string_view bytes, const std::string& name, std::size_t most) {
  if (bytes.size() > std::numeric_limits<uInt>::max())
    return tl::make_unexpected(Errors{Error{"larger than 4 GiB", SourceRef{name, 0, 0}}});
  // A file of a few megabytes may hold a thousand times as much: it is measured before any of it is kept.
  const auto size = unpack(bytes, most, name, nullptr);
  if (!size) return tl::make_unexpected(size.error());
  std::string text;
  text.reserve(*size);
  const auto kept = unpack(bytes, most, name, &text);
  if (!kept) return tl::make_unexpected(kept.error());
  return text;
}

}  // namespace tbdsim::trace
