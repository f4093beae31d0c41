// Attention as one step: for a block of queries of one head the scores are made, turned into
// weights and used up while they lie in the cache. Keys and values of a head are packed once into
// panels.
#include <algorithm>
#include <cstring>

#include "base/allocator.h"
#include "kernels/portable/panels.h"
#include "kernels/portable/rows.h"
#include "kernels/portable/simd.h"

namespace kheya {
namespace {

using kernels::FusedAttentionParams;
using kernels::UndefinedRows;

int64_t RoundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

// Queries of a block: two tiles high.
constexpr int64_t kBlock = 24;
// From this many heads on a head is not cut: its keys would be packed more than once.
constexpr int64_t kManyHeads = 8;

class AttentionKernel : public PreparedKernel {
 public:
  explicit AttentionKernel(const KernelCall& call)
      : p_(std::get<FusedAttentionParams>(call.params)),
        masked_(call.has_input(3)),
        selects_(masked_ && call.inputs[3].dtype == DType::kBool),
        width_(static_cast<int64_t>(simd::PanelColumns())),
        keys_(RoundUp(p_.keys, width_ / 2)),
        columns_(RoundUp(p_.v_size, width_ / 2)),
        blocks_((p_.queries + kBlock - 1) / kBlock) {
    const int64_t heads = p_.batch * p_.heads;
    parts_ = heads >= kManyHeads ? 1 : std::min(blocks_, (kManyHeads + heads - 1) / heads);
    const double flops = 2.0 * static_cast<double>(heads) * static_cast<double>(p_.queries) *
                         static_cast<double>(p_.keys) * static_cast<double>(p_.qk_size + p_.v_size);
    slices_ = SlicesFor(flops, kLeastFlops, heads * parts_);
    constexpr int64_t kLine = kAlignment / sizeof(float);
    value_panels_ = RoundUp(p_.qk_size * RoundUp(keys_, width_), kLine);
    scores_ = value_panels_ + RoundUp(p_.keys * RoundUp(columns_, width_), kLine);
    answers_ = scores_ + kBlock * keys_;
    chosen_ = answers_ + kBlock * columns_;
    floats_ = RoundUp(chosen_ + (selects_ ? keys_ : 0), kLine);
  }

  int64_t slices() const override { return slices_; }
  size_t workspace_bytes() const override { return slices_ * floats_ * sizeof(float); }

  Status Run(const KernelArgs& args) const override {
    float* memory = reinterpret_cast<float*>(args.workspace) + args.slice * floats_;
    const SliceRange units = RangeOf(args.slice, slices_, p_.batch * p_.heads * parts_);
    int64_t packed = -1;
    for (int64_t unit = units.begin; unit < units.end; ++unit) {
      const int64_t head = unit / parts_;
      const Place place = {head / p_.heads, head % p_.heads};
      if (head != packed) Pack(args, place, memory);
      packed = head;
      const SliceRange blocks = RangeOf(unit % parts_, parts_, blocks_);
      for (int64_t block = blocks.begin; block < blocks.end; ++block) {
        Block(args, place, RangeOf(block, blocks_, p_.queries), memory);
      }
    }
    return OkStatus();
  }

 private:
  struct Place {
    int64_t batch, head;
  };

  // Keys as panels [size][width], values as panels [keys][width], both filled up with zeros.
  void Pack(const KernelArgs& args, const Place& place, float* memory) const {
    const float* k = InputF32(args, 1) + p_.k_offset + p_.k_strides.At(place.batch, place.head, 0);
    simd::PackTransposedPanels(k, p_.k_strides.row, p_.keys, p_.qk_size, memory);
    const float* v = InputF32(args, 2) + p_.v_offset + p_.v_strides.At(place.batch, place.head, 0);
    simd::PackPanels(v, p_.v_strides.row, p_.keys, p_.v_size, memory + value_panels_);
  }

