// Every row that takes bfloat16 against the reference, whatever the types of its operands.
#include <gmock/gmock.h>

#include <cmath>
#include <map>

#include "kernels/portable/bf16.h"
#include "kernels/sample.h"
#include "ops/infer.h"
#include "runtime/kernel_case.h"
#include "runtime/node_call.h"
#include "runtime/precision.h"
#include "tensor/float16.h"

namespace kheya {
namespace {

// The inputs as bfloat16 holds them.
std::vector<Value> Rounded(const std::vector<Value>& inputs) {
  std::vector<Value> rounded;
  for (const Value& input : inputs) {
    if (input.tensor().dtype() != DType::kFloat32) {
      rounded.push_back(input);
      continue;
    }
    Tensor copy = Tensor::Allocate(DType::kFloat32, input.tensor().shape()).value();
    std::ranges::transform(input.tensor().data<float>(), copy.mutable_data<float>().begin(),
                           [](float value) { return float{BFloat16(value)}; });
    rounded.emplace_back(std::move(copy));
  }
  return rounded;
}

// The memory of a float32 tensor in a type and layout.
Tensor InForm(const Tensor& plain, const TensorDesc& desc) {
  Tensor tensor = Tensor::Allocate(desc.dtype, desc.shape).value();
  std::span<const float> values = plain.data<float>();
  for (int64_t i = 0; i < plain.num_elements(); ++i) {
    const int64_t place = MemoryIndex(desc, i);
    if (desc.dtype == DType::kBFloat16) {
      tensor.mutable_data<BFloat16>()[place] = BFloat16(values[i]);
    } else {
      tensor.mutable_data<float>()[place] = values[i];
    }
  }
  return tensor;
}

bool IsProduct(const KernelCall& call) {
  return std::holds_alternative<FusedConvParams>(call.params) ||
         std::holds_alternative<FusedMatMulParams>(call.params);
}

// Products have rounded weights: the error of a sum is in proportion to its terms.
void ExpectNear(const Tensor& found, const Tensor& expected, const KernelCall& call,
                const std::string& what) {
  const TensorDesc& desc = call.outputs[0];
  double largest = 1e-3;
  for (float value : expected.data<float>()) {
    if (std::isfinite(value)) largest = std::max<double>(largest, std::abs(value));
  }
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    const float b = expected.data<float>()[i];
    const int64_t place = MemoryIndex(desc, i);
    const float a =
        desc.dtype == DType::kBFloat16 ? float{found.At<BFloat16>(place)} : found.At<float>(place);
    ASSERT_EQ(std::isnan(a), std::isnan(b)) << what << " at " << i;
    if (std::isnan(b) || a == b) continue;
    const double allowed = IsProduct(call) ? 0.02 * largest : std::abs(b) / 256 + 2e-5 * largest;
    ASSERT_NEAR(a, b, allowed) << what << " at " << i;
  }
}

class NarrowComparison {
 public:
  NarrowComparison(const Case& c, const std::string& what, std::set<std::string>* used)
      : case_(c), what_(what), used_(used), rng_(7), inputs_(Rounded(c.inputs)) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      values_[case_.graph.inputs()[i]] = inputs_[i].tensor();
    }
  }

  void Run() {
    const auto expected = Interpret(case_.graph, inputs_, {});
    ASSERT_TRUE(expected.ok()) << what_;
    for (size_t i = 0; i < expected->size(); ++i) {
      const ValueId output = case_.graph.outputs()[i].value;
      const NodeId producer = case_.graph.value(output).producer;
      if (!producer.valid()) continue;
      const std::optional<NodeCall> node = MakeNodeCall(case_.graph, case_.graph.node(producer));
      if (!node || node->outputs[0] != output || !CollectOperands(*node)) continue;
      for (int round = 0; round < 6; ++round) {
        RunCall(CallFor(*node, round), (*expected)[i].tensor());
        if (testing::Test::HasFatalFailure()) return;
      }
    }
    RunConversions();
  }

 private:
  // Of the inputs, into the other type and into every layout.
  void RunConversions() {
    constants_ = {nullptr};
    for (const auto& [id, value] : values_) {
      if (value.dtype() != DType::kFloat32 || value.num_elements() == 0) continue;
      operands_ = {&value};
      for (int form = 0; form < 8 && !testing::Test::HasFatalFailure(); ++form) {
        const auto layout = [form](int bit) {
          return (form >> bit & 1) != 0 ? Layout::kChannelsLast : Layout::kPlain;
        };
        const bool narrows = (form & 4) != 0;
        const DType types[] = {DType::kFloat32, DType::kBFloat16};
        const TensorDesc from{types[narrows ? 0 : 1], value.shape(), layout(0)};
        const TensorDesc to{types[narrows ? 1 : 0], value.shape(), layout(1)};
        RunCall({ReorderParams{}, {from}, {to}}, value);
      }
    }
  }

  // False where a value comes from another node.
  bool CollectOperands(const NodeCall& node) {
    operands_.clear();
    constants_.clear();
    for (ValueId id : node.inputs) {
      const Tensor* constant = id.valid() ? case_.graph.Constant(id) : nullptr;
      constants_.push_back(constant);
      operands_.push_back(constant);
      if (!id.valid() || constant != nullptr) continue;
      if (!values_.contains(id)) return false;
      operands_.back() = &values_.at(id);
    }
    return true;
  }

  // Layouts in turn; all in bfloat16 at first, then types at random.
  KernelCall CallFor(const NodeCall& node, int round) {
    KernelCall call = node.call;
    const Layout layout =
        round % 2 == 1 && node.rule != LayoutRule::kPlain ? Layout::kChannelsLast : Layout::kPlain;
    const auto narrow = [&](TensorDesc& desc) {
      if (desc.dtype == DType::kFloat32 && (round < 2 || Draw(rng_, 0, 1) == 0)) {
        desc.dtype = DType::kBFloat16;
      }
    };
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      if (!call.has_input(i)) continue;
      if (node.follows[i] || LayoutsCoincide(call.inputs[i].shape)) call.inputs[i].layout = layout;
      if (constants_[i] == nullptr) narrow(call.inputs[i]);
    }
    for (TensorDesc& output : call.outputs) {
      output.layout = layout;
      narrow(output);
    }
    return call;
  }

  void RunCall(const KernelCall& call, const Tensor& expected) {
    if (call.outputs.size() != 1 || !MixesBf16(call)) return;
    std::vector<Tensor> held;
    std::vector<const std::byte*> inputs;
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      held.push_back(call.has_input(i) ? InForm(*operands_[i], call.inputs[i]) : Tensor());
      inputs.push_back(call.has_input(i) ? held.back().bytes().data() : nullptr);
    }
    for (const KernelRow* row : FindKernels(call)) {
      PackCache cache;
      const auto kernel = row->prepare(call, {constants_, &cache});
      if (!kernel.ok()) continue;
      used_->insert(TacticName(*row));
      Tensor found = Tensor::Allocate(call.outputs[0].dtype, call.outputs[0].shape).value();
      Buffer workspace = Buffer::Allocate((*kernel)->workspace_bytes()).value();
      std::byte* y = static_cast<std::byte*>(found.mutable_view().data);
      for (int64_t slice = 0; slice < (*kernel)->slices(); ++slice) {
        ASSERT_TRUE((*kernel)->Run({inputs, {&y, 1}, workspace.data(), slice}).ok()) << what_;
      }
      std::string what = what_ + " " + TacticName(*row);
      for (const TensorDesc& desc : call.inputs) {
        what += fmt::format(" {}{}", DTypeName(desc.dtype), desc.shape.ToString());
      }
      ExpectNear(found, expected, call, what);
      if (testing::Test::HasFatalFailure()) return;
    }
  }

  const Case& case_;
  const std::string what_;
  std::set<std::string>* const used_;
  Rng rng_;
  const std::vector<Value> inputs_;
  std::map<ValueId, Tensor> values_;
  std::vector<const Tensor*> operands_;
  std::vector<const Tensor*> constants_;
};

}  // namespace

