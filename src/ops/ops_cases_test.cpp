// Every case of tests/cases/ops, and that every operator has cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "ops/infer.h"
#include "ops/op.h"
#include "ops/testing/case_file.h"
#include "ops/testing/op_fuzz.h"
#include "ops/verify_model.h"
#include "tensor/tolerance.h"

namespace kheya {
namespace {

using test::CaseValue;
using test::OpCase;
using test::OpCaseFile;
using test::TypedOperand;

const std::string kFolder = std::string(KHEYA_SOURCE_DIR) + "/tests/cases/ops/";

std::string FileOf(const OpDef& op) { return test::CaseFileOf(op); }

// A graph of one node.
struct OneNode {
  Graph graph{"case"};
  NodeId node;
  std::vector<Value> inputs;

  const GraphValue& output(size_t index) const {
    return graph.value(graph.node(node).outputs[index]);
  }
};

Status AddNode(const OpDef& op, const OpCase& one, std::vector<ValueId> inputs,
               const std::vector<bool>& outputs, OneNode& built) {
  NodeSpec spec = {
      .op = op.name, .domain = op.domain, .name = "tested", .inputs = std::move(inputs)};
  spec.attributes = one.attributes;
  for (size_t i = 0; i < outputs.size(); ++i) {
    spec.outputs.push_back(outputs[i] ? "y" + std::to_string(i) : "");
  }
  KHEYA_ASSIGN_OR_RETURN(built.node, built.graph.AddNode(std::move(spec)));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueId output = built.graph.node(built.node).outputs[i];
    if (output.valid()) built.graph.AddOutput("y" + std::to_string(i), output);
  }
  return OkStatus();
}

ValueType WithoutShapes(ValueType type) {
  type.shape.reset();
  if (type.element) type.element = std::make_shared<ValueType>(WithoutShapes(*type.element));
  return type;
}

// The case's inputs as constants or as inputs of the graph, with all their shapes or none.
enum class Given { kConstants, kInputs, kTypesOnly };

Result<OneNode> BuildOnTensors(const OpDef& op, const OpCase& one, Given given) {
  OneNode built;
  std::vector<ValueId> inputs;
  for (const std::optional<CaseValue>& input : one.inputs) {
    const std::string name = "x" + std::to_string(inputs.size());
    if (!input) {
      inputs.push_back(ValueId());
    } else if (given == Given::kConstants && input->value.is_tensor()) {
      inputs.push_back(built.graph.AddConstant(name, input->value.tensor()));
    } else {
      inputs.push_back(built.graph.AddInput(
          name, given == Given::kTypesOnly ? WithoutShapes(input->type) : input->type));
      built.inputs.push_back(input->value);
    }
  }
  std::vector<bool> outputs;
  for (const auto& output : one.outputs) outputs.push_back(output.has_value());
  if (outputs.empty()) {
    const auto required = std::ranges::count_if(
        op.outputs, [](const ParamDef& def) { return def.presence != Presence::kOptional; });
    outputs.assign(static_cast<size_t>(one.num_outputs.value_or(required)), true);
  }
  KHEYA_RETURN_IF_ERROR(AddNode(op, one, inputs, outputs, built));
  return built;
}

Result<OneNode> BuildOnTypes(const OpDef& op, const OpCase& one) {
  OneNode built;
  std::vector<ValueId> inputs;
  for (const TypedOperand& input : one.infer_inputs) {
    const std::string name = "x" + std::to_string(inputs.size());
    if (input.left_out) {
      inputs.push_back(ValueId());
    } else if (input.constant) {
      inputs.push_back(built.graph.AddConstant(name, *input.constant));
    } else {
      inputs.push_back(built.graph.AddInput(name, input.type));
      if (input.elements) built.graph.SetElements(inputs.back(), input.elements);
    }
  }
  std::vector<bool> outputs;
  for (const TypedOperand& output : one.infer_outputs) outputs.push_back(!output.left_out);
  KHEYA_RETURN_IF_ERROR(AddNode(op, one, inputs, outputs, built));
  return built;
}

Result<std::vector<Value>> Run(OneNode& built) {
  KHEYA_RETURN_IF_ERROR(VerifyModel(built.graph));
  KHEYA_RETURN_IF_ERROR(InferTypes(built.graph));
  return Interpret(built.graph, built.inputs, InterpretOptions());
}

// What was inferred must be true of what was computed.
void CheckInferred(const GraphValue& inferred, const Value& computed) {
  EXPECT_TRUE(!computed.is_tensor() || inferred.type.kind != ValueType::Kind::kUnknown);
  const Status fits = CheckType(computed, inferred.type);
  EXPECT_TRUE(fits.ok()) << fits.ToString();
  if (!inferred.elements) return;
  ASSERT_TRUE(computed.is_tensor());
  const Result<std::vector<int64_t>> values = ToInt64s(computed.tensor());
  ASSERT_TRUE(values.ok()) << values.status().ToString();
  ASSERT_EQ(inferred.elements->size(), values->size());
  for (size_t i = 0; i < values->size(); ++i) {
    const Dim& element = (*inferred.elements)[i];
    EXPECT_TRUE(!element.known() || element.value() == (*values)[i]) << "element " << i;
  }
}

Status CheckValue(const Value& got, const Value& expected, const OpDef& op, const OpCase& one);

template <typename Map>
Status CheckMap(const Map* got, const Map& expected, const OpDef& op, const OpCase& one) {
  if (got == nullptr || got->size() != expected.size()) {
    return InvalidArgumentError("expected a map of {} keys", expected.size());
  }
  for (const auto& [key, value] : expected) {
    const auto found = got->find(key);
    if (found == got->end()) return InvalidArgumentError("found no key '{}'", key);
    KHEYA_RETURN_IF_ERROR(CheckValue(found->second, value, op, one).WithContext("key '{}'", key));
  }
  return OkStatus();
}

Status CheckValue(const Value& got, const Value& expected, const OpDef& op, const OpCase& one) {
  if (expected.is_tensor()) {
    if (!got.is_tensor()) return InvalidArgumentError("found no tensor");
    const double bound =
        one.tolerance ? *one.tolerance : ToleranceOf(op.name, expected.tensor().dtype());
    return CheckWithin(got.tensor(), expected.tensor(), bound);
  }
  if (expected.int64_map() != nullptr) {
    return CheckMap(got.int64_map(), *expected.int64_map(), op, one);
  }
  if (expected.string_map() != nullptr) {
    return CheckMap(got.string_map(), *expected.string_map(), op, one);
  }
  if (expected.sequence() == nullptr) {
    return got.empty() ? OkStatus() : InvalidArgumentError("found a value, expected none");
  }
  if (got.sequence() == nullptr || got.sequence()->size() != expected.sequence()->size()) {
    return InvalidArgumentError("expected a sequence of {}", expected.sequence()->size());
  }
  for (size_t i = 0; i < expected.sequence()->size(); ++i) {
    const Value& element = (*expected.sequence())[i];
    KHEYA_RETURN_IF_ERROR(
        CheckValue((*got.sequence())[i], element, op, one).WithContext("element {}", i));
  }
  return OkStatus();
}

void CheckOutputs(const OpDef& op, const OpCase& one, const OneNode& built,
                  const std::vector<Value>& computed) {
  size_t at = 0;
  for (size_t i = 0; i < one.outputs.size(); ++i) {
    if (!one.outputs[i]) continue;
    ASSERT_LT(at, computed.size());
    const Value& value = computed[at++];
    CheckInferred(built.output(i), value);
    const Status status = CheckValue(value, one.outputs[i]->value, op, one);
    EXPECT_TRUE(status.ok()) << "output " << i << ": " << status.ToString();
  }
}

void CheckOnTensors(const OpDef& op, const OpCase& one, Given given) {
  Result<OneNode> built = BuildOnTensors(op, one, given);
  ASSERT_TRUE(built.ok()) << built.status().ToString();
  const Result<std::vector<Value>> computed = Run(*built);
  if (!one.error.empty()) {
    ASSERT_FALSE(computed.ok()) << "not refused";
    EXPECT_NE(computed.status().message().find(one.error), std::string::npos)
        << "found: " << computed.status().message() << "\nexpected: " << one.error;
    return;
  }
  ASSERT_TRUE(computed.ok()) << computed.status().ToString();
  CheckOutputs(op, one, *built, *computed);
}

std::string ElementsText(const std::optional<std::vector<Dim>>& elements) {
  if (!elements) return "none";
  std::string text;
  for (const Dim& element : *elements) text += element.ToString() + " ";
  return text;
}

void CheckInference(const OpDef& op, const OpCase& one) {
  Result<OneNode> built = BuildOnTypes(op, one);
  ASSERT_TRUE(built.ok()) << built.status().ToString();
  Status status = VerifyModel(built->graph);
  if (status.ok()) status = InferTypes(built->graph);
  if (!one.error.empty()) {
    EXPECT_NE(status.message().find(one.error), std::string::npos) << status.ToString();
    return;
  }
  ASSERT_TRUE(status.ok()) << status.ToString();
  for (size_t i = 0; i < one.infer_outputs.size(); ++i) {
    const TypedOperand& expected = one.infer_outputs[i];
    if (expected.left_out) continue;
    EXPECT_EQ(built->output(i).type.ToString(), expected.type.ToString()) << "output " << i;
    if (!expected.elements) continue;
    EXPECT_EQ(ElementsText(built->output(i).elements), ElementsText(expected.elements));
  }
}

void Check(const OpDef& op, const OpCase& one) {
  SCOPED_TRACE(one.name);
  if (!one.infer_outputs.empty()) {
    CheckInference(op, one);
  } else {
    for (Given given : {Given::kConstants, Given::kInputs, Given::kTypesOnly}) {
      CheckOnTensors(op, one, given);
    }
  }
}

// Puts what is computed into the file.
void Rewrite(const OpDef& op, const OpCaseFile& file) {
  Json json = Json::Array();
  for (size_t i = 0; i < file.cases.size(); ++i) {
    Json one = file.json.items()[i];
    Result<OneNode> built = BuildOnTensors(op, file.cases[i], Given::kInputs);
    if (!file.cases[i].outputs.empty() && built.ok()) {
      const Result<std::vector<Value>> computed = Run(*built);
      ASSERT_TRUE(computed.ok()) << file.cases[i].name << ": " << computed.status().ToString();
      Json outputs = Json::Array();
      size_t at = 0;
      for (const auto& output : file.cases[i].outputs) {
        outputs.Append(output ? test::ValueToJson((*computed)[at++]) : Json());
      }
      one["outputs"] = outputs;
    }
    json.Append(one);
  }
  ASSERT_TRUE(test::WriteCaseFile(file.path, json).ok());
}

class OpCases : public testing::TestWithParam<const OpDef*> {};

TEST_P(OpCases, Hold) {
  const OpDef& op = *GetParam();
  const Result<OpCaseFile> file = test::ReadCaseFile(kFolder + FileOf(op), op);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  if (std::getenv("UPDATE_GOLDEN") != nullptr) return Rewrite(op, *file);
  EXPECT_GE(file->cases.size(), 2u) << "an operator needs at least two cases";
  std::set<std::string> names;
  for (const OpCase& one : file->cases) {
    EXPECT_TRUE(names.insert(one.name).second) << "found case '" << one.name << "' twice";
    const bool checks = !one.outputs.empty() || !one.error.empty() || !one.infer_outputs.empty();
    EXPECT_TRUE(checks) << "case '" << one.name << "' expects nothing";
    Check(op, one);
  }
}

INSTANTIATE_TEST_SUITE_P(All, OpCases, testing::ValuesIn(AllOps().begin(), AllOps().end()),
                         [](const auto& info) {
                           std::string name = FileOf(*info.param);
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name.substr(0, name.rfind('.'));
                         });

TEST(OpTable, IsSortedAndHoldsEachOperatorOnce) {
  for (size_t i = 1; i < AllOps().size(); ++i) {
    // Kheya's own stand among those of ai.onnx.
    const OpDef& before = *AllOps()[i - 1];
    const OpDef& after = *AllOps()[i];
    if (std::filesystem::path(FileOf(before)).parent_path() !=
        std::filesystem::path(FileOf(after)).parent_path()) {
      continue;
    }
    EXPECT_LT(std::string(before.name), std::string(after.name));
  }
  for (const OpDef* op : AllOps()) EXPECT_EQ(FindOp(op->domain, op->name), op);
  EXPECT_EQ(FindOp("", "NoSuchOperator"), nullptr);
  EXPECT_EQ(FindOp("com.example", "Add"), nullptr);
}

TEST(OpTable, EveryCaseFileHasItsOperator) {
  std::set<std::string> names;
  for (const OpDef* op : AllOps()) names.insert(FileOf(*op));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kFolder)) {
    if (entry.is_directory()) continue;
    EXPECT_EQ(names.count(entry.path().string().substr(kFolder.size())), 1u)
        << entry.path() << " is of no operator in the tables";
  }
}

}  // namespace
}  // namespace kheya
