// Every row of kernels.inc against the operators' reference evaluation, on random shapes.
#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <set>

#include "kernels/sample.h"
#include "ops/infer.h"
#include "runtime/compile.h"
#include "runtime/executor.h"
#include "runtime/kernel_case.h"
#include "runtime/node_call.h"
#include "runtime/precision.h"

namespace kheya {
namespace {

std::vector<Attribute> RandomActivation(Rng& rng) {
  switch (Draw(rng, 0, 8)) {
    case 0:
      return {{"activation", std::string("Relu")}};
    case 1:
      return {{"activation", std::string("Clip")},
              {"activation_params", std::vector<float>{-5.0f, 15.0f}}};
    case 2:
      return {{"activation", std::string("SiLU")}};
    case 3:
      return {{"activation", std::string("Gelu")}};
    case 4:
      return {{"activation", std::string("LeakyRelu")},
              {"activation_params", std::vector<float>{0.1f}}};
    case 5:
      return {{"activation", std::string("HardSwish")}};
    case 6:
      return {{"activation", std::string("GeluTanh")}};
    case 7:
      return {{"activation", std::string("Mish")}};
    default:
      return {};
  }
}

void MakeConv(Rng& rng, Case& c) {
  const int64_t groups = Draw(rng, 0, 2) == 0 ? Draw(rng, 2, 4) : 1;
  const bool depthwise = Draw(rng, 0, 3) == 0;
  const int64_t in = depthwise ? 1 : Draw(rng, 1, 40), out = depthwise ? 1 : Draw(rng, 1, 40);
  const int64_t split = depthwise ? Draw(rng, 1, 40) : groups;
  const int64_t kh = Draw(rng, 1, 4), kw = Draw(rng, 1, 4);
  const Ints strides = {Draw(rng, 1, 2), Draw(rng, 1, 2)};
  const Ints dilations = {Draw(rng, 1, 2), 1};
  const Ints pads = {Draw(rng, 0, kh - 1), Draw(rng, 0, kw - 1), Draw(rng, 0, kh - 1),
                     Draw(rng, 0, kw - 1)};
  const int64_t images = Draw(rng, 0, 4) == 0 ? Draw(rng, 8, 19) : Draw(rng, 1, 3);
  const Shape shape{images, in * split, Draw(rng, 8, 30), Draw(rng, 8, 30)};
  const ValueId x = c.Input(SpoilSometimes(rng, RandomTensor(rng, shape)));
  const ValueId w = c.Constant(RandomTensor(rng, Shape{out * split, in, kh, kw}));
  const ValueId b = Draw(rng, 0, 1) ? c.Constant(RandomTensor(rng, Shape{out * split})) : ValueId();
  std::vector<Attribute> attributes = {
      {"strides", strides}, {"dilations", dilations}, {"pads", pads}, {"group", split}};
  const ValueId plain = c.Node("Conv", {x, w, b}, attributes);
  c.Output(plain);
  if (!InferTypes(c.graph).ok() || Draw(rng, 0, 1) == 0) return;
  const std::optional<Shape> y = c.graph.value(plain).type.KnownShape();
  const ValueId residual = Draw(rng, 0, 1) ? c.Input(RandomTensor(rng, *y)) : ValueId();
  for (Attribute& each : RandomActivation(rng)) attributes.push_back(std::move(each));
  c.Output(c.Node("FusedConv", {x, w, b, residual}, attributes, kInternalDomain));
}

// What Winograd's kernels take, of every size beside their tiles.
void MakeConv3x3(Rng& rng, Case& c) {
  const int64_t in = 16 * Draw(rng, 1, 4), out = 16 * Draw(rng, 1, 5);
  const Shape shape{Draw(rng, 1, 3), in, Draw(rng, 1, 18), Draw(rng, 1, 18)};
  const Ints pads = {Draw(rng, 1, 2), Draw(rng, 1, 2), Draw(rng, 1, 2), Draw(rng, 1, 2)};
  const ValueId x = c.Input(SpoilSometimes(rng, RandomTensor(rng, shape)));
  // Sums of a few units, so that Clip does not hide most of the scale.
  const ValueId w = c.Constant(RandomTensor(rng, Shape{out, in, 3, 3}, -0.2f, 0.2f));
  const ValueId b = Draw(rng, 0, 1) ? c.Constant(RandomTensor(rng, Shape{out})) : ValueId();
  const Shape y{shape[0], out, shape[2] + pads[0] + pads[2] - 2, shape[3] + pads[1] + pads[3] - 2};
  // One that ends here may lend its memory to the output.
  ValueId residual;
  if (Draw(rng, 0, 1) != 0) residual = c.Node("Neg", {c.Input(RandomTensor(rng, y))});
  std::vector<Attribute> attributes = RandomActivation(rng);
  attributes.push_back({"pads", pads});
  c.Output(c.Node("FusedConv", {x, w, b, residual}, attributes, kInternalDomain));
}

void MakeMatMul(Rng& rng, Case& c) {
  const int64_t m = Draw(rng, 0, 1) == 0 ? Draw(rng, 1, 9) : Draw(rng, 1, 70);
  const int64_t n = Draw(rng, 1, 200), k = Draw(rng, 1, 90), batch = Draw(rng, 1, 4);
  if (Draw(rng, 0, 2) == 0) {  // both at run time
    const Shape left{2, batch, m, k};
    const Shape right = Draw(rng, 0, 1) ? Shape{2, batch, k, n} : Shape{k, n};
    c.Output(
        c.Node("MatMul", {c.Input(RandomTensor(rng, left)), c.Input(RandomTensor(rng, right))}));
    return;
  }
  const bool transposed = Draw(rng, 0, 1) != 0;
  const ValueId a = c.Input(SpoilSometimes(rng, RandomTensor(rng, Shape{m, k})));
  const ValueId b = c.Constant(RandomTensor(rng, transposed ? Shape{n, k} : Shape{k, n}));
  const ValueId bias = c.Constant(RandomTensor(rng, Shape{n}));
  const float beta = Draw(rng, 0, 1) ? 1.0f : 0.5f, alpha = Draw(rng, 0, 2) ? 1.0f : 2.0f;
  c.Output(c.Node("Gemm", {a, b, bias},
                  {{"transB", int64_t{transposed}}, {"beta", beta}, {"alpha", alpha}}));
  std::vector<Attribute> attributes = RandomActivation(rng);
  attributes.push_back({"transB", int64_t{transposed}});
  const ValueId residual = c.Input(RandomTensor(rng, Shape{m, n}));
  c.Output(c.Node("FusedMatMul", {a, b, bias, residual}, attributes, kInternalDomain));
}

// A mask that broadcasts to the scores, some of it hidden, now and then a whole row.
Tensor RandomMask(Rng& rng, const Shape& scores, bool of_bool) {
  std::vector<int64_t> dims;
  for (int64_t dim : scores) dims.push_back(Draw(rng, 0, 1) ? dim : 1);
  if (Draw(rng, 0, 3) != 0) dims.back() = scores[3];
  const Shape shape = Shape::Create(dims).value();
  if (of_bool) {
    Tensor mask = Tensor::Allocate(DType::kBool, shape).value();
    for (bool& each : mask.mutable_data<bool>()) each = Draw(rng, 0, 3) != 0;
    return mask;
  }
  Tensor mask = RandomTensor(rng, shape);
  // Both swallow the score, so that rows of them alone are no matter of rounding.
  const float hidden = Draw(rng, 0, 1) ? -INFINITY : -3e38f;
  for (float& each : mask.mutable_data<float>()) each = Draw(rng, 0, 3) ? each : hidden;
  const int64_t keys = dims.back();
  if (Draw(rng, 0, 2) == 0) std::fill_n(mask.mutable_data<float>().begin(), keys, hidden);
  return mask;
}

void MakeAttention(Rng& rng, Case& c) {
  const int64_t batch = Draw(rng, 1, 3), heads = Draw(rng, 1, 5);
  const int64_t queries = Draw(rng, 1, 60);
  const int64_t keys = Draw(rng, 0, 1) ? queries : Draw(rng, 1, 90);
  const int64_t qk = Draw(rng, 0, 1) ? 32 : Draw(rng, 1, 70), v = Draw(rng, 0, 1) ? qk : 64;
  std::vector<Attribute> attributes = {{"scale", 0.3f},
                                       {"merge_heads", Draw(rng, 0, 1)},
                                       {"undefined_rows", Draw(rng, 0, 2)},
                                       {"causal", int64_t{Draw(rng, 0, 3) == 0}}};
  std::vector<ValueId> inputs;
  const int64_t form = Draw(rng, 0, 2);
  if (form == 0) {  // every operand by heads
    inputs = {c.Input(SpoilSometimes(rng, RandomTensor(rng, Shape{batch, heads, queries, qk}))),
              c.Input(SpoilSometimes(rng, RandomTensor(rng, Shape{batch, heads, keys, qk}))),
              c.Input(SpoilSometimes(rng, RandomTensor(rng, Shape{batch, heads, keys, v})))};
  } else {
    attributes.push_back({"num_heads", heads});
    attributes.push_back({"qk_size", qk});
    attributes.push_back({"v_size", v});
    if (form == 1) {
      inputs = {c.Input(RandomTensor(rng, Shape{batch, queries, heads * qk})),
                c.Input(RandomTensor(rng, Shape{batch, keys, heads * qk})),
                c.Input(SpoilSometimes(rng, RandomTensor(rng, Shape{batch, keys, heads * v})))};
    } else {  // all in one
      const ValueId all =
          c.Input(RandomTensor(rng, Shape{batch, queries, heads * (2 * qk + v) + 3}));
      inputs = {all, all, all};
      attributes.push_back({"offsets", Ints{1, heads * (qk + v) + 3, heads * qk + 2}});
    }
  }
  const Shape scores{batch, heads, queries, form == 2 ? queries : keys};
  if (const int64_t mask = Draw(rng, 0, 2); mask > 0) {
    inputs.push_back(c.Input(RandomMask(rng, scores, mask == 2)));
    attributes.push_back({"masked_score", Draw(rng, 0, 1) ? -INFINITY : -10.0f});
  }
  c.Output(c.Node("FusedAttention", std::move(inputs), std::move(attributes), kInternalDomain));
}

void MakePool(Rng& rng, Case& c) {
  const Ints kernel = {Draw(rng, 1, 4), Draw(rng, 1, 4)};
  const Ints pads = {Draw(rng, 0, kernel[0] - 1), Draw(rng, 0, kernel[1] - 1),
                     Draw(rng, 0, kernel[0] - 1), Draw(rng, 0, kernel[1] - 1)};
  std::vector<Attribute> attributes = {{"kernel_shape", kernel},
                                       {"strides", Ints{Draw(rng, 1, 3), Draw(rng, 1, 3)}},
                                       {"pads", pads},
                                       {"ceil_mode", Draw(rng, 0, 1)}};
  const Shape shape{Draw(rng, 1, 2), Draw(rng, 1, 40), Draw(rng, 6, 30), Draw(rng, 6, 30)};
  const ValueId x = c.Input(RandomTensor(rng, shape));
  c.Output(c.Node("MaxPool", {x}, attributes));
  attributes.push_back({"count_include_pad", Draw(rng, 0, 1)});
  c.Output(c.Node("AveragePool", {x}, attributes));
  c.Output(c.Node("GlobalAveragePool", {x}));
  c.Output(c.Node("LRN", {x}, {{"size", Draw(rng, 1, 6)}, {"bias", 1.5f}, {"alpha", 0.3f}}));
}

void MakeElementwise(Rng& rng, Case& c) {
  const Shape shape{Draw(rng, 1, 3), Draw(rng, 1, 20), Draw(rng, 1, 20), Draw(rng, 1, 20)};
  const ValueId x = c.Input(RandomTensor(rng, shape));
  const ValueId positive = c.Input(RandomTensor(rng, shape, 0.1f, 3));
  for (const char* op : {"Relu", "LeakyRelu", "Elu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish",
                         "Softplus", "Mish", "Erf", "Exp", "Neg", "Abs", "Floor", "Ceil"}) {
    c.Output(c.Node(op, {x}));
  }
  for (const char* op : {"Sqrt", "Reciprocal"}) c.Output(c.Node(op, {positive}));
  const std::array<Shape, 6> others = {
      shape,           Shape{shape[1], 1, 1},           Shape{},
      Shape{shape[3]}, Shape{shape[0], 1, shape[2], 1}, Shape{1, shape[1], 1, shape[3]}};
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Min", "Max"}) {
    const Shape& other = others[Draw(rng, 0, 5)];
    const ValueId y = c.Input(RandomTensor(rng, other, 0.5f, 2));
    c.Output(c.Node(op, Draw(rng, 0, 1) ? std::vector{x, y} : std::vector{y, x}));
  }
  const ValueId scale = c.Constant(RandomTensor(rng, Shape{shape[1]}));
  const ValueId shift = c.Constant(RandomTensor(rng, Shape{shape[1]}));
  c.Output(c.Node("FusedBatchNorm", {x, scale, shift}, RandomActivation(rng), kInternalDomain));
}

void MakeRows(Rng& rng, Case& c) {
  const Shape shape{Draw(rng, 1, 4), Draw(rng, 1, 30), Draw(rng, 1, 100)};
  const ValueId x = c.Input(RandomTensor(rng, shape, -20, 20));
  c.Output(c.Node("Softmax", {x}));
  c.Output(c.Node("LogSoftmax", {x}));
  const ValueId scale = c.Constant(RandomTensor(rng, Shape{shape[2]}));
  const ValueId bias = c.Constant(RandomTensor(rng, Shape{shape[2]}));
  c.Output(c.Node("LayerNormalization", {x, scale, bias}));
  c.Output(c.Node("RMSNormalization", {x, scale}));
  const ValueId axes = c.Constant(Tensor::FromValues<int64_t>(Shape{1}, {-1}));
  c.Output(c.Node("ReduceMean", {x, axes}, {{"keepdims", Draw(rng, 0, 1)}}));
}

void MakeMovement(Rng& rng, Case& c) {
  const Shape shape{Draw(rng, 1, 4), 2 * Draw(rng, 1, 12), Draw(rng, 1, 20), Draw(rng, 1, 20)};
  const ValueId x = c.Input(RandomTensor(rng, shape));
  Ints perm = {0, 1, 2, 3};
  std::shuffle(perm.begin(), perm.end(), rng);
  if (Draw(rng, 0, 3) == 0) perm[1] -= 4;  // counted from the end
  c.Output(c.Node("Transpose", {x}, {{"perm", perm}}));
  const int64_t axis = Draw(rng, 0, 3);
  c.Output(c.Node("Concat", {x, x, x}, {{"axis", axis}}));
  const ValueId index = c.Input(Tensor::FromValues<int64_t>(Shape{2, 2}, {0, -1, 0, 0}));
  c.Output(c.Node("Gather", {x, index}, {{"axis", axis}}));
  const NodeId split =
      c.graph
          .AddNode({.op = "Split",
                    .name = "split",
                    .inputs = {x},
                    .outputs = {"left", "right"},
                    .attributes = {{"axis", int64_t{1}}, {"num_outputs", int64_t{2}}}})
          .value();
  c.Output(c.graph.node(split).outputs[0]);
  c.Output(c.graph.node(split).outputs[1]);
}

// The relative error that float32 sums of a few hundred products may have.
void ExpectClose(const Tensor& found, const Tensor& expected, const std::string& what) {
  ASSERT_EQ(found.shape(), expected.shape()) << what;
  ASSERT_EQ(found.dtype(), expected.dtype()) << what;
  if (expected.dtype() == DType::kInt64) {
    ASSERT_THAT(found.data<int64_t>(), testing::ElementsAreArray(expected.data<int64_t>())) << what;
    return;
  }
  std::span<const float> a = found.data<float>(), b = expected.data<float>();
  double largest = 1e-3;
  for (float value : b) {
    if (std::isfinite(value)) largest = std::max<double>(largest, std::abs(value));
  }
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(std::isnan(a[i]), std::isnan(b[i])) << what << " at " << i;
    if (std::isnan(b[i]) || a[i] == b[i]) continue;
    ASSERT_NEAR(a[i], b[i], 2e-5 * largest) << what << " at " << i;
  }
}

