#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "ops/axes.h"
#include "ops/op.h"

namespace kheya {
namespace {

constexpr TypeMask kTokens = types::kString | types::kIndex;
constexpr ParamDef kInputs[] = {{"X", kTokens}};
constexpr ParamDef kOutputs[] = {{"Y", MaskOf({DType::kFloat32})}};
constexpr AttributeDef kAttributes[] = {{"max_gram_length", AttributeKind::kInt, true},
                                        {"max_skip_count", AttributeKind::kInt, true},
                                        {"min_gram_length", AttributeKind::kInt, true},
                                        {"mode", AttributeKind::kString, true},
                                        {"ngram_counts", AttributeKind::kInts, true},
                                        {"ngram_indexes", AttributeKind::kInts, true},
                                        {"pool_int64s", AttributeKind::kInts},
                                        {"pool_strings", AttributeKind::kStrings},
                                        {"weights", AttributeKind::kFloats}};

// More columns than this is no vocabulary.
constexpr int64_t kMaxColumns = int64_t{1} << 31;

Result<int64_t> NumColumns(const AttributeReader& attributes) {
  int64_t largest = -1;
  for (int64_t index : attributes.Ints("ngram_indexes")) {
    if (index < 0 || index >= kMaxColumns) {
      return InvalidArgumentError("ngram_indexes: found {}, expected 0 to {}", index,
                                  kMaxColumns - 1);
    }
    largest = std::max(largest, index);
  }
  return largest + 1;
}

Status Infer(InferContext& context) {
  KHEYA_ASSIGN_OR_RETURN(const int64_t columns, NumColumns(context.attributes()));
  std::optional<SymbolicShape> shape = ShapeOrNull(context, 0);
  if (shape) {
    if (shape->empty() || shape->size() > 2) {
      return InvalidArgumentError("found {}, expected rank 1 or 2", ToString(*shape));
    }
    shape->back() = columns;
  }
  return context.SetOutput(0, DType::kFloat32, std::move(shape));
}

struct GramLengths {
  int64_t least = 1;
  int64_t most = 1;
  int64_t skips = 0;
};

// No longer grams than the pool has.
Result<GramLengths> LengthsOf(const AttributeReader& attributes) {
  GramLengths lengths = {attributes.Int("min_gram_length", 1), attributes.Int("max_gram_length", 1),
                         attributes.Int("max_skip_count", 0)};
  if (lengths.least >= 1 && lengths.least <= lengths.most && lengths.skips >= 0) {
    const auto longest = static_cast<int64_t>(attributes.Ints("ngram_counts").size());
    lengths.most = std::min(lengths.most, longest);
    return lengths;
  }
  return InvalidArgumentError("found grams of {} to {} tokens and {} skips", lengths.least,
                              lengths.most, lengths.skips);
}

// The grams of the pool, by their tokens, with their places among all.
template <typename Token>
class Pool {
 public:
  // `starts`: where in `tokens` the grams of 1, 2, ... tokens begin.
  static Result<Pool> Create(const std::vector<Token>& tokens, const std::vector<int64_t>& starts,
                             const GramLengths& lengths, size_t num_indexes) {
    Pool pool;
    const auto size = static_cast<int64_t>(tokens.size());
    size_t gram = 0;
    for (size_t i = 0; i < starts.size(); ++i) {
      const int64_t end = i + 1 < starts.size() ? starts[i + 1] : size;
      const auto length = static_cast<int64_t>(i) + 1;
      if (starts[i] < 0 || starts[i] > end || end > size || (end - starts[i]) % length != 0) {
        return InvalidArgumentError(
            "ngram_counts: found grams of {} tokens at {} to {} of {} tokens", length, starts[i],
            end, size);
      }
      const bool wanted = length >= lengths.least && length <= lengths.most;
      for (int64_t at = starts[i]; at < end; at += length, ++gram) {
        if (!wanted) continue;
        pool.grams_[std::vector<Token>(tokens.begin() + at, tokens.begin() + at + length)] = gram;
      }
    }
    if (gram != num_indexes) {
      return InvalidArgumentError("found {} grams and {} ngram_indexes, expected as many", gram,
                                  num_indexes);
    }
    return pool;
  }

