// Matrix products without a library. A transposed right operand must be constant: it is packed.
#include <cstring>

#include "kernels/portable/rows.h"
#include "kernels/portable/simd.h"

namespace kheya {
namespace {

class MatMulKernel : public PreparedKernel {
 public:
  explicit MatMulKernel(const KernelCall& call)
      : params_(std::get<FusedMatMulParams>(call.params)),
        a_(call.inputs[0].shape),
        b_(call.inputs[1].shape),
        y_(call.outputs[0].shape),
        m_(y_[y_.rank() - 2]),
        n_(y_[y_.rank() - 1]),
        k_(a_[a_.rank() - 1]),
        has_bias_(call.has_input(2)),
        has_residual_(call.has_input(3)) {
    const double flops = 2.0 * static_cast<double>(y_.num_elements()) * static_cast<double>(k_);
    slices_ = SlicesFor(flops, kLeastFlops, y_.num_elements() / n_);
  }

  Status PackTransposed(const Tensor& b, PackCache* cache) {
    const auto pack = [&]() -> Result<Buffer> {
      KHEYA_ASSIGN_OR_RETURN(Buffer buffer, Buffer::Allocate(b.num_bytes(), cache->budget()));
      const int64_t size = n_ * k_;
      for (int64_t i = 0; i < b.num_elements(); i += size) {
        simd::Transpose(b.data<float>().data() + i, k_, reinterpret_cast<float*>(buffer.data()) + i,
                        n_, n_, k_);
      }
      return buffer;
    };
    KHEYA_ASSIGN_OR_RETURN(
        packed_, cache->Get(b, fmt::format("transposed:{}x{}", n_, k_), b.num_bytes(), pack));
    return OkStatus();
  }

  int64_t slices() const override { return slices_; }
  bool CanRunInPlace(int input) const override { return input == 3; }
  bool ReadsConstant(int input) const override { return input != 1 || packed_ == nullptr; }

  Status Run(const KernelArgs& args) const override {
    const SliceRange rows = RangeOf(args.slice, slices_, y_.num_elements() / n_);
    for (int64_t row = rows.begin; row < rows.end;) {
      const int64_t product = row / m_;
      const int64_t end = std::min(rows.end, (product + 1) * m_);
      RunRows(args, product, row, end - row);
      row = end;
    }
    return OkStatus();
  }

 private:
  // Where the matrix of an operand for one product begins.
  int64_t Offset(const Shape& operand, int64_t product) const {
    int64_t offset = 0, step = operand[operand.rank() - 1] * operand[operand.rank() - 2];
    for (int i = 3; i <= y_.rank(); ++i) {
      const int64_t size = y_[y_.rank() - i];
      const int64_t own = i <= operand.rank() ? operand[operand.rank() - i] : 1;
      if (own != 1) offset += product % size * step;
      step *= own;
      product /= size;
    }
    return offset;
  }

  void RunRows(const KernelArgs& args, int64_t product, int64_t row, int64_t count) const {
    const float* a = InputF32(args, 0) + Offset(a_, product) + row % m_ * k_;
    const float* b = packed_ ? reinterpret_cast<const float*>(packed_->data()) : InputF32(args, 1);
    float* y = OutputF32(args, 0) + row * n_;
    const kernels::GemmParams& gemm = params_.gemm;
    const float* residual = has_residual_ ? InputF32(args, 3) + row * n_ : nullptr;
    const bool direct = gemm.alpha == 1;
    if (direct && residual != nullptr && residual != y) {
      std::memcpy(y, residual, count * n_ * sizeof(float));
    }
    simd::Gemm(count, n_, k_, a, k_, b + Offset(b_, product), n_, y, n_,
               direct && residual != nullptr);
    if (!direct) simd::Scale(gemm.alpha, y, count * n_);
    for (int64_t i = 0; i < count && has_bias_; ++i) {
      const float scale = gemm.beta;
      simd::MultiplyAccumulate(InputF32(args, 2), &scale, y + i * n_, n_, 0);
    }
    if (params_.activation.op != ElementwiseOp::kIdentity) {
      simd::Unary(params_.activation, y, y, count * n_);
    }
  }

  const FusedMatMulParams params_;
  const Shape a_;
  const Shape b_;
  const Shape y_;
  const int64_t m_;
  const int64_t n_;
  const int64_t k_;
  const bool has_bias_;
  const bool has_residual_;
  int64_t slices_ = 1;
  std::shared_ptr<const Buffer> packed_;
};

}  // namespace

bool PortableMatMulSupports(const KernelCall& call) {
  const auto* params = std::get_if<FusedMatMulParams>(&call.params);
  if (params == nullptr || !call.All(DType::kFloat32) || params->gemm.trans_a) return false;
  if (call.inputs[0].shape.rank() < 2 || call.inputs[1].shape.rank() < 2) return false;
  if (call.outputs[0].shape.num_elements() == 0) return false;
  // With a factor the sum cannot begin from the residual.
  if (call.has_input(3) && params->gemm.alpha != 1) return false;
  if (!call.has_input(2)) return true;
  const Shape& bias = call.inputs[2].shape;
  const Shape& y = call.outputs[0].shape;
  return bias.rank() > 0 && bias.num_elements() == y[y.rank() - 1] &&
         bias[bias.rank() - 1] == y[y.rank() - 1];
}

Result<std::shared_ptr<const PreparedKernel>> PreparePortableMatMul(const KernelCall& call,
                                                                    const PrepareContext& context) {
  auto kernel = std::make_shared<MatMulKernel>(call);
  if (std::get<FusedMatMulParams>(call.params).gemm.trans_b) {
    const Tensor* b = context.constant(1);
    if (b == nullptr || context.cache == nullptr) {
      return UnimplementedError("the transposed operand is not constant");
    }
    KHEYA_RETURN_IF_ERROR(kernel->PackTransposed(*b, context.cache));
  }
  return std::shared_ptr<const PreparedKernel>(std::move(kernel));
}

}  // namespace kheya
