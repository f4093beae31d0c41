// RNN, GRU and LSTM.
#include "ops/recurrent_attributes.h"
#include "runtime/node_call_builders.h"

namespace kheya {
namespace {

using kernels::Cell;

Cell CellOf(const std::string& op) {
  return op == "LSTM" ? Cell::kLstm : op == "GRU" ? Cell::kGru : Cell::kRnn;
}

bool Is(const TensorDesc& desc, const std::vector<int64_t>& dims) {
  if (!desc.present()) return true;
  return std::vector<int64_t>(desc.shape.begin(), desc.shape.end()) == dims;
}

// Every size that an input or output has is the one that the others say.
bool SizesAgree(const NodeShapes& node, const kernels::RecurrentParams& p) {
  const int64_t directions = std::ssize(p.directions);
  const int64_t gates = p.cell == Cell::kLstm ? 4 : p.cell == Cell::kGru ? 3 : 1;
  constexpr int64_t kMostHidden = int64_t{1} << 24;
  if (p.hidden > kMostHidden) return false;
  const int64_t rows = gates * p.hidden;
  const std::vector<int64_t> state = p.batch_first ? std::vector{p.batch, directions, p.hidden}
                                                   : std::vector{directions, p.batch, p.hidden};
  const std::vector<int64_t> y = p.batch_first
                                     ? std::vector{p.batch, p.length, directions, p.hidden}
                                     : std::vector{p.length, directions, p.batch, p.hidden};
  bool agree = Is(node.input(1), {directions, rows, p.input}) &&
               Is(node.input(2), {directions, rows, p.hidden}) &&
               Is(node.input(3), {directions, 2 * rows}) && Is(node.input(4), {p.batch}) &&
               Is(node.input(5), state) && Is(node.input(6), state) &&
               Is(node.input(7), {directions, 3 * p.hidden}) && Is(node.output(0), y);
  for (size_t i = 1; i < node.num_outputs(); ++i) agree = agree && Is(node.output(i), state);
  return agree && node.attributes().Int("hidden_size", p.hidden) == p.hidden;
}

}  // namespace

// nullopt where attributes or sizes are wrong: the operator's evaluate says in which way.
std::optional<NodeCall> MakeRecurrentCall(const NodeShapes& node) {
  const Cell cell = CellOf(node.node().op);
  Result<kernels::RecurrentParams> params = ReadRecurrent(node.attributes(), cell);
  const Shape& x = node.input(0).shape;
  const Shape& r = node.input(2).shape;
  if (!params.ok() || x.rank() != 3 || r.rank() != 3) return std::nullopt;
  params->length = x[params->batch_first ? 1 : 0];
  params->batch = x[params->batch_first ? 0 : 1];
  params->input = x[2];
  params->hidden = r[2];
  if (!SizesAgree(node, *params)) return std::nullopt;
  return node.Call(std::move(params).value(), LayoutRule::kPlain, cell == Cell::kLstm ? 8 : 6);
}

}  // namespace kheya
