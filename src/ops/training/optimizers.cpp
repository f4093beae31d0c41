// Adagrad, Adam and Momentum: one step of an optimizer, for any number of tensors at once.
#include <array>

#include "ops/expansion.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr const char* kTrainingDomain = "ai.onnx.preview.training";
constexpr TypeMask kReal = MaskOf({DType::kFloat32, DType::kFloat64});
constexpr TypeMask kStepType = MaskOf({DType::kInt64});
constexpr ParamDef kInputs[] = {
    {"R", kReal}, {"T", kStepType}, {"inputs", kReal, 'T', Presence::kVariadic}};
constexpr ParamDef kOutputs[] = {{"outputs", kReal, 'T', Presence::kVariadic}};
constexpr AttributeDef kAdagrad[] = {{"decay_factor", AttributeKind::kFloat},
                                     {"epsilon", AttributeKind::kFloat},
                                     {"norm_coefficient", AttributeKind::kFloat}};
constexpr AttributeDef kAdam[] = {{"alpha", AttributeKind::kFloat},
                                  {"beta", AttributeKind::kFloat},
                                  {"epsilon", AttributeKind::kFloat},
                                  {"norm_coefficient", AttributeKind::kFloat},
                                  {"norm_coefficient_post", AttributeKind::kFloat}};
constexpr AttributeDef kMomentum[] = {{"alpha", AttributeKind::kFloat, true},
                                      {"beta", AttributeKind::kFloat, true},
                                      {"mode", AttributeKind::kString, true},
                                      {"norm_coefficient", AttributeKind::kFloat, true}};

// The inputs are R, T, all variables X, all gradients G, then one or two states of each variable.
class Step {
 public:
  Step(Expansion& e, int states) : e_(e), states_(states) {}

  Status Check() const {
    const int rest = e_.num_inputs() - 2;
    const auto outputs = static_cast<int>(e_.node().outputs.size());
    const int groups = 2 + states_;
    if (rest % groups == 0 && outputs == Count() * (1 + states_)) return OkStatus();
    return InvalidArgumentError(
        "found {} inputs after R and T and {} outputs, expected {} and {} "
        "for each variable",
        rest, outputs, groups, 1 + states_);
  }

  int Count() const { return (e_.num_inputs() - 2) / (2 + states_); }
  ValueId Rate() { return e_.Call("CastLike", {e_.In(0), e_.In(2)}); }
  ValueId StepNumber() { return e_.Call("CastLike", {e_.In(1), e_.In(2)}); }
  ValueId Variable(int i) const { return e_.In(2 + i); }
  ValueId State(int i, int state) const { return e_.In(2 + (2 + state) * Count() + i); }
  void GiveVariable(int i, ValueId value) { e_.Give(i, value); }
  void GiveState(int i, int state, ValueId value) { e_.Give((1 + state) * Count() + i, value); }

  ValueId Number(double value) { return e_.NumberLike(value, e_.In(2)); }
  ValueId Add(ValueId a, ValueId b) { return e_.Call("Add", {a, b}); }
  ValueId Sub(ValueId a, ValueId b) { return e_.Call("Sub", {a, b}); }
  ValueId Mul(ValueId a, ValueId b) { return e_.Call("Mul", {a, b}); }
  ValueId Div(ValueId a, ValueId b) { return e_.Call("Div", {a, b}); }
  ValueId Scale(double factor, ValueId a) { return Mul(Number(factor), a); }
  // `a` at a step after the first, else `b`.
  ValueId AfterFirst(ValueId a, ValueId b) {
    const ValueId zero = e_.Number(0, DType::kInt64);
    return e_.Call("Where", {e_.Call("Greater", {e_.In(1), zero}), a, b});
  }
  // The gradient with that of norm_coefficient / 2 ||X||^2.
  ValueId Gradient(int i) {
    const double norm = e_.attributes().Float("norm_coefficient", 0);
    return Add(Scale(norm, Variable(i)), e_.In(2 + Count() + i));
  }
  // sqrt(squares) + epsilon
  ValueId Spread(ValueId squares) {
    return Add(e_.Call("Sqrt", {squares}), Number(e_.attributes().Float("epsilon", 1e-6f)));
  }

 private:
  Expansion& e_;
  int states_;
};

