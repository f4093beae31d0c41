#include "kernels/portable/panel_product.h"

#include <cmath>
#include <limits>
#include <utility>

#include "kernels/portable/rows.h"
#include "kernels/portable/simd.h"

namespace kheya {
namespace {

// What may be taken of the second cache, beside what else is used.
constexpr int64_t kSecondCacheBytes = 384 * 1024;

}  // namespace

bool simd::SetClamp(const Elementwise& activation, Finishing* finishing) {
  if (activation.op == ElementwiseOp::kIdentity) return true;
  const bool relu = activation.op == ElementwiseOp::kRelu;
  if (!relu && activation.op != ElementwiseOp::kClip) return false;
  finishing->clamps = true;
  finishing->low = relu ? 0.0f : activation.alpha;
  finishing->high = relu ? std::numeric_limits<float>::infinity() : activation.beta;
  return true;
}

Status CheckFinite(const Tensor& weights) {
  for (const float value : weights.data<float>()) {
    if (!std::isfinite(value)) return UnimplementedError("a weight is {}", value);
  }
  return OkStatus();
}

PanelMatrixKernel::PanelMatrixKernel(int64_t rows, int64_t columns, int64_t k,
                                     const Elementwise& activation,
                                     std::shared_ptr<const Buffer> panels)
    : rows_(rows),
      columns_(columns),
      k_(k),
      activation_(activation),
      panels_(std::move(panels)),
      cut_(CutPanels(rows, rows, columns, k)) {}

PanelMatrixKernel::Block PanelMatrixKernel::BlockOf(int64_t rows, int64_t columns) const {
  constexpr int64_t kFirstBytes = 96 * 1024;
  constexpr int64_t kMostRows = 256;
  const auto tile = static_cast<int64_t>(simd::PanelTileRows());
  const int64_t few = std::max<int64_t>(4, kFirstBytes / (4 * k_ * tile)) * tile;
  if (4 * columns * k_ <= kSecondCacheBytes) return {few, 1};
  // Panels from afar are read once for many rows, of which as many terms are taken as stay near.
  const int64_t blocks = (rows + kMostRows - 1) / kMostRows;
  const int64_t block = std::max(few, (rows + blocks - 1) / blocks);
  return {block, (4 * block * k_ + kSecondCacheBytes - 1) / kSecondCacheBytes};
}

Status PanelMatrixKernel::Run(const KernelArgs& args) const {
  const SliceRange rows = cut_.Rows(args.slice, rows_);
  const SliceRange columns = cut_.Columns(args.slice, columns_);
  const auto [block, parts] = BlockOf(rows.end - rows.begin, columns.end - columns.begin);
  simd::PanelProduct product;
  product.x_pitch = product.panel_rows = k_;
  product.panels = reinterpret_cast<const float*>(panels_->data()) + columns.begin * k_;
  product.columns = columns.end - columns.begin;
  product.row_major =
      static_cast<int64_t>(product.columns * sizeof(float)) * k_ <= kSecondCacheBytes;
  product.y_pitch = columns_;
  const bool has_bias = args.inputs.size() > 2 && args.inputs[2] != nullptr;
  const bool has_residual = args.inputs.size() > 3 && args.inputs[3] != nullptr;
  for (int64_t row = rows.begin; row < rows.end; row += block) {
    const int64_t count = std::min(block, rows.end - row);
    const int64_t first = row * columns_ + columns.begin;
    float* y = OutputF32(args, 0) + first;
    bool done = true;
    for (int64_t part = 0; part < parts; ++part) {
      const SliceRange terms = RangeOf(part, parts, k_);
      product.x = InputF32(args, 0) + row * k_ + terms.begin;
      product.run = terms.end - terms.begin;
      product.first_row = terms.begin;
      product.bias = part == 0 && has_bias ? InputF32(args, 2) + columns.begin : nullptr;
      product.finish = {.y = y};
      if (part > 0) product.finish.residual = y;
      if (part == 0 && has_residual) product.finish.residual = InputF32(args, 3) + first;
      if (part + 1 == parts) done = simd::SetClamp(activation_, &product.finish);
      simd::RunPanels(product, count);
    }
    for (int64_t i = 0; i < count && !done; ++i) {
      simd::Unary(activation_, y + i * columns_, y + i * columns_, product.columns);
    }
  }
  return OkStatus();
}

bool PanelMatMulSupports(const KernelCall& call) {
  const auto* params = std::get_if<FusedMatMulParams>(&call.params);
  if (params == nullptr || !call.All(DType::kFloat32) || params->gemm.trans_a) return false;
  if (params->gemm.alpha != 1) return false;
  const Shape& b = call.inputs[1].shape;
  const Shape& y = call.outputs[0].shape;
  if (call.inputs[0].shape.rank() < 2 || b.rank() < 2 || y.num_elements() == 0) return false;
  if (call.inputs[0].shape.num_elements() == 0) return false;
  if (b.num_elements() != b[b.rank() - 1] * b[b.rank() - 2]) return false;
  if (!call.has_input(2)) return true;
  const Shape& bias = call.inputs[2].shape;
  return params->gemm.beta == 1 && bias.rank() > 0 && bias.num_elements() == y[y.rank() - 1] &&
         bias[bias.rank() - 1] == y[y.rank() - 1];
}

Result<std::shared_ptr<const PreparedKernel>> PreparePanelMatMul(const KernelCall& call,
                                                                 const PrepareContext& context) {
  const Tensor* b = context.constant(1);
  if (b == nullptr || context.cache == nullptr) {
    return UnimplementedError("the right operand is not constant");
  }
  const auto& params = std::get<FusedMatMulParams>(call.params);
  const Shape& x = call.inputs[0].shape;
  const Shape& y = call.outputs[0].shape;
  const int64_t k = x[x.rank() - 1], n = y[y.rank() - 1];
  const bool transposed = params.gemm.trans_b;
  std::vector<int64_t> rows(k);
  for (int64_t i = 0; i < k; ++i) rows[i] = transposed ? i : i * n;
  KHEYA_ASSIGN_OR_RETURN(
      auto panels, PackPanels(*b, n, rows, transposed ? k : 1, transposed ? "transposed" : "plain",
                              context.cache));
  return std::shared_ptr<const PreparedKernel>(std::make_shared<PanelMatrixKernel>(
      y.num_elements() / n, n, k, params.activation, std::move(panels)));
}

}  // namespace kheya
