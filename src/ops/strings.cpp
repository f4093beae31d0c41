// StringConcat, StringSplit, StringNormalizer and RegexFullMatch.
#include <algorithm>
#include <unordered_set>
#include <vector>

#include "kernels/reference/elementwise.h"
#include "kernels/reference/text.h"
#include "ops/axes.h"
#include "ops/infer_util.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr ParamDef kOne[] = {{"X", types::kString}};
constexpr ParamDef kTwo[] = {{"X", types::kString}, {"Y", types::kString}};
constexpr ParamDef kText[] = {{"Y", types::kString}};
constexpr ParamDef kJoined[] = {{"Z", types::kString}};
constexpr ParamDef kMatches[] = {{"Y", types::kBool}};
constexpr ParamDef kSplits[] = {{"Y", types::kString}, {"Z", types::kInt64}};
constexpr AttributeDef kSplitAttributes[] = {{"delimiter", AttributeKind::kString},
                                             {"maxsplit", AttributeKind::kInt}};
constexpr AttributeDef kPattern[] = {{"pattern", AttributeKind::kString}};
constexpr AttributeDef kNormalizerAttributes[] = {{"case_change_action", AttributeKind::kString},
                                                  {"is_case_sensitive", AttributeKind::kInt},
                                                  {"locale", AttributeKind::kString},
                                                  {"stopwords", AttributeKind::kStrings}};

Status InferConcat(InferContext& context) { return InferBroadcast(context, DType::kString); }

Status EvaluateConcat(EvalContext& context) {
  const Tensor& a = context.input(0);
  const Tensor& b = context.input(1);
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, BroadcastShapes(a.shape(), b.shape()));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView out, context.Output(0, DType::kString, shape));
  kernels::CombineElements<std::string, std::string, std::string>(a.view(), b.view(), out,
                                                                  std::plus<>());
  return OkStatus();
}

Status InferMatch(InferContext& context) { return InferSameShape(context, DType::kBool); }

Status EvaluateMatch(EvalContext& context) {
  const Tensor& x = context.input(0);
  KHEYA_ASSIGN_OR_RETURN(
      const kernels::RegularExpression expression,
      kernels::RegularExpression::Compile(context.attributes().String("pattern", "")));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y, context.Output(0, DType::kBool, x.shape()));
  std::ranges::transform(x.data<std::string>(), y.as<bool>().begin(),
                         [&](const std::string& text) { return expression.MatchesAll(text); });
  return OkStatus();
}

Status InferSplit(InferContext& context) {
  std::optional<SymbolicShape> shape = ShapeOrNull(context, 0);
  KHEYA_RETURN_IF_ERROR(context.SetOutput(1, DType::kInt64, shape));
  if (shape) shape->emplace_back();
  return context.SetOutput(0, DType::kString, std::move(shape));
}

Status EvaluateSplit(EvalContext& context) {
  const Tensor& x = context.input(0);
  const std::string delimiter = context.attributes().String("delimiter", "");
  const int64_t most = context.attributes().Int("maxsplit", -1);
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView z, context.Output(1, DType::kInt64, x.shape()));
  const std::span<const std::string> texts = x.data<std::string>();
  const std::span<int64_t> counts = z.as<int64_t>();
  int64_t widest = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    counts[i] = 0;
    kernels::SplitText(texts[i], delimiter, most, [&](std::string_view) { ++counts[i]; });
    widest = std::max(widest, counts[i]);
  }
  std::vector<int64_t> dims(x.shape().begin(), x.shape().end());
  dims.push_back(widest);
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y, context.Output(0, DType::kString, shape));
  for (size_t i = 0; i < texts.size(); ++i) {
    std::string* out = y.as<std::string>().data() + static_cast<int64_t>(i) * widest;
    kernels::SplitText(texts[i], delimiter, most, [&](std::string_view part) { *out++ = part; });
  }
  return OkStatus();
}

enum class CaseChange : uint8_t { kNone, kLower, kUpper };

Result<CaseChange> CaseChangeOf(const AttributeReader& attributes) {
  const std::string name = attributes.String("case_change_action", "NONE");
  if (name == "NONE") return CaseChange::kNone;
  if (name == "LOWER") return CaseChange::kLower;
  if (name == "UPPER") return CaseChange::kUpper;
  return InvalidArgumentError("found case_change_action '{}', expected NONE, LOWER or UPPER", name);
}

// Lists, and rows of one.
Status InferNormalizer(InferContext& context) {
  std::optional<SymbolicShape> shape = ShapeOrNull(context, 0);
  if (shape) {
    if (shape->empty() || shape->size() > 2) {
      return InvalidArgumentError("found {}, expected [C] or [1,C]", ToString(*shape));
    }
    shape->back() = Dim();
  }
  return context.SetOutput(0, DType::kString, std::move(shape));
}

Status EvaluateNormalizer(EvalContext& context) {
  const Tensor& x = context.input(0);
  const int rank = x.shape().rank();
  if (rank < 1 || rank > 2 || (rank == 2 && x.shape()[0] != 1)) {
    return InvalidArgumentError("found {}, expected [C] or [1,C]", x.shape().ToString());
  }
  KHEYA_ASSIGN_OR_RETURN(const CaseChange change, CaseChangeOf(context.attributes()));
  const bool sensitive = context.attributes().Int("is_case_sensitive", 0) != 0;
  const auto folded = [&](const std::string& text) {
    return sensitive ? text : kernels::LowerCase(text);
  };
  std::unordered_set<std::string> stopwords;
  for (const std::string& word : context.attributes().Strings("stopwords")) {
    stopwords.insert(folded(word));
  }
  std::vector<std::string> kept;
  for (const std::string& text : x.data<std::string>()) {
    if (!stopwords.empty() && stopwords.contains(folded(text))) continue;
    kept.push_back(change == CaseChange::kLower   ? kernels::LowerCase(text)
                   : change == CaseChange::kUpper ? kernels::UpperCase(text)
                                                  : text);
  }
  if (kept.empty()) kept.emplace_back();  // the standard's empty result
  std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
  dims.back() = static_cast<int64_t>(kept.size());
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y, context.Output(0, DType::kString, shape));
  std::ranges::move(kept, y.as<std::string>().begin());
  return OkStatus();
}

constexpr OpDef Op(const char* name, std::span<const ParamDef> inputs,
                   std::span<const ParamDef> outputs, std::span<const AttributeDef> attributes,
                   Status (*infer)(InferContext&), Status (*evaluate)(EvalContext&)) {
  return {.domain = "",
          .name = name,
          .category = "text",
          .inputs = inputs,
          .outputs = outputs,
          .attributes = attributes,
          .infer = infer,
          .evaluate = evaluate};
}

}  // namespace

extern const OpDef kRegexFullMatchOp;
const OpDef kRegexFullMatchOp =
    Op("RegexFullMatch", kOne, kMatches, kPattern, InferMatch, EvaluateMatch);
extern const OpDef kStringConcatOp;
const OpDef kStringConcatOp = Op("StringConcat", kTwo, kJoined, {}, InferConcat, EvaluateConcat);
extern const OpDef kStringNormalizerOp;
const OpDef kStringNormalizerOp =
    Op("StringNormalizer", kOne, kText, kNormalizerAttributes, InferNormalizer, EvaluateNormalizer);
extern const OpDef kStringSplitOp;
const OpDef kStringSplitOp =
    Op("StringSplit", kOne, kSplits, kSplitAttributes, InferSplit, EvaluateSplit);

}  // namespace kheya
