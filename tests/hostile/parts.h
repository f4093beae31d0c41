// Parts that hostile models are put together from, short enough for tables.
#ifndef KHEYA_TESTS_HOSTILE_PARTS_H_
#define KHEYA_TESTS_HOSTILE_PARTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/testing/model_writer.h"
#include "hostile/hostile_models.h"

namespace kheya::test {

using Strings = std::vector<std::string>;
using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

// Numbers that sizes, counts, axes and indices should not be.
inline constexpr int64_t kOddInts[] = {-1, 0, 7, int64_t{1} << 31, INT64_MAX, INT64_MIN};

// What stands at one place of a node's inputs.
struct Operand {
  std::string type = {};    // TypeProto: an input
  std::string tensor = {};  // TensorProto without a name: a constant; neither: left out
  bool left_out() const { return type.empty() && tensor.empty(); }
};

// An input by its type: "float32[2,N]", "seq(string?)"; a run fills it.
Operand In(std::string_view type);
Operand None();
Operand K(const Ints& values);  // int64[n]
Operand K(const Floats& values);
Operand K(const Strings& values);
Operand Scalar(int64_t value);
Operand ScalarFloat(float value);
Operand ScalarBool(bool value);
// Raw data, whatever its size.
Operand Raw(DType dtype, const Ints& dims, std::string_view data);
// `count` bytes of 0x11, for types of less than 8 bits and for those that need not mean anything.
Operand Filled(DType dtype, const Ints& dims, size_t count);

// "Loop", "ai.onnx.ml::Scaler"; the node "node" with inputs x0, x1, ... and outputs y0, y1, ...
struct NodeRow {
  std::string name;
  std::string op;
  std::vector<Operand> operands;
  Strings attributes = {};
  int outputs = 1;
  size_t captured = 0;  // the last operands, which the node does not list
};
HostileModel OneNode(const NodeRow& row);
void AddRows(std::vector<HostileModel>& models, const std::vector<NodeRow>& rows);

// "Add(a, b) -> c", "Split(x) -> y, z", "local::F(x) -> y": NodeProto.
std::string N(std::string_view text, const Strings& attributes = {});
// GraphProto with untyped inputs and outputs: "i, c, a".
std::string Body(std::string_view inputs, const Strings& nodes, std::string_view outputs,
                 const Strings& initializers = {});
// The parts of "a, b, c".
Strings SplitNames(std::string_view list);
// The tensor of a constant operand, with a name.
std::string Named(const Operand& constant, std::string_view name);

// Changes to a model whose graph has one node.
std::string WithAttribute(std::string_view model, const std::string& name,
                          const std::string& attribute);  // empty: takes it away
std::string WithOperand(std::string_view model, size_t place, const Operand& operand);

// Models of tests/cases/ops: one node each, every other input a constant.
struct CaseModel {
  std::string file;  // "ml/Scaler.json"
  std::string name;  // of the case
  std::string bytes;
};
const std::vector<CaseModel>& CaseModels();
// The first model of a file, which must be there.
const std::string& FirstCase(std::string_view file);

}  // namespace kheya::test

#endif  // KHEYA_TESTS_HOSTILE_PARTS_H_