Status ExpandAdagrad(Expansion& e) {
  Step step(e, 1);
  KHEYA_RETURN_IF_ERROR(step.Check());
  const double decay = e.attributes().Float("decay_factor", 0);
  const ValueId slowed = step.Add(step.Number(1), step.Scale(decay, step.StepNumber()));
  const ValueId rate = step.Div(step.Rate(), slowed);
  for (int i = 0; i < step.Count(); ++i) {
    const ValueId gradient = step.Gradient(i);
    const ValueId squares = step.Add(step.State(i, 0), step.Mul(gradient, gradient));
    const ValueId change = step.Div(step.Mul(rate, gradient), step.Spread(squares));
    step.GiveVariable(i, step.Sub(step.Variable(i), change));
    step.GiveState(i, 0, squares);
  }
  return OkStatus();
}

Status ExpandAdam(Expansion& e) {
  Step step(e, 2);
  KHEYA_RETURN_IF_ERROR(step.Check());
  const double alpha = e.attributes().Float("alpha", 0.9f);
  const double beta = e.attributes().Float("beta", 0.999f);
  const double kept = 1 - double{e.attributes().Float("norm_coefficient_post", 0)};
  auto one_less_power = [&](double base) {
    return step.Sub(step.Number(1), e.Call("Pow", {step.Number(base), step.StepNumber()}));
  };
  const ValueId corrected = step.Div(step.Mul(step.Rate(), e.Call("Sqrt", {one_less_power(beta)})),
                                     one_less_power(alpha));
  const ValueId rate = step.AfterFirst(corrected, step.Rate());
  for (int i = 0; i < step.Count(); ++i) {
    const ValueId gradient = step.Gradient(i);
    const ValueId mean =
        step.Add(step.Scale(alpha, step.State(i, 0)), step.Scale(1 - alpha, gradient));
    const ValueId squares = step.Add(step.Scale(beta, step.State(i, 1)),
                                     step.Scale(1 - beta, step.Mul(gradient, gradient)));
    const ValueId change = step.Div(step.Mul(rate, mean), step.Spread(squares));
    step.GiveVariable(i, step.Scale(kept, step.Sub(step.Variable(i), change)));
    step.GiveState(i, 0, mean);
    step.GiveState(i, 1, squares);
  }
  return OkStatus();
}

Status ExpandMomentum(Expansion& e) {
  Step step(e, 1);
  KHEYA_RETURN_IF_ERROR(step.Check());
  const std::string mode = e.attributes().String("mode", "standard");
  if (mode != "standard" && mode != "nesterov") {
    return InvalidArgumentError("found mode '{}', expected standard or nesterov", mode);
  }
  const double alpha = e.attributes().Float("alpha", 0);
  const double beta = e.attributes().Float("beta", 1);
  const ValueId share = step.AfterFirst(step.Number(beta), step.Number(1));
  for (int i = 0; i < step.Count(); ++i) {
    const ValueId gradient = step.Gradient(i);
    const ValueId momentum =
        step.Add(step.Scale(alpha, step.State(i, 0)), step.Mul(share, gradient));
    const ValueId direction =
        mode == "nesterov" ? step.Add(gradient, step.Scale(alpha, momentum)) : momentum;
    step.GiveVariable(i, step.Sub(step.Variable(i), step.Mul(step.Rate(), direction)));
    step.GiveState(i, 0, momentum);
  }
  return OkStatus();
}

template <Expansion::Function expand>
constexpr OpDef Optimizer(const char* name, std::span<const AttributeDef> attributes) {
  return {.domain = kTrainingDomain,
          .name = name,
          .category = "training",
          .inputs = kInputs,
          .outputs = kOutputs,
          .attributes = attributes,
          .infer = InferBy<expand>,
          .evaluate = EvaluateBy<expand>};
}

}  // namespace

extern const OpDef kAdagradOp;
const OpDef kAdagradOp = Optimizer<ExpandAdagrad>("Adagrad", kAdagrad);
extern const OpDef kAdamOp;
const OpDef kAdamOp = Optimizer<ExpandAdam>("Adam", kAdam);
extern const OpDef kMomentumOp;
const OpDef kMomentumOp = Optimizer<ExpandMomentum>("Momentum", kMomentum);

}  // namespace kheya
