// Matrix products of a few rows: what counts is that constant weights are read once.
#include <algorithm>
#include <cstring>

#include "kernels/portable/rows.h"
#include "kernels/portable/simd.h"
#include "kernels/portable/simd_skinny.h"

namespace kheya {
namespace {

constexpr int64_t kMostRows = 8;

int64_t Elements(const Shape& shape, int last) { return shape.Product(0, shape.rank() - last); }

class SkinnyKernel : public PreparedKernel {
 public:
  explicit SkinnyKernel(const KernelCall& call)
      : activation_(std::get<FusedMatMulParams>(call.params).activation),
        widths_(simd::SkinnyWidthsHere()),
        has_residual_(call.has_input(3)) {
    const Shape& a = call.inputs[0].shape;
    const Shape& y = call.outputs[0].shape;
    product_.k = a[a.rank() - 1];
    product_.n = y[y.rank() - 1];
    product_.m = Elements(a, 1);
    product_.relu = activation_.op == ElementwiseOp::kRelu;
    panels_ = (product_.n + widths_.panel - 1) / widths_.panel;
    const double bytes = 4.0 * static_cast<double>(product_.n) * static_cast<double>(product_.k);
    slices_ = SlicesFor(bytes, 4 * kLeastBytes, panels_, 8);
  }

  Status Pack(const Tensor& b, bool transposed, PackCache* cache) {
    const auto pack = [&]() -> Result<Buffer> {
      return PackPanels(b, transposed, cache->budget());
    };
    KHEYA_ASSIGN_OR_RETURN(packed_, cache->Get(b,
                                               fmt::format("skinny:{}:{}:{}x{}", widths_.vector,
                                                           transposed, product_.k, product_.n),
                                               columns() * product_.k * sizeof(float), pack));
    return OkStatus();
  }

  void SetBias(const Tensor& bias, float beta) {
    bias_.assign(columns(), 0);
    for (size_t i = 0; i < product_.n; ++i) bias_[i] = beta * bias.data<float>()[i];
  }

  int64_t slices() const override { return slices_; }
  bool CanRunInPlace(int input) const override { return input == 3; }
  bool ReadsConstant(int input) const override { return input == 0 || input == 3; }

  Status Run(const KernelArgs& args) const override {
    simd::SkinnyProduct product = product_;
    product.a = InputF32(args, 0);
    product.panels = reinterpret_cast<const float*>(packed_->data());
    product.bias = bias_.empty() ? nullptr : bias_.data();
    product.residual = has_residual_ ? InputF32(args, 3) : nullptr;
    product.y = OutputF32(args, 0);
    const SliceRange panels = RangeOf(args.slice, slices_, panels_);
    simd::Skinny(product, panels.begin, panels.end);
    if (product.relu || activation_.op == ElementwiseOp::kIdentity) return OkStatus();
    const size_t first = panels.begin * widths_.panel;
    const size_t end = std::min(product.n, panels.end * widths_.panel);
    for (size_t row = 0; row < product.m; ++row) {
      float* y = product.y + row * product.n + first;
      simd::Unary(activation_, y, y, end - first);
    }
    return OkStatus();
  }

 private:
  // With those that fill up the last vector.
  size_t columns() const {
    return (product_.n + widths_.vector - 1) / widths_.vector * widths_.vector;
  }

  Result<Buffer> PackPanels(const Tensor& b, bool transposed,
                            const std::shared_ptr<MemoryBudget>& budget) const {
    const size_t k = product_.k, n = product_.n;
    KHEYA_ASSIGN_OR_RETURN(Buffer buffer,
                           Buffer::AllocateZeroed(columns() * k * sizeof(float), budget));
    const float* from = b.data<float>().data();
    for (size_t first = 0; first < n; first += widths_.panel) {
      auto* to = reinterpret_cast<float*>(buffer.data()) + first * k;
      const size_t width = std::min(widths_.panel, columns() - first);
      const size_t count = std::min(width, n - first);
      if (transposed) {
        simd::Transpose(from + first * k, k, to, width, count, k);
        continue;
      }
      for (size_t i = 0; i < k; ++i) {
        std::memcpy(to + i * width, from + i * n + first, count * sizeof(float));
      }
    }
    return buffer;
  }

  const Elementwise activation_;
  const simd::SkinnyWidths widths_;
  const bool has_residual_;
  simd::SkinnyProduct product_;  // without pointers
  int64_t panels_ = 1;
  int64_t slices_ = 1;
  std::shared_ptr<const Buffer> packed_;
  std::vector<float> bias_;
};

}  // namespace

bool SkinnySupports(const KernelCall& call) {
  const auto* params = std::get_if<FusedMatMulParams>(&call.params);
  if (params == nullptr || !call.All(DType::kFloat32)) return false;
  if (params->gemm.trans_a || params->gemm.alpha != 1) return false;
  const Shape& a = call.inputs[0].shape;
  const Shape& b = call.inputs[1].shape;
  const Shape& y = call.outputs[0].shape;
  if (a.rank() < 2 || b.rank() < 2 || y.num_elements() == 0 || a.num_elements() == 0) return false;
  // One right operand, and no row of the left one is used twice.
  if (Elements(b, 2) != 1 || Elements(a, 1) > kMostRows) return false;
  if (Elements(a, 1) != Elements(y, 1)) return false;
  if (!call.has_input(2)) return true;
  const Shape& bias = call.inputs[2].shape;
  return bias.rank() > 0 && bias.num_elements() == y[y.rank() - 1] &&
         bias[bias.rank() - 1] == y[y.rank() - 1];
}

Result<std::shared_ptr<const PreparedKernel>> PrepareSkinny(const KernelCall& call,
                                                            const PrepareContext& context) {
  const kernels::GemmParams& gemm = std::get<FusedMatMulParams>(call.params).gemm;
  const Tensor* b = context.constant(1);
  const Tensor* bias = context.constant(2);
  if (b == nullptr || context.cache == nullptr || (call.has_input(2) && bias == nullptr)) {
    return UnimplementedError("weights are not constant");
  }
  auto kernel = std::make_shared<SkinnyKernel>(call);
  KHEYA_RETURN_IF_ERROR(kernel->Pack(*b, gemm.trans_b, context.cache));
  if (bias != nullptr) kernel->SetBias(*bias, gemm.beta);
  return std::shared_ptr<const PreparedKernel>(std::move(kernel));
}

}  // namespace kheya
