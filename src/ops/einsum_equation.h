// The equation of Einsum, such as "bij,bjk->bik" or "...ii->...i".
#ifndef KHEYA_OPS_EINSUM_EQUATION_H_
#define KHEYA_OPS_EINSUM_EQUATION_H_

#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tensor/shape.h"

namespace kheya {

// Axes are numbered from 0: those of the ellipsis first, then the letters as they come.
struct EinsumEquation {
  int num_axes = 0;
  std::vector<std::vector<int>> operands;  // for each dimension of each operand, its axis
  std::vector<int> output;
};

// Without an arrow the output is the ellipsis and then, in alphabetical order, the letters that
// come once. InvalidArgument naming what is wrong: another character, an operand whose rank or
// count does not fit, an output letter that no operand has or that comes twice, a term of over 64
// letters.
Result<EinsumEquation> ParseEinsum(std::string_view equation, std::span<const int> ranks);

// The size of each axis; a dimension of 1 broadcasts. InvalidArgument when two known ones differ.
Result<std::vector<Dim>> EinsumSizes(const EinsumEquation& equation,
                                     std::span<const SymbolicShape> shapes);

}  // namespace kheya

#endif  // KHEYA_OPS_EINSUM_EQUATION_H_
