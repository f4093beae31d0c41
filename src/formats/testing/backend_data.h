// Where this machine has the test cases of the ONNX project.
#ifndef KHEYA_FORMATS_TESTING_BACKEND_DATA_H_
#define KHEYA_FORMATS_TESTING_BACKEND_DATA_H_

#include <string>
#include <vector>

namespace kheya::test {

// The folders with cases on this machine, each with node/, simple/ and so on: that of Debian's
// libonnx-testdata, where it is installed, and what KHEYA_ONNX_TESTDATA names.
std::vector<std::string> BackendDataFolders();

}  // namespace kheya::test

#endif  // KHEYA_FORMATS_TESTING_BACKEND_DATA_H_
