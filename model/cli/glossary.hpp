#pragma once
#include <span>
#include <string>

namespace tbdsim {

/// A word that results print, and what it means; `term` holds several, divided by ", ", where they are explained together.
struct GlossaryEntry {
  const char *term, *meaning;
};

/// All words, in alphabetical order of the first of each entry. A test holds the headings of every verb's output against them.
[[nodiscard]] std::span<const GlossaryEntry> glossary();
/// The glossary as Markdown, for `tbdsim docs glossary`.
[[nodiscard]] std::string glossary_markdown();

}  // namespace tbdsim
