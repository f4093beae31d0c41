// The cases of tests/cases/ops/<Operator>.json, for tests.
//
//   [{"name": "axis 1",
//     "attributes": {"axis": 1, "value": {"dtype": "float32", "shape": [1], "data": [0.5]}},
//     "inputs": [{"dtype": "float32", "shape": [2, 3], "data": [...]}, null],
//     "outputs": [{"dtype": ..., "shape": ..., "data": ...}],
//     "tolerance": 1e-5},                 (instead of the row of tolerance.inc)
//    {"name": "values that are not tensors",
//     "inputs": [{"sequence": [{"dtype": ...}, ...], "type": "seq(float32?)"},   (type: if none)
//                {"map": {"keys": {"dtype": "int64", ...}, "values": [{"dtype": ...}]}},
//                {"optional": null, "type": "optional(float32[2])"}],            (null: no value)
//     "outputs": ...},
//    {"name": "axis outside", "inputs": [...], "error": "axis 3"},
//                                        (with "num_outputs", if not the required ones alone)
//    {"name": "symbolic", "infer": {"inputs": ["float32[N,3]", {"dtype": ...}],
//                                   "outputs": ["float32[N,8]"]}}]
//
// Data is flat; float data may be "nan", "inf" and "-inf". An attribute is read by the kind that
// the operator gives it; one of kind graph or type is its text. A null input or output is left
// out. In "infer", a tensor is a constant; {"type": "int64[2]", "elements": ["N", "3"]} also gives
// or expects elements.
#ifndef KHEYA_OPS_TESTING_CASE_FILE_H_
#define KHEYA_OPS_TESTING_CASE_FILE_H_

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "graph/graph.h"
#include "ops/op.h"
#include "tensor/tensor.h"
#include "tensor/value.h"

namespace kheya::test {

// One operand of an inference case.
struct TypedOperand {
  bool left_out = false;
  ValueType type;
  std::optional<std::vector<Dim>> elements;
  std::optional<Tensor> constant;
};

// One operand of a case with values.
struct CaseValue {
  Value value;
  ValueType type;  // as given, else that of the value
};

struct OpCase {
  std::string name;
  std::vector<Attribute> attributes;
  std::vector<std::optional<CaseValue>> inputs;   // nullopt: left out
  std::vector<std::optional<CaseValue>> outputs;  // nullopt: left out
  std::optional<double> tolerance;
  std::optional<int64_t> num_outputs;
  std::string error;  // not empty: what the refusal must say
  std::vector<TypedOperand> infer_inputs;
  std::vector<TypedOperand> infer_outputs;  // not empty: an inference case
};

struct OpCaseFile {
  std::string path;
  Json json;  // as it was read
  std::vector<OpCase> cases;
};

Result<OpCaseFile> ReadCaseFile(const std::string& path, const OpDef& op);
Result<Tensor> TensorFromJson(const Json& json);
Json ValueToJson(const Value& value);
// Writes the file anew in its one layout.
Status WriteCaseFile(const std::string& path, const Json& json);

}  // namespace kheya::test

#endif  // KHEYA_OPS_TESTING_CASE_FILE_H_