  void Block(const KernelArgs& args, const Place& place, SliceRange queries, float* memory) const {
    const int64_t rows = queries.end - queries.begin;
    const float* q =
        InputF32(args, 0) + p_.q_offset + p_.q_strides.At(place.batch, place.head, queries.begin);
    float* scores = memory + scores_;
    simd::PanelGemm(rows, keys_, p_.qk_size, q, p_.q_strides.row, memory, scores, keys_);
    for (int64_t r = 0; r < rows; ++r) {
      Weigh(args, place, queries.begin + r, scores + r * keys_, memory + chosen_);
    }
    float* y = OutputF32(args, 0) + p_.y_strides.At(place.batch, place.head, queries.begin);
    const bool direct = columns_ == p_.v_size;
    float* answers = direct ? y : memory + answers_;
    simd::PanelGemm(rows, columns_, p_.keys, scores, keys_, memory + value_panels_, answers,
                    direct ? p_.y_strides.row : columns_);
    if (direct) return;
    for (int64_t r = 0; r < rows; ++r) {
      std::copy_n(answers + r * columns_, p_.v_size, y + r * p_.y_strides.row);
    }
  }

  // The scores of one query become its weights.
  void Weigh(const KernelArgs& args, const Place& place, int64_t query, float* scores,
             float* chosen) const {
    simd::ScoreRow row;
    row.scores = scores;
    row.count = p_.keys;
    row.visible = p_.causal ? std::min(query + 1, p_.keys) : p_.keys;
    row.scale = p_.scale;
    row.zero_hidden = p_.undefined == UndefinedRows::kZeroed;
    row.zero_nan = p_.undefined == UndefinedRows::kAllZeroed;
    const int64_t at = p_.mask_strides.At(place.batch, place.head, query);
    if (selects_) {
      const bool* mask = reinterpret_cast<const bool*>(args.inputs[3]) + at;
      for (int64_t j = 0; j < p_.keys; ++j) {
        chosen[j] = mask[j * p_.mask_key_stride] ? 1.0f : 0.0f;
      }
      row.mask = chosen;
      row.selects = true;
      row.masked_score = p_.masked_score;
    } else if (masked_) {
      row.mask = InputF32(args, 3) + at;
      row.mask_step = p_.mask_key_stride;
    }
    simd::SoftmaxScores(row);
  }

  const FusedAttentionParams p_;
  const bool masked_;
  const bool selects_;  // the mask is of bool
  const int64_t width_;
  const int64_t keys_;     // rounded up to whole panels
  const int64_t columns_;  // of values, likewise
  const int64_t blocks_;   // of queries of a head
  int64_t parts_ = 1;      // into which the blocks of a head are cut
  int64_t slices_ = 1;
  // Where things begin in the memory of a slice, in floats; the panels of keys come first.
  int64_t value_panels_ = 0;
  int64_t scores_ = 0;
  int64_t answers_ = 0;
  int64_t chosen_ = 0;
  int64_t floats_ = 0;
};

// Of the workspace of a slice: more is for the reference.
constexpr int64_t kMostFloats = int64_t{1} << 31;

}  // namespace

bool PortableAttentionSupports(const KernelCall& call) {
  const auto* p = std::get_if<FusedAttentionParams>(&call.params);
  if (p == nullptr || call.outputs[0].shape.num_elements() == 0) return false;
  if (p->keys == 0 || p->qk_size == 0) return false;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const TensorDesc& input = call.inputs[i];
    if (!input.present()) continue;
    const bool mask_of_bool = i == 3 && input.dtype == DType::kBool;
    if (input.layout != Layout::kPlain || (input.dtype != DType::kFloat32 && !mask_of_bool)) {
      return false;
    }
  }
  const double floats = static_cast<double>(p->keys + 64) *
                        static_cast<double>(p->qk_size + p->v_size + 64 + 2 * kBlock);
  return call.outputs[0].dtype == DType::kFloat32 && floats < static_cast<double>(kMostFloats);
}

Result<std::shared_ptr<const PreparedKernel>> PreparePortableAttention(const KernelCall& call,
                                                                       const PrepareContext&) {
  return std::shared_ptr<const PreparedKernel>(std::make_shared<AttentionKernel>(call));
}

}  // namespace kheya