class Comparison {
 public:
  void Run(void (*make)(Rng&, Case&), const char* family, int seeds) {
    for (int seed = 0; seed < seeds && !testing::Test::HasFatalFailure(); ++seed) {
      Rng rng(seed);
      Case c;
      make(rng, c);
      ASSERT_TRUE(InferTypes(c.graph).ok()) << family << " seed " << seed;
      const auto expected = Interpret(c.graph, c.inputs, {});
      ASSERT_TRUE(expected.ok()) << family << ": " << expected.status().ToString();
      const std::string what = fmt::format("{} seed {}", family, seed);
      Compare(c, *expected, {Tactics::kAuto}, what);
      Compare(c, *expected, {Tactics::kPortable}, what);
      Compare(c, *expected, {Tactics::kReference}, what);
      for (const KernelRow& row : AllKernels()) {
        Compare(c, *expected, {Tactics::kAuto, TacticName(row)}, what);
      }
      CompareInBf16(c, what, &used_);
    }
  }

  const std::set<std::string>& used() const { return used_; }

 private:
  void Compare(const Case& c, const std::vector<Value>& expected, CompilePlanOptions options,
               const std::string& what) {
    PackCache cache;
    options.cache = &cache;
    const auto plan = CompilePlan(c.graph, options);
    ASSERT_TRUE(plan.ok()) << what << ": " << plan.status().ToString();
    for (const Step& step : (*plan)->steps) used_.insert(step.tactic);
    Executor executor(*plan, Runtime::Default(), nullptr);
    RunContext context;
    std::vector<Value> outputs(expected.size());
    const Status status = executor.Run(context, c.inputs, outputs);
    ASSERT_TRUE(status.ok()) << what << ": " << status.ToString();
    for (size_t i = 0; i < outputs.size(); ++i) {
      ExpectClose(
          outputs[i].tensor(), expected[i].tensor(),
          fmt::format("{} output '{}'\n{}", what, c.graph.outputs()[i].name, DescribePlan(**plan)));
    }
  }

