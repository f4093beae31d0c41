// FindBackendCases of backend_cases.h.
#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "formats/conformance/backend_cases.h"

namespace kheya::conformance {
namespace {

namespace fs = std::filesystem;

// How deep cases may lie below the folder that is searched.
constexpr int kMaxDepth = 6;

std::vector<fs::path> SortedEntries(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  while (!error && entry != fs::directory_iterator()) {
    entries.push_back(entry->path());
    entry.increment(error);
  }
  std::ranges::sort(entries);
  return entries;
}

// Where `path` is when all links are followed; empty when it is no folder.
fs::path RealFolder(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return !error && fs::is_directory(real, error) ? real : fs::path();
}

// A folder, with all links followed, and those that it lies in.
std::set<fs::path> WithParents(fs::path folder) {
  std::set<fs::path> all;
  while (all.insert(folder).second) folder = folder.parent_path();
  return all;
}

// Walks folders for cases, each folder once whatever links lead to it, and none that the first one
// lies in.
class CaseFinder {
 public:
  explicit CaseFinder(const fs::path& root) : seen_(WithParents(RealFolder(root))) {
    FindBelow(root, "", 0);
  }

  std::vector<BackendCase> Take() { return std::move(cases_); }

 private:
  // Whether `folder` is one that was not seen before.
  bool Enter(const fs::path& folder) {
    const fs::path real = RealFolder(folder);
    return !real.empty() && seen_.insert(real).second;
  }

  void AddLightCase(const fs::path& model, const std::string& name) {
    BackendCase test;
    test.name = name;
    test.model_path = model.string();
    test.light_prefix = (model.parent_path() / model.stem()).string();
    if (FileExists(test.light_prefix + "_output_0.pb")) cases_.push_back(std::move(test));
  }

  void AddCase(const fs::path& folder, const std::string& name) {
    BackendCase test;
    test.name = name;
    test.model_path = (folder / "model.onnx").string();
    test.settings_path = (folder / "data.json").string();
    std::set<fs::path> seen = WithParents(RealFolder(folder));
    for (const fs::path& path : SortedEntries(folder)) {
      const fs::path real = RealFolder(path);
      if (real.empty() || !seen.insert(real).second) continue;
      test.data_sets.push_back(path.string());
    }
    cases_.push_back(std::move(test));
  }

  void FindBelow(const fs::path& folder, const std::string& prefix, int depth) {
    if (FileExists((folder / "model.onnx").string())) {
      AddCase(folder, prefix.empty() ? RealFolder(folder).filename().string() : prefix);
      return;
    }
    const std::string start = prefix.empty() ? "" : prefix + "/";
    for (const fs::path& path : SortedEntries(folder)) {
      if (path.extension() == ".onnx") {
        AddLightCase(path, start + path.stem().string());
      } else if (depth < kMaxDepth && Enter(path)) {
        FindBelow(path, start + path.filename().string(), depth + 1);
      }
    }
  }

  std::set<fs::path> seen_;  // with all links followed
  std::vector<BackendCase> cases_;
};

}  // namespace

Result<std::vector<BackendCase>> FindBackendCases(const std::string& folder) {
  if (!IsDirectory(folder)) return NotFoundError("folder '{}' is not there", folder);
  std::vector<BackendCase> cases = CaseFinder(fs::path(folder).lexically_normal()).Take();
  if (cases.empty()) {
    return NotFoundError(
        "found no cases in folder '{}', expected folders with a model.onnx and "
        "data sets",
        folder);
  }
  return cases;
}

}  // namespace kheya::conformance
