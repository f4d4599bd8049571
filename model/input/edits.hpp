#pragma once
#include <memory>
#include <string>
#include <vector>

namespace tbdsim {

/// What errors and places name instead of a file where the user's assignment is meant.
inline constexpr const char* kAssignments = "--set";

/// One value of one input document, replaced or added. Documents go by their role in a configuration: "hw" is the
/// system file, "hw.device" the GPU that it names, "stack" the stack.
struct Edit {
  std::string key;      ///< role, dot, path in the document: "hw.link.nvlink.bandwidth", "model.layer[3].kernel"
  std::string literal;  ///< the new value as TOML writes it
  std::string text;     ///< the assignment as the user gave it, for messages
  int line = 1;         ///< which of the user's assignments it is, from 1
  int column = 1;       ///< where the value begins in `text`
};

/// A value of a document that was read.
struct DocumentLeaf {
  std::string path;   ///< "link.nvlink.bandwidth"
  std::string alias;  ///< the same with elements of arrays by their `name`: "layer.conv1.kernel"; else empty
  std::string literal;
  bool text = false;  ///< a string; `literal` is then without quotes
};

/// A document that was read, with all it holds.
struct DocumentRecord {
  std::string role, file;
  std::vector<DocumentLeaf> leaves;
  std::vector<std::string> tables;  ///< paths of its tables, the root (empty) first
};

/// What to change in the documents of a configuration, and a place to note which documents it reads.
struct Edits {
  std::vector<Edit> changes;
  std::shared_ptr<std::vector<DocumentRecord>> records;  ///< null: nothing is noted; not for use from several threads
};

}  // namespace tbdsim
