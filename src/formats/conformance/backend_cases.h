// The test cases of the ONNX project (onnx/backend/test/data): models with inputs and expected
// outputs. Whoever runs models gives a function; the same cases then judge every executor.
//
//   KHEYA_ASSIGN_OR_RETURN(std::vector<BackendCase> cases, FindBackendCases(folder));
//   for (const BackendCase& test : cases) {
//     const CaseResult result = RunBackendCase(test, run);
//     if (result.outcome == CaseResult::Outcome::kFailed) ... result.reason
//   }
#ifndef KHEYA_FORMATS_CONFORMANCE_BACKEND_CASES_H_
#define KHEYA_FORMATS_CONFORMANCE_BACKEND_CASES_H_

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "formats/formats.h"
#include "tensor/value.h"

namespace kheya::conformance {

struct BackendCase {
  std::string name;  // the path below the folder that was searched: "node/test_relu"
  std::string model_path;
  std::vector<std::string> data_sets;  // folders of input_0.pb, output_0.pb, ...
  // Of light cases instead: outputs are PREFIX_output_0.pb, ...; inputs count up from 0 to 1.
  std::string light_prefix;
  std::string settings_path;  // data.json, which may say "rtol" and "atol"; may not be there
};

// Every folder with a model.onnx below `folder` or `folder` itself, and every NAME.onnx beside a
// NAME_output_0.pb, whose weights are generated (onnx/backend/test/data/light); by name. A
// folder is looked at once, whatever links lead to it. NotFound when there is no such folder, or no
// case in it.
Result<std::vector<BackendCase>> FindBackendCases(const std::string& folder);

// Runs the model on inputs in the order of graph.inputs().
using RunGraph =
    std::function<Result<std::vector<Value>>(const Graph& graph, std::span<const Value> inputs)>;

struct CaseResult {
  // kRandom: passed what can be said of a case with outputs that depend on a random operator that
  // has no seed, or whose seed gives other numbers than expected, which the standard leaves open:
  // types and shapes, numbers in the range of those expected, and the same numbers when it is run
  // again. Its other outputs are those expected.
  enum class Outcome : uint8_t { kPassed, kFailed, kSkipped, kRandom };
  Outcome outcome = Outcome::kPassed;
  std::string reason;  // why it failed or was skipped
  int64_t opset = 0;   // of ai.onnx that the file declares; 0: it could not be read
};

// A case is skipped when its model has operators that FindUnsupported names, or when something in
// it is refused by name (Unimplemented). Everything else that does not pass is a failure, a model
// that is no ONNX too.
CaseResult RunBackendCase(const BackendCase& test, const RunGraph& run);

// The outcomes of many cases.
struct BackendReport {
  int passed = 0;
  int random = 0;
  std::vector<std::string> failures;   // "test_relu: output 0: ..."
  std::map<std::string, int> skipped;  // why: how many cases
  void Add(const std::string& name, const CaseResult& result);
  int num_skipped() const;
  // "410 passed, 0 failed, 200 skipped", then the reasons by count.
  std::string ToString() const;
};
BackendReport RunBackendCases(std::span<const BackendCase> cases, const RunGraph& run);

// Ok when `found` equals `expected`: types and shapes, integers, bools and strings exactly, floats
// with |found - expected| <= absolute + relative * |expected|, NaN equal to NaN.
Status CompareValues(const Value& found, const Value& expected, double relative, double absolute);
// The same for random values: types and shapes, and no number outside the expected ones' range
// widened by its width on both sides; of integers and bools not outside the range itself.
Status CompareRandomValues(const Value& found, const Value& expected);

}  // namespace kheya::conformance

#endif  // KHEYA_FORMATS_CONFORMANCE_BACKEND_CASES_H_
