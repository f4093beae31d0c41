// Matrix products by oneDNN. Constant right operands are packed once. The work is cut into rows,
// into columns where there is one row, or into products where there are many.
#include <algorithm>
#include <cstring>
#include <map>

#include "kernels/kernel.h"
#include "kernels/onednn/library.h"
#include "kernels/slicing.h"

namespace kheya {
namespace {

using dnnl::memory;

constexpr int kA = 0;
constexpr int kB = 1;
constexpr int kBias = 2;
constexpr int kResidual = 3;

// y [batch, m, n] = a [batch or 1, m, k] b [batch or 1, k, n].
struct Sizes {
  int64_t batch = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  bool a_batched = false;
  bool b_batched = false;
};

// nullopt where the leading dimensions broadcast in another way than all or nothing.
std::optional<Sizes> SizesOf(const KernelCall& call) {
  const kernels::GemmParams& gemm = std::get<FusedMatMulParams>(call.params).gemm;
  const Shape& a = call.inputs[kA].shape;
  const Shape& b = call.inputs[kB].shape;
  const Shape& y = call.outputs[0].shape;
  if (a.rank() < 2 || b.rank() < 2) return std::nullopt;
  Sizes sizes;
  sizes.m = a[a.rank() - (gemm.trans_a ? 1 : 2)];
  sizes.k = a[a.rank() - (gemm.trans_a ? 2 : 1)];
  sizes.n = b[b.rank() - (gemm.trans_b ? 2 : 1)];
  sizes.batch = y.Product(0, y.rank() - 2);
  const int64_t a_batch = a.Product(0, a.rank() - 2);
  const int64_t b_batch = b.Product(0, b.rank() - 2);
  if ((a_batch != 1 && a_batch != sizes.batch) || (b_batch != 1 && b_batch != sizes.batch)) {
    return std::nullopt;
  }
  sizes.a_batched = a_batch != 1;
  sizes.b_batched = b_batch != 1;
  // One right operand for all: the batch is more rows.
  if (!sizes.b_batched && !gemm.trans_a && (sizes.a_batched || sizes.batch == 1)) {
    sizes.m *= sizes.batch;
    sizes.batch = 1;
    sizes.a_batched = false;
  }
  // Products that share an operand are slices of their own.
  constexpr int64_t kMostSlices = 1024;
  if (sizes.a_batched != sizes.b_batched && sizes.batch > kMostSlices) return std::nullopt;
  return sizes;
}

// How many rows, columns and products one primitive computes.
struct Part {
  int64_t batch = 1;
  int64_t m = 0;
  int64_t n = 0;
  auto operator<=>(const Part&) const = default;
};

struct PartPrimitive {
  dnnl::matmul primitive;
  memory::desc a;
  memory::desc b;
  memory::desc bias;
  memory::desc y;
  memory::desc scratchpad;
};

struct MatMulSlice {
  const PartPrimitive* part = nullptr;
  size_t a_offset = 0;  // in elements
  size_t b_offset = 0;
  size_t y_offset = 0;
  size_t column = 0;
  size_t y_count = 0;
  std::shared_ptr<const Buffer> packed;  // null: b comes at run time
};

class OneDnnMatMul : public PreparedKernel {
 public:
  OneDnnMatMul(const KernelCall& call, const Sizes& sizes) : call_(call), sizes_(sizes) {}

  Status Prepare(const PrepareContext& context) {
    if (call_.has_input(kBias)) KHEYA_RETURN_IF_ERROR(PrepareBias(context.constant(kBias)));
    const Tensor* b = sizes_.batch == 1 ? context.constant(kB) : nullptr;
    b_packed_ = b != nullptr && context.cache != nullptr;
    if (!b_packed_ && call_.inputs[kB].dtype != call_.inputs[kA].dtype) {
      return UnimplementedError("the right operand is neither constant nor of the left one's type");
    }
    KHEYA_RETURN_IF_ERROR(onednn::Guard([&] { Cut(); }));
    for (MatMulSlice& slice : slices_) {
      scratchpad_bytes_ = std::max(scratchpad_bytes_, slice.part->scratchpad.get_size());
      if (b_packed_) KHEYA_RETURN_IF_ERROR(PackSlice(context.cache, *b, &slice));
    }
    scratchpad_bytes_ = (scratchpad_bytes_ + kAlignment - 1) / kAlignment * kAlignment;
    return OkStatus();
  }

