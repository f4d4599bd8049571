#include "model/trace/gzip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>

namespace tbdsim::trace {

bool is_gzip(std::string_view bytes) { return bytes.size() > 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b'; }

Result<std::string> unpack_gzip(std::string_view bytes, const std::string& name, std::size_t most) {
  const auto refuse = [&](std::string why) { return tl::make_unexpected(Errors{Error{std::move(why), SourceRef{name, 0, 0}}}); };
  if (bytes.size() > std::numeric_limits<uInt>::max()) return refuse("larger than 4 GiB");
  z_stream stream{};
  constexpr int kGzip = 16 + MAX_WBITS;
  if (inflateInit2(&stream, kGzip) != Z_OK) return refuse("zlib does not start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  int status = Z_OK;
  while (status == Z_OK && text.size() <= most) {
    const std::size_t before = text.size();
    text.resize(before + std::max<std::size_t>(before, std::size_t{1} << 16));
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + before);
    stream.avail_out = static_cast<uInt>(std::min<std::size_t>(text.size() - before, std::numeric_limits<uInt>::max()));
    const uInt room = stream.avail_out;
    status = inflate(&stream, Z_NO_FLUSH);
    text.resize(before + (room - stream.avail_out));
    // A file may be several streams, one after the other.
    if (status == Z_STREAM_END && stream.avail_in > 0) status = inflateReset(&stream);
  }
  inflateEnd(&stream);
  if (text.size() > most) return refuse(fmt::format("larger than {} MiB once it is unpacked", most >> 20));
  if (status != Z_STREAM_END) return refuse(stream.avail_in == 0 ? "gzip: cut short" : "gzip: damaged");
  return text;
}

}  // namespace tbdsim::trace