  std::set<std::string> used_;
};

// Every element of a graph's outputs that one convolution or product makes, by its definition.
void CompareSamples(void (*make)(Rng&, Case&), int seed, int* compared) {
  Rng rng(seed);
  Case c;
  make(rng, c);
  ASSERT_TRUE(InferTypes(c.graph).ok());
  const auto expected = Interpret(c.graph, c.inputs, {});
  ASSERT_TRUE(expected.ok());
  std::map<ValueId, Tensor> values;
  for (size_t i = 0; i < c.inputs.size(); ++i) values[c.graph.inputs()[i]] = c.inputs[i].tensor();
  for (size_t i = 0; i < expected->size(); ++i) {
    const ValueId output = c.graph.outputs()[i].value;
    const std::optional<NodeCall> node =
        MakeNodeCall(c.graph, c.graph.node(c.graph.value(output).producer));
    if (!node) continue;
    std::vector<const float*> inputs;
    for (const ValueId id : node->inputs) {
      const Tensor* constant = id.valid() ? c.graph.Constant(id) : nullptr;
      const Tensor* input = constant != nullptr ? constant : id.valid() ? &values[id] : nullptr;
      if (input != nullptr && !input->defined()) return;  // made by another node
      inputs.push_back(input != nullptr ? input->data<float>().data() : nullptr);
    }
    const Tensor& found = (*expected)[i].tensor();
    Tensor samples = Tensor::Zeros(DType::kFloat32, found.shape()).value();
    for (int64_t j = 0; j < found.num_elements(); ++j) {
      const std::optional<double> sample = SampleOutput(node->call, inputs, j);
      ASSERT_TRUE(sample);
      samples.mutable_data<float>()[j] = static_cast<float>(*sample);
    }
    ExpectClose(samples, found, fmt::format("seed {}", seed));
    ++*compared;
  }
}