void CompareInBf16(const Case& c, const std::string& what, std::set<std::string>* used) {
  NarrowComparison(c, what, used).Run();
}

namespace {

TEST(Bf16Test, ConvertsAllValuesBothWays) {
  constexpr size_t kAll = 65536;
  std::vector<uint16_t> bits(kAll), back(kAll);
  std::vector<float> wide(kAll);
  for (size_t i = 0; i < kAll; ++i) bits[i] = static_cast<uint16_t>(i);
  simd::Widen(bits.data(), wide.data(), kAll);
  simd::Narrow(wide.data(), back.data(), kAll);
  for (size_t i = 0; i < kAll; ++i) {
    BFloat16 value;
    value.bits = bits[i];
    ASSERT_EQ(std::bit_cast<uint32_t>(wide[i]), uint32_t{bits[i]} << 16);
    ASSERT_EQ(back[i], std::isnan(float{value}) ? bits[i] | 0x40u : bits[i]);
  }
}

TEST(Bf16Test, RoundsAsTheReference) {
  Rng rng(1);
  std::vector<float> wide(10007);
  for (float& value : wide) value = std::bit_cast<float>(static_cast<uint32_t>(rng()));
  std::vector<uint16_t> narrow(wide.size());
  simd::Narrow(wide.data(), narrow.data(), wide.size());
  for (size_t i = 0; i < wide.size(); ++i) ASSERT_EQ(narrow[i], FloatToBFloatBits(wide[i])) << i;
}

TEST(Bf16Test, ReluKeepsNansAlone) {
  std::vector<uint16_t> bits(65536), relu(65536);
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
  simd::UnaryBf16({ElementwiseOp::kRelu}, bits.data(), relu.data(), bits.size());
  for (size_t i = 0; i < bits.size(); ++i) {
    BFloat16 value;
    value.bits = bits[i];
    const float x = value;
    ASSERT_EQ(relu[i], std::isnan(x) || x > 0 ? bits[i] : 0) << i;
  }
}

}  // namespace
}  // namespace kheya
