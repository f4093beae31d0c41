// Where this machine has the test cases of the ONNX project.
#ifndef KHEYA_FORMATS_TESTING_BACKEND_DATA_H_
#define KHEYA_FORMATS_TESTING_BACKEND_DATA_H_

#include <string>
#include <vector>

#include "formats/conformance/backend_cases.h"

namespace kheya::test {

// The folders with cases on this machine, each with node/, simple/ and so on: that of Debian's
// libonnx-testdata, where it is installed, and what KHEYA_ONNX_TESTDATA names.
std::vector<std::string> BackendDataFolders();

// The failures of a report but those of cases whose data contradict the standard:
//   test_qlinearmatmul_*_int8_*  results beyond the range of int8 wrap, which the standard says
//                                saturate
//   test_dft_inverse*            zeros hold the rounding errors of a float32 transform, beyond the
//                                tolerance of the case
//   test_attention_*_qk_matmul_bias*, *_qk_matmul_softcap
//                                of 1.21.0: the mask comes before the cap, which the standard now
//                                has the other way round, with numbers of modes to match
//   test_adam_multiple           made with an epsilon that its model does not hold
std::vector<std::string> UnexpectedFailures(const conformance::BackendReport& report);

}  // namespace kheya::test

#endif  // KHEYA_FORMATS_TESTING_BACKEND_DATA_H_
