// The test cases of the ONNX project (onnx/backend/test/data): models with inputs and expected
// outputs. Whoever runs models gives a function; the same cases then judge every executor.
//
//   KHEYA_ASSIGN_OR_RETURN(std::vector<BackendCase> cases, FindBackendCases(folder + "/node"));
//   BackendReport report = RunBackendCases(cases, run);
//   for (const std::string& line : report.failures) ...
#ifndef KHEYA_FORMATS_TESTING_BACKEND_CASES_H_
#define KHEYA_FORMATS_TESTING_BACKEND_CASES_H_

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "formats/formats.h"
#include "tensor/value.h"

namespace kheya::test {

// The folders with cases on this machine, each with node/, simple/ and so on: that of Debian's
// libonnx-testdata, where it is installed, and what KHEYA_ONNX_TESTDATA names.
std::vector<std::string> BackendDataFolders();

struct BackendCase {
  std::string name;  // "test_relu"
  std::string model_path;
  std::vector<std::string> data_sets;  // folders of input_0.pb, output_0.pb, ...
  // Of light cases instead: outputs are PREFIX_output_0.pb, ...; inputs count up from 0 to 1.
  std::string light_prefix;
  // Of ONNX's own runner, unless the case's data.json says otherwise.
  double relative_tolerance = 1e-3;
  double absolute_tolerance = 1e-7;
};

// Every folder with a model.onnx below `folder`, by name. NotFound when there is no such folder.
Result<std::vector<BackendCase>> FindBackendCases(const std::string& folder);

// Runs the model on inputs in the order of graph.inputs().
using RunGraph =
    std::function<Result<std::vector<Value>>(const Graph& graph, std::span<const Value> inputs)>;

// The models NAME.onnx in `folder` whose weights are generated (onnx/backend/test/data/light).
Result<std::vector<BackendCase>> FindLightCases(const std::string& folder);

struct BackendReport {
  int passed = 0;
  std::vector<std::string> failures;   // "test_relu: output 0: ..."
  std::map<std::string, int> skipped;  // why: how many cases
  int num_skipped() const;
  // "410 passed, 0 failed, 200 skipped", then the reasons by count.
  std::string ToString() const;
};

// A case is skipped when its model has operators that FindUnsupported names, when something in it
// is refused by name (Unimplemented), or when its inputs contradict the model. Everything else is a
// failure.
BackendReport RunBackendCases(std::span<const BackendCase> cases, const RunGraph& run);

// Ok when `found` equals `expected`: types and shapes, integers, bools and strings exactly, floats
// with |found - expected| <= absolute + relative * |expected|, NaN equal to NaN.
Status CompareValues(const Value& found, const Value& expected, double relative, double absolute);

}  // namespace kheya::test

#endif  // KHEYA_FORMATS_TESTING_BACKEND_CASES_H_
