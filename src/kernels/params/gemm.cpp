#include "kernels/params/gemm.h"

#include <vector>

namespace kheya::kernels {
namespace {

Result<Shape> LeadingAxes(const Shape& shape) {
  const int rank = shape.rank() > 2 ? shape.rank() - 2 : 0;
  return Shape::Create(shape.dims().subspan(0, rank));
}

}  // namespace

Result<GemmSizes> GemmSizesOf(const GemmParams& params, const Shape& a, const Shape& b) {
  if (a.rank() != 2 || b.rank() != 2) {
    return InvalidArgumentError("found shapes {} and {}, expected two matrices", a.ToString(),
                                b.ToString());
  }
  const GemmSizes sizes = {params.trans_a ? a[1] : a[0], params.trans_b ? b[0] : b[1],
                           params.trans_a ? a[0] : a[1]};
  const int64_t b_inner = params.trans_b ? b[1] : b[0];
  if (sizes.k != b_inner) {
    return InvalidArgumentError("found inner sizes {} of {} and {} of {}, expected equal ones",
                                sizes.k, a.ToString(), b_inner, b.ToString());
  }
  return sizes;
}

Result<MatMulShapes> MatMulShapesOf(const Shape& a, const Shape& b) {
  if (a.rank() == 0 || b.rank() == 0) {
    return InvalidArgumentError("found shapes {} and {}, expected no scalars", a.ToString(),
                                b.ToString());
  }
  MatMulShapes shapes;
  shapes.sizes.m = a.rank() == 1 ? 1 : a[a.rank() - 2];
  shapes.sizes.k = a[a.rank() - 1];
  shapes.sizes.n = b.rank() == 1 ? 1 : b[b.rank() - 1];
  const int64_t b_inner = b[b.rank() == 1 ? 0 : b.rank() - 2];
  if (shapes.sizes.k != b_inner) {
    return InvalidArgumentError("found inner sizes {} of {} and {} of {}, expected equal ones",
                                shapes.sizes.k, a.ToString(), b_inner, b.ToString());
  }
  KHEYA_ASSIGN_OR_RETURN(shapes.a_batch, LeadingAxes(a));
  KHEYA_ASSIGN_OR_RETURN(shapes.b_batch, LeadingAxes(b));
  KHEYA_ASSIGN_OR_RETURN(shapes.batch, BroadcastShapes(shapes.a_batch, shapes.b_batch));
  std::vector<int64_t> dims(shapes.batch.begin(), shapes.batch.end());
  if (a.rank() > 1) dims.push_back(shapes.sizes.m);
  if (b.rank() > 1) dims.push_back(shapes.sizes.n);
  KHEYA_ASSIGN_OR_RETURN(shapes.output, Shape::Create(dims));
  return shapes;
}

int64_t BroadcastIndex(const Shape& operand, const Shape& batch, int64_t index) {
  const int skipped = batch.rank() - operand.rank();
  int64_t offset = 0, stride = 1;
  for (int axis = batch.rank() - 1; axis >= skipped; --axis) {
    const int64_t size = operand[axis - skipped];
    if (size != 1) offset += index % batch[axis] * stride;
    index /= batch[axis];
    stride *= size;
  }
  return offset;
}

}  // namespace kheya::kernels