  int64_t slices() const override { return static_cast<int64_t>(slices_.size()); }
  size_t workspace_bytes() const override { return scratchpad_bytes_ * slices_.size(); }
  bool CanRunInPlace(int input) const override { return input == kResidual; }
  bool ReadsConstant(int input) const override {
    return input == kA || input == kResidual || (input == kB && !b_packed_);
  }

  Status Run(const KernelArgs& args) const override {
    const MatMulSlice& slice = slices_[args.slice];
    const PartPrimitive& part = *slice.part;
    const auto at = [&](int input, size_t offset) {
      const size_t bytes = BytesFor(call_.inputs[input].dtype, static_cast<int64_t>(offset));
      return const_cast<std::byte*>(args.inputs[input]) + bytes;
    };
    const DType type = call_.outputs[0].dtype;
    std::byte* y = args.outputs[0] + BytesFor(type, static_cast<int64_t>(slice.y_offset));
    const size_t y_bytes = BytesFor(type, static_cast<int64_t>(slice.y_count));
    if (call_.has_input(kResidual)) {
      const std::byte* residual = at(kResidual, slice.y_offset);
      if (residual != y) std::memcpy(y, residual, y_bytes);
    }
    const void* b =
        slice.packed ? static_cast<const void*>(slice.packed->data()) : at(kB, slice.b_offset);
    const float* bias = bias_.defined() ? bias_.data<float>().data() + slice.column : nullptr;
    void* scratchpad =
        scratchpad_bytes_ > 0 ? args.workspace + scratchpad_bytes_ * args.slice : nullptr;
    KHEYA_RETURN_IF_ERROR(
        onednn::Execute(part.primitive, {{DNNL_ARG_SRC, &part.a, at(kA, slice.a_offset)},
                                         {DNNL_ARG_WEIGHTS, &part.b, const_cast<void*>(b)},
                                         {DNNL_ARG_BIAS, &part.bias, const_cast<float*>(bias)},
                                         {DNNL_ARG_DST, &part.y, y},
                                         {DNNL_ARG_SCRATCHPAD, &part.scratchpad, scratchpad}}));
    onednn::Activate(left_, type, y, y_bytes);
    return OkStatus();
  }

 private:
  const FusedMatMulParams& params() const { return std::get<FusedMatMulParams>(call_.params); }

  // What comes behind the sum of products and bias is multiplied by alpha, so the bias is divided.
  Status PrepareBias(const Tensor* bias) {
    if (bias == nullptr) return UnimplementedError("bias is not constant");
    KHEYA_ASSIGN_OR_RETURN(bias_, Tensor::Allocate(DType::kFloat32, Shape{sizes_.n}));
    std::span<const float> from = bias->data<float>();
    std::span<float> to = bias_.mutable_data<float>();
    const float factor = params().gemm.beta / params().gemm.alpha;
    for (size_t i = 0; i < to.size(); ++i) to[i] = factor * from[i];
    return OkStatus();
  }

  // A stack of matrices; one alone is two-dimensional, which is the form that packs.
  static memory::desc Describe(memory::data_type type, memory::dims dims, memory::dims strides) {
    if (dims[0] == 1) {
      dims.erase(dims.begin());
      strides.erase(strides.begin());
    }
    return {dims, type, strides};
  }

  memory::data_type a_type() const { return onednn::TypeOf(call_.inputs[kA].dtype); }

