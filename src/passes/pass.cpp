#include "passes/pass.h"

#include <algorithm>

namespace kheya {

Status PassContext::Apply(Patch& patch) {
  KHEYA_RETURN_IF_ERROR(patch.Apply());
  ++changes;
  return OkStatus();
}

void PassContext::AddNote(const Node& node, const std::string& reason) {
  std::string note = fmt::format("{}: {}: {}", pass, node.Describe(), reason);
  std::vector<std::string>& notes = *options.notes;
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
}

}  // namespace kheya
