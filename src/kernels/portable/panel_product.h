// Matrix products with packed panels, of rows that follow each other: what pointwise convolutions
// and matrix products with a constant right operand share.
#ifndef KHEYA_KERNELS_PORTABLE_PANEL_PRODUCT_H_
#define KHEYA_KERNELS_PORTABLE_PANEL_PRODUCT_H_

#include <memory>

#include "kernels/kernel.h"
#include "kernels/portable/panel_cut.h"
#include "kernels/portable/panels.h"

namespace kheya {

// y [rows][columns] = activation(x [rows][k] b + bias + residual). inputs: x, b (not read), bias or
// none, residual or none.
class PanelMatrixKernel : public PreparedKernel {
 public:
  PanelMatrixKernel(int64_t rows, int64_t columns, int64_t k, const Elementwise& activation,
                    std::shared_ptr<const Buffer> panels);

  int64_t slices() const override { return cut_.slices(); }
  bool CanRunInPlace(int input) const override { return input == 3; }
  bool ReadsConstant(int input) const override { return input != 1; }
  Status Run(const KernelArgs& args) const override;

 private:
  // Rows at once, and parts into which their sums are cut.
  struct Block {
    int64_t rows = 1;
    int64_t parts = 1;
  };
  Block BlockOf(int64_t rows, int64_t columns) const;

  const int64_t rows_;
  const int64_t columns_;
  const int64_t k_;
  const Elementwise activation_;
  const std::shared_ptr<const Buffer> panels_;
  const PanelCut cut_;
};

}  // namespace kheya

#endif  // KHEYA_KERNELS_PORTABLE_PANEL_PRODUCT_H_