TEST(KernelsTest, SamplesAreElementsOfTheReference) {
  int compared = 0;
  for (int seed = 0; seed < 20 && !HasFatalFailure(); ++seed) {
    CompareSamples(MakeConv, seed, &compared);
    CompareSamples(MakeMatMul, seed, &compared);
  }
  EXPECT_GT(compared, 30);
}

TEST(KernelsTest, EveryRowAgreesWithTheReference) {
  Comparison comparison;
  comparison.Run(MakeConv, "conv", 60);
  comparison.Run(MakeConv3x3, "conv3x3", 60);
  comparison.Run(MakeMatMul, "matmul", 60);
  comparison.Run(MakeAttention, "attention", 200);
  comparison.Run(MakePool, "pool", 30);
  comparison.Run(MakeElementwise, "elementwise", 20);
  comparison.Run(MakeRows, "rows", 20);
  comparison.Run(MakeMovement, "movement", 30);
  comparison.Run(MakeRegion, "region", 60);
  comparison.Run(MakeResize, "resize", 150);
  comparison.Run(MakeTopK, "top_k", 60);
  comparison.Run(MakeConvTranspose, "conv_transpose", 60);
  comparison.Run(MakeRecurrent, "recurrent", 100);
  comparison.Run(MakeTrees, "trees", 60);
  for (const KernelRow& row : AllKernels()) {
    // Where this processor has no instructions for it, it supports nothing.
    const bool here = CanComputeBf16() || row.isa != Isa::kOneDnn ||
                      !std::string_view(row.family).starts_with("Bf16");
    if (!here) continue;
    EXPECT_THAT(comparison.used(), testing::Contains(TacticName(row)));
  }
}

}  // namespace
}  // namespace kheya
