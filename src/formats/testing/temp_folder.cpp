#include "formats/testing/temp_folder.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace kheya::test {

TempFolder::TempFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "kheya_XXXXXX").string();
  if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::string TempFolder::Write(std::string_view name, std::string_view content) const {
  std::string path = (std::filesystem::path(path_) / name).string();
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

}  // namespace kheya::test
