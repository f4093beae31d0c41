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

std::vector<std::string> UnexpectedFailures(const conformance::BackendReport& report) {
  std::vector<std::string> unexpected;
  for (const std::string& failure : report.failures) {
    const std::string name = failure.substr(0, failure.find(':'));
    const bool wraps = name.starts_with("test_qlinearmatmul_") && name.find("_int8_") != name.npos;
    const bool rounded = name.starts_with("test_dft_inverse");
    const bool other_epsilon = name == "test_adam_multiple";
    const bool mask_first =
        name.starts_with("test_attention_") &&
        (name.find("_qk_matmul_bias") != name.npos || name.ends_with("_qk_matmul_softcap"));
    if (!wraps && !rounded && !other_epsilon && !mask_first) unexpected.push_back(failure);
  }
  return unexpected;
}

}  // namespace kheya::test