  // As it lies in memory.
  memory::desc BDesc(const Part& part) const {
    const int64_t k = sizes_.k;
    return Describe(onednn::TypeOf(call_.inputs[kB].dtype), {part.batch, k, part.n},
                    params().gemm.trans_b ? memory::dims{k * sizes_.n, 1, k}
                                          : memory::dims{k * sizes_.n, sizes_.n, 1});
  }

  // What b is packed to: the same for all parts of as many columns.
  memory::desc PackedDesc(const Part& part) const {
    for (const auto& [other, made] : parts_) {
      if (other.n == part.n) return made.b;
    }
    return {{sizes_.k, part.n}, a_type(), memory::format_tag::any};
  }

  // Throws what oneDNN throws.
  PartPrimitive MakePart(const Part& part) {
    const int64_t m = part.m, n = part.n, k = sizes_.k;
    const memory::desc a = Describe(a_type(), {part.batch, m, k},
                                    params().gemm.trans_a ? memory::dims{sizes_.m * k, 1, sizes_.m}
                                                          : memory::dims{m * k, k, 1});
    const memory::desc y =
        Describe(onednn::TypeOf(call_.outputs[0].dtype), {part.batch, m, n}, {m * n, n, 1});
    const memory::desc b = b_packed_ ? PackedDesc(part) : BDesc(part);
    memory::desc bias;
    if (bias_.defined()) {
      bias = part.batch == 1
                 ? memory::desc({1, n}, memory::data_type::f32, memory::format_tag::ab)
                 : memory::desc({1, 1, n}, memory::data_type::f32, memory::format_tag::abc);
    }
    dnnl::post_ops post_ops;
    if (params().gemm.alpha != 1) {
      post_ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_linear, params().gemm.alpha, 0);
    }
    if (call_.has_input(kResidual)) post_ops.append_sum(1.0f);
    left_ = onednn::AppendPostOp(params().activation, &post_ops);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(post_ops);
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::matmul::desc desc =
        bias_.defined() ? dnnl::matmul::desc(a, b, bias, y) : dnnl::matmul::desc(a, b, y);
    const dnnl::matmul::primitive_desc chosen(desc, attributes, onednn::Engine());
    onednn::RefuseReference(chosen.impl_info_str());
    return {dnnl::matmul(chosen), a, chosen.weights_desc(), bias, y, chosen.scratchpad_desc()};
  }

  const PartPrimitive* PartFor(const Part& part) {
    if (!parts_.contains(part)) parts_.emplace(part, MakePart(part));
    return &parts_.at(part);
  }

  void Cut() {
    const double flops = 2.0 * static_cast<double>(sizes_.batch) * static_cast<double>(sizes_.m) *
                         static_cast<double>(sizes_.n) * static_cast<double>(sizes_.k);
    const bool whole_a = params().gemm.trans_a;  // rows of a transposed a are not dense
    if (sizes_.batch > 1) return CutBatch(flops);
    if (sizes_.m == 1) return CutColumns();
    const double least =
        LeastFlopsFor(static_cast<double>(BytesFor(call_.inputs[kA].dtype, sizes_.n * sizes_.k)));
    const int64_t count = whole_a ? 1 : SlicesFor(flops, least, (sizes_.m + 15) / 16, 8);
    for (int64_t i = 0; i < count; ++i) {
      const SliceRange rows = RangeOf(i, count, sizes_.m);
      const Part part{1, rows.end - rows.begin, sizes_.n};
      slices_.push_back({PartFor(part), static_cast<size_t>(rows.begin * sizes_.k), 0,
                         static_cast<size_t>(rows.begin * sizes_.n), 0,
                         static_cast<size_t>(part.m * sizes_.n), nullptr});
    }
  }

