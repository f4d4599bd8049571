#include "model/support/quote.hpp"

#include <fmt/format.h>

namespace tbdsim {
namespace {

unsigned byte_at(std::string_view bytes, std::size_t i) { return static_cast<unsigned char>(bytes[i]); }

bool continues(std::string_view bytes, std::size_t i) { return i < bytes.size() && (byte_at(bytes, i) & 0xC0u) == 0x80u; }

void append_escaped(std::string& out, unsigned byte) {
  switch (byte) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += fmt::format("\\x{:02x}", byte);
  }
}

std::string escape(std::string_view text, std::size_t limit, bool escape_quotes) {
  std::string out;
  std::size_t shown = 0;
  while (!text.empty()) {
    if (shown++ == limit) return out + "...";
    const unsigned byte = byte_at(text, 0);
    std::size_t length = utf8_length(text);
    if (length == 0 || byte < 0x20u || byte == 0x7Fu) {
      append_escaped(out, byte);
      length = 1;
    } else {
      if (escape_quotes && (byte == '"' || byte == '\\')) out += '\\';
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace

std::size_t utf8_length(std::string_view bytes) {
  if (bytes.empty()) return 0;
  const unsigned first = byte_at(bytes, 0);
  if (first < 0x80u) return 1;
  if (first < 0xC2u || first > 0xF4u || !continues(bytes, 1)) return 0;
  if (first < 0xE0u) return 2;
  if (!continues(bytes, 2)) return 0;
  const unsigned second = byte_at(bytes, 1);
  // Overlong forms, surrogates and code points above U+10FFFF are not UTF-8 (RFC 3629, section 4).
  if (first < 0xF0u) return (first == 0xE0u && second < 0xA0u) || (first == 0xEDu && second > 0x9Fu) ? 0 : 3;
  if (!continues(bytes, 3)) return 0;
  return (first == 0xF0u && second < 0x90u) || (first == 0xF4u && second > 0x8Fu) ? 0 : 4;
}

std::string printable(std::string_view text, std::size_t limit) { return escape(text, limit, false); }

std::string quoted(std::string_view text, std::size_t limit) { return '"' + escape(text, limit, true) + '"'; }

}  // namespace tbdsim
