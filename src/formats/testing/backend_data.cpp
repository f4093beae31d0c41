#include "formats/testing/backend_data.h"

#include <cstdlib>

#include "base/file.h"

namespace kheya::test {

std::vector<std::string> BackendDataFolders() {
  std::vector<std::string> folders = {"/usr/lib/python3/dist-packages/onnx/backend/test/data"};
  if (const char* named = std::getenv("KHEYA_ONNX_TESTDATA")) folders.push_back(named);
  std::erase_if(folders, [](const std::string& folder) { return !IsDirectory(folder + "/node"); });
  return folders;
}

}  // namespace kheya::test