  void CutBatch(double flops) {
    const bool alike = sizes_.a_batched && sizes_.b_batched;
    const int64_t count = alike ? SlicesFor(flops, kLeastFlops, sizes_.batch) : sizes_.batch;
    for (int64_t i = 0; i < count; ++i) {
      const SliceRange products = RangeOf(i, count, sizes_.batch);
      const Part part{products.end - products.begin, sizes_.m, sizes_.n};
      const int64_t a = sizes_.a_batched ? products.begin * sizes_.m * sizes_.k : 0;
      const int64_t b = sizes_.b_batched ? products.begin * sizes_.k * sizes_.n : 0;
      const int64_t y = products.begin * sizes_.m * sizes_.n;
      slices_.push_back({PartFor(part), static_cast<size_t>(a), static_cast<size_t>(b),
                         static_cast<size_t>(y), 0,
                         static_cast<size_t>(part.batch * sizes_.m * sizes_.n), nullptr});
    }
  }

  // One row: what is read is the right operand, so its bytes are what counts.
  void CutColumns() {
    const auto bytes = static_cast<double>(BytesFor(call_.inputs[kA].dtype, sizes_.n * sizes_.k));
    const int64_t blocks = (sizes_.n + 63) / 64;
    const int64_t count = b_packed_ ? SlicesFor(bytes, 4 * kLeastBytes, blocks, 8) : 1;
    for (int64_t i = 0; i < count; ++i) {
      const SliceRange range = RangeOf(i, count, blocks);
      const int64_t begin = range.begin * 64;
      const Part part{1, 1, std::min(range.end * 64, sizes_.n) - begin};
      const int64_t b = params().gemm.trans_b ? begin * sizes_.k : begin;
      slices_.push_back({PartFor(part), 0, static_cast<size_t>(b), static_cast<size_t>(begin),
                         static_cast<size_t>(begin), static_cast<size_t>(part.n), nullptr});
    }
  }

  Status PackSlice(PackCache* cache, const Tensor& b, MatMulSlice* slice) const {
    const Part part{1, 1, slice->part->y.dims().back()};
    memory::desc from;
    KHEYA_RETURN_IF_ERROR(onednn::Guard([&] { from = BDesc(part); }));
    KHEYA_ASSIGN_OR_RETURN(slice->packed,
                           onednn::Pack(cache, b, from, slice->part->b, slice->b_offset));
    return OkStatus();
  }

  const KernelCall call_;
  const Sizes sizes_;
  Elementwise left_;  // the activation, where the primitives do not apply it
  std::map<Part, PartPrimitive> parts_;
  std::vector<MatMulSlice> slices_;
  bool b_packed_ = false;
  Tensor bias_;
  size_t scratchpad_bytes_ = 0;
};

// Apart from types.
bool FormFits(const KernelCall& call, const FusedMatMulParams& params) {
  if (params.gemm.alpha == 0) return false;
  const std::optional<Sizes> sizes = SizesOf(call);
  if (!sizes || call.outputs[0].shape.num_elements() == 0 || sizes->k == 0) return false;
  if (call.has_input(kBias)) {
    const Shape& bias = call.inputs[kBias].shape;
    if (bias.num_elements() != sizes->n || bias.rank() == 0) return false;
    if (bias[bias.rank() - 1] != sizes->n) return false;
  }
  return onednn::SizesFit(call);
}

}  // namespace

bool OneDnnMatMulSupports(const KernelCall& call) {
  const auto* params = std::get_if<FusedMatMulParams>(&call.params);
  return params != nullptr && call.All(DType::kFloat32) && FormFits(call, *params);
}

bool OneDnnMatMulBf16Supports(const KernelCall& call) {
  const auto* params = std::get_if<FusedMatMulParams>(&call.params);
  return params != nullptr && onednn::ComputesBf16(call) && FormFits(call, *params);
}

Result<std::shared_ptr<const PreparedKernel>> PrepareOneDnnMatMul(const KernelCall& call,
                                                                  const PrepareContext& context) {
  auto kernel = std::make_shared<OneDnnMatMul>(call, *SizesOf(call));
  KHEYA_RETURN_IF_ERROR(kernel->Prepare(context));
  return std::shared_ptr<const PreparedKernel>(std::move(kernel));
}

}  // namespace kheya
