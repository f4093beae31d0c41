// TopK: places and values as one 64-bit number each, of which the greatest are kept in a buffer. A
// number that cannot be among them costs one comparison.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "kernels/portable/rows.h"
#include "kernels/portable/simd.h"

namespace kheya {
namespace {

// Greater for what comes first; 0 and -0 are equal, NaN is above all.
uint32_t KeyOf(float x, bool largest) {
  uint32_t key = ~0u;
  if (!std::isnan(x)) {
    constexpr uint32_t kSign = 0x80000000;
    const uint32_t bits = std::bit_cast<uint32_t>(x + 0.0f);
    key = (bits & kSign) != 0 ? ~bits : bits | kSign;
  }
  return largest ? key : ~key;
}

// Of equal keys the first place is the greatest.
uint64_t Entry(uint32_t key, int64_t place) {
  return uint64_t{key} << 32 | (~0u - static_cast<uint32_t>(place));
}
int64_t PlaceOf(uint64_t entry) { return ~0u - static_cast<uint32_t>(entry); }

class TopKKernel : public PreparedKernel {
 public:
  explicit TopKKernel(const KernelCall& call) {
    const auto& params = std::get<TopKParams>(call.params);
    const Shape& x = call.inputs[0].shape;
    largest_ = params.largest;
    size_ = x[params.axis];
    inner_ = x.Product(params.axis + 1, x.rank());
    lines_ = x.Product(0, params.axis) * inner_;
    const TensorDesc& y = call.outputs[0].present() ? call.outputs[0] : call.outputs[1];
    k_ = y.shape[params.axis];
    room_ = std::min(size_, 2 * k_ + 64);
    slices_ = SlicesFor(4 * BytesOf(call), kLeastBytes, lines_);
  }

  int64_t slices() const override { return slices_; }
  size_t workspace_bytes() const override { return static_cast<size_t>(slices_) * slice_bytes(); }

  Status Run(const KernelArgs& args) const override {
    std::byte* scratch = args.workspace + static_cast<size_t>(args.slice) * slice_bytes();
    auto* kept = reinterpret_cast<uint64_t*>(scratch);
    auto* copy = reinterpret_cast<float*>(kept + room_);
    const SliceRange lines = RangeOf(args.slice, slices_, lines_);
    for (int64_t line = lines.begin; line < lines.end; ++line) {
      const int64_t outer = line / inner_, inner = line % inner_;
      const float* x = InputF32(args, 0) + outer * size_ * inner_ + inner;
      if (inner_ > 1) {
        for (int64_t i = 0; i < size_; ++i) copy[i] = x[i * inner_];
        x = copy;
      }
      Keep(x, kept);
      Write(args, x, kept, outer * k_ * inner_ + inner);
    }
    return OkStatus();
  }

 private:
  size_t slice_bytes() const {
    const size_t line = inner_ > 1 ? static_cast<size_t>(size_) * sizeof(float) : 0;
    return (static_cast<size_t>(room_) * sizeof(uint64_t) + line + 63) / 64 * 64;
  }

  // The k greatest entries of the line, in order.
  void Keep(const float* x, uint64_t* kept) const {
    int64_t count = 0;
    uint64_t least = 0;
    float bound = 0;
    const auto shrink = [&] {
      std::nth_element(kept, kept + k_ - 1, kept + count, std::greater<>());
      count = k_;
      least = kept[k_ - 1];
      bound = x[PlaceOf(least)];
    };
    for (int64_t i = 0; i < size_; ++i) {
      if (least != 0) {
        i = static_cast<int64_t>(simd::FindBeyond(x, i, size_, bound, !largest_));
        if (i == size_) break;
      }
      const uint64_t entry = Entry(KeyOf(x[i], largest_), i);
      if (entry <= least) continue;
      kept[count++] = entry;
      if (count == room_ && count > k_) shrink();
    }
    if (count > k_) shrink();
    std::sort(kept, kept + k_, std::greater<>());
  }

  void Write(const KernelArgs& args, const float* x, const uint64_t* kept, int64_t first) const {
    float* values = OutputF32(args, 0);
    auto* places = args.outputs.size() > 1 ? reinterpret_cast<int64_t*>(args.outputs[1]) : nullptr;
    for (int64_t j = 0; j < k_; ++j) {
      const int64_t place = PlaceOf(kept[j]);
      if (values != nullptr) values[first + j * inner_] = x[place];
      if (places != nullptr) places[first + j * inner_] = place;
    }
  }

  bool largest_;
  int64_t size_;
  int64_t inner_;
  int64_t lines_;
  int64_t k_;
  int64_t room_;
  int64_t slices_;
};

}  // namespace

bool PortableTopKSupports(const KernelCall& call) {
  const auto* params = std::get_if<TopKParams>(&call.params);
  if (params == nullptr || call.inputs[0].dtype != DType::kFloat32) return false;
  const Shape& x = call.inputs[0].shape;
  const bool counted = x[params->axis] <= std::numeric_limits<int32_t>::max();
  return counted && std::ranges::any_of(call.outputs, [](const TensorDesc& y) {
           return y.present() && y.shape.num_elements() > 0;
         });
}

Result<std::shared_ptr<const PreparedKernel>> PreparePortableTopK(const KernelCall& call,
                                                                  const PrepareContext&) {
  return std::shared_ptr<const PreparedKernel>(std::make_shared<TopKKernel>(call));
}

}  // namespace kheya