  const size_t* Find(const std::vector<Token>& gram) const {
    const auto found = grams_.find(gram);
    return found == grams_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::vector<Token>, size_t> grams_;
};

// Calls count(gram) for each gram of the pool in a row of tokens, at every distance up to the
// skips.
template <typename Token, typename Count>
Status CountGrams(const EvalContext& context, const Pool<Token>& pool, const GramLengths& lengths,
                  std::span<const Token> row, Count count) {
  const auto size = static_cast<int64_t>(row.size());
  constexpr int64_t kTokensBetweenChecks = 1 << 20;
  int64_t tokens_left = 0;
  std::vector<Token> gram;
  for (int64_t length = lengths.least; length <= std::min(lengths.most, size); ++length) {
    // One token has no distance to another.
    const int64_t steps = length == 1 ? 1 : lengths.skips + 1;
    for (int64_t step = 1; step <= steps; ++step) {
      if (length > 1 && step > (size - 1) / (length - 1)) break;
      for (int64_t start = 0; start + (length - 1) * step < size; ++start) {
        if ((tokens_left -= length) < 0) {
          KHEYA_RETURN_IF_ERROR(context.CheckAlive());
          tokens_left = kTokensBetweenChecks;
        }
        gram.clear();
        for (int64_t i = 0; i < length; ++i) gram.push_back(row[start + i * step]);
        if (const size_t* found = pool.Find(gram)) count(*found);
      }
    }
  }
  return OkStatus();
}

enum class Mode : uint8_t { kTf, kIdf, kTfIdf };

Result<Mode> ModeOf(const AttributeReader& attributes) {
  const std::string name = attributes.String("mode", "");
  if (name == "TF") return Mode::kTf;
  if (name == "IDF") return Mode::kIdf;
  if (name == "TFIDF") return Mode::kTfIdf;
  return InvalidArgumentError("found mode '{}', expected TF, IDF or TFIDF", name);
}

template <typename Token>
Status Vectorize(EvalContext& context, const std::vector<Token>& pool_tokens,
                 std::span<const Token> tokens) {
  const AttributeReader attributes = context.attributes();
  KHEYA_ASSIGN_OR_RETURN(const Mode mode, ModeOf(attributes));
  KHEYA_ASSIGN_OR_RETURN(const GramLengths lengths, LengthsOf(attributes));
  KHEYA_ASSIGN_OR_RETURN(const int64_t columns, NumColumns(attributes));
  const std::vector<int64_t> indexes = attributes.Ints("ngram_indexes");
  std::vector<float> weights = attributes.Floats("weights");
  if (weights.empty()) weights.assign(indexes.size(), 1.0f);
  if (weights.size() != indexes.size()) {
    return InvalidArgumentError("found {} weights, expected {}", weights.size(), indexes.size());
  }
  KHEYA_ASSIGN_OR_RETURN(
      const Pool<Token> pool,
      Pool<Token>::Create(pool_tokens, attributes.Ints("ngram_counts"), lengths, indexes.size()));
  const Shape& x = context.input(0).shape();
  std::vector<int64_t> dims(x.begin(), x.end());
  dims.back() = columns;
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(const MutableTensorView y, context.Output(0, DType::kFloat32, shape));
  const int64_t length = x[x.rank() - 1];
  const int64_t rows = x.rank() == 2 ? x[0] : 1;
  std::vector<float> counts(indexes.size());
  for (int64_t row = 0; row < rows; ++row) {
    std::ranges::fill(counts, 0.0f);
    KHEYA_RETURN_IF_ERROR(CountGrams(context, pool, lengths, tokens.subspan(row * length, length),
                                     [&](size_t gram) { ++counts[gram]; }));
    const std::span<float> out = y.as<float>().subspan(row * columns, columns);
    std::ranges::fill(out, 0.0f);
    for (size_t gram = 0; gram < counts.size(); ++gram) {
      if (mode == Mode::kIdf) counts[gram] = std::min(counts[gram], 1.0f);
      out[indexes[gram]] += mode == Mode::kTf ? counts[gram] : counts[gram] * weights[gram];
    }
  }
  return OkStatus();
}

Status Evaluate(EvalContext& context) {
  const Tensor& x = context.input(0);
  if (x.shape().rank() < 1 || x.shape().rank() > 2) {
    return InvalidArgumentError("found {}, expected rank 1 or 2", x.shape().ToString());
  }
  if (x.dtype() == DType::kString) {
    return Vectorize<std::string>(context, context.attributes().Strings("pool_strings"),
                                  x.data<std::string>());
  }
  KHEYA_ASSIGN_OR_RETURN(const std::vector<int64_t> tokens, ToInt64s(x));
  return Vectorize<int64_t>(context, context.attributes().Ints("pool_int64s"), tokens);
}

}  // namespace

extern const OpDef kTfIdfVectorizerOp;
const OpDef kTfIdfVectorizerOp = {.domain = "",
                                  .name = "TfIdfVectorizer",
                                  .category = "text",
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attributes = kAttributes,
                                  .infer = Infer,
                                  .evaluate = Evaluate};

}  // namespace kheya
