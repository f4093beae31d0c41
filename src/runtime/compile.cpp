#include "runtime/compile.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "base/file.h"
#include "runtime/memory.h"
#include "runtime/node_call.h"
#include "runtime/precision.h"
#include "runtime/shared_constants.h"

namespace kheya {
namespace {

using Place = Register::Place;

constexpr size_t kResidualInput = 3;  // of convolutions and matrix products

// How a value lies in memory. Values of other types than float32 have one type alone.
struct Form {
  Layout layout = Layout::kPlain;
  bool narrow = false;  // float32 as bfloat16
};
// A value's registers by form.
struct Places {
  std::array<RegisterId, 4> by_form = {kNoRegister, kNoRegister, kNoRegister, kNoRegister};
  RegisterId& operator[](Form form) {
    return by_form[2 * static_cast<size_t>(form.layout) + (form.narrow ? 1 : 0)];
  }
};

// Builds the steps of a plan in topological order.
class PlanBuilder {
 public:
  PlanBuilder(const Graph& graph, const CompilePlanOptions& options)
      : graph_(graph), options_(options), plan_(std::make_shared<Plan>()) {
    places_.resize(graph_.value_index_bound());
  }

  Result<std::shared_ptr<const Plan>> Build() {
    KHEYA_ASSIGN_OR_RETURN(types_, ChooseTypes(graph_, options_));
    for (size_t i = 0; i < graph_.inputs().size(); ++i) AddInput(i);
    KHEYA_ASSIGN_OR_RETURN(std::vector<NodeId> order, graph_.TopologicalOrder());
    for (NodeId id : order) {
      const Node& node = graph_.node(id);
      Status status = AddNode(id, node);
      if (!status.ok()) return std::move(status).WithContext("{}", node.Describe());
    }
    KHEYA_RETURN_IF_ERROR(CollectOutputs());
    KHEYA_RETURN_IF_ERROR(PlaceMemory(*plan_));
    return std::shared_ptr<const Plan>(plan_);
  }

 private:
  RegisterId AddRegister(Register reg) {
    const auto id = static_cast<RegisterId>(plan_->registers.size());
    if (reg.root == kNoRegister) reg.root = id;
    plan_->registers.push_back(std::move(reg));
    return id;
  }

  // The description of a value whose memory can be planned.
  std::optional<TensorDesc> StaticDesc(ValueId id) const {
    const ValueType& type = graph_.value(id).type;
    if (!type.is_tensor() || type.dtype == DType::kString || type.dtype == DType::kUndefined) {
      return std::nullopt;
    }
    const std::optional<Shape> shape = type.KnownShape();
    if (!shape) return std::nullopt;
    return TensorDesc{type.dtype, *shape, Layout::kPlain};
  }

  // A new register for a value that an input or a step gives.
  RegisterId AddValueRegister(ValueId id, Place place, Form form = {}) {
    Register reg;
    if (std::optional<TensorDesc> desc = StaticDesc(id)) {
      reg.place = place;
      reg.desc = *desc;
      reg.desc.layout = form.layout;
      if (form.narrow) reg.desc.dtype = DType::kBFloat16;
      reg.bytes = BytesFor(reg.desc.dtype, desc->shape.num_elements());
    }
    const RegisterId result = AddRegister(std::move(reg));
    places_[id.index][form] = result;
    return result;
  }

  void AddInput(size_t index) {
    const RegisterId id = AddValueRegister(graph_.inputs()[index], Place::kInput);
    plan_->registers[id].external = static_cast<int>(index);
    plan_->inputs.push_back(id);
    plan_->input_names.push_back(graph_.value(graph_.inputs()[index]).name);
  }

  bool Has(ValueId id, Form form) { return places_[id.index][form] != kNoRegister; }
  bool HasLayout(ValueId id, Layout layout) {
    return Has(id, {layout, false}) || Has(id, {layout, true});
  }
  // In bfloat16 alone.
  bool IsNarrow(ValueId id) {
    return (Has(id, {Layout::kPlain, true}) || Has(id, {Layout::kChannelsLast, true})) &&
           !Has(id, {Layout::kPlain, false}) && !Has(id, {Layout::kChannelsLast, false});
  }

  RegisterId AddAlias(RegisterId source, TensorDesc desc) {
    Register reg = plan_->registers[source];
    reg.root = source;
    reg.desc = desc;
    reg.external = -1;
    reg.constant = Tensor();
    return AddRegister(std::move(reg));
  }

  // The register of a value in a form, by a step of its own where it is only there in others.
  Result<RegisterId> Get(ValueId id, Form form = {}) {
    if (!id.valid()) return kNoRegister;
    if (Has(id, form)) return places_[id.index][form];
    if (graph_.value(id).origin == ValueOrigin::kConstant) {
      KHEYA_RETURN_IF_ERROR(AddConstant(id, form.narrow));
      if (form.layout == Layout::kPlain) return places_[id.index][form];
    }
    const Layout other = form.layout == Layout::kPlain ? Layout::kChannelsLast : Layout::kPlain;
    for (const Form source :
         {Form{other, form.narrow}, Form{form.layout, !form.narrow}, Form{other, !form.narrow}}) {
      if (!Has(id, source)) continue;
      const RegisterId reg = places_[id.index][source];
      TensorDesc desc = plan_->registers[reg].desc;
      desc.layout = form.layout;
      if (source.narrow == form.narrow && LayoutsCoincide(desc.shape)) {
        return places_[id.index][form] = AddAlias(reg, desc);
      }
      if (source.narrow != form.narrow) {
        desc.dtype = form.narrow ? DType::kBFloat16 : DType::kFloat32;
      }
      KHEYA_ASSIGN_OR_RETURN(const RegisterId made, AddReorder(id, reg, desc));
      return places_[id.index][form] = made;
    }
    return InternalError("value '{}' is used before it is made", graph_.value(id).name);
  }

  Status AddConstant(ValueId id, bool narrow) {
    const GraphValue& value = graph_.value(id);
    if (value.origin != ValueOrigin::kConstant) {
      return InternalError("value '{}' is used before it is made", value.name);
    }
    Register reg;
    reg.place = Place::kConstant;
    KHEYA_RETURN_IF_ERROR(CheckContent(value.constant));
    KHEYA_ASSIGN_OR_RETURN(reg.constant, ReadableConstant(value.constant, narrow, options_.cache));
    reg.desc = {reg.constant.dtype(), reg.constant.shape(), Layout::kPlain};
    reg.bytes = reg.constant.num_bytes();
    places_[id.index][{Layout::kPlain, narrow}] = AddRegister(std::move(reg));
    return OkStatus();
  }

  Result<RegisterId> AddReorder(ValueId id, RegisterId source, const TensorDesc& desc) {
    const TensorDesc& from = plan_->registers[source].desc;
    KernelCall call{ReorderParams{}, {from}, {desc}};
    Step step;
    step.name = graph_.value(id).name;
    step.op = from.dtype == desc.dtype ? "Reorder" : "Convert";
    const std::array<const Tensor*, 1> constants = {nullptr};
    if (!ChooseKernel(call, constants, &step)) {
      return InternalError("no kernel reorders {}{}", DTypeName(desc.dtype), desc.shape.ToString());
    }
    step.inputs = {source};
    Register reg;
    reg.place = Place::kArena;
    reg.desc = desc;
    reg.bytes = BytesFor(desc.dtype, desc.shape.num_elements());
    step.outputs = {AddRegister(std::move(reg))};
    plan_->steps.push_back(std::move(step));
    return plan_->steps.back().outputs[0];
  }

  Status AddNode(NodeId id, const Node& node) {
    const OpDef* op = FindOp(node.domain, node.op);
    if (op == nullptr) {
      return UnimplementedError("operator '{}{}{}' is not supported", node.domain,
                                node.domain.empty() ? "" : ".", node.op);
    }
    KHEYA_ASSIGN_OR_RETURN(const bool aliased, TryAlias(node, *op));
    if (aliased) return OkStatus();
    KHEYA_ASSIGN_OR_RETURN(const bool fast, TryKernel(id, node));
    if (!fast) KHEYA_RETURN_IF_ERROR(AddEvaluate(id, node, op));
    if (op->macs != nullptr) plan_->steps.back().macs = op->macs(graph_, node).value_or(0);
    return OkStatus();
  }

  Result<bool> TryAlias(const Node& node, const OpDef& op) {
    if (!op.aliases_input || node.outputs.size() != 1 || !node.outputs[0].valid()) return false;
    const ValueId input = node.inputs[0];
    const std::optional<TensorDesc> from = StaticDesc(input);
    const std::optional<TensorDesc> to = StaticDesc(node.outputs[0]);
    if (!from || !to || from->dtype != to->dtype) return false;
    if (from->shape.num_elements() != to->shape.num_elements()) return false;
    const Form form{Layout::kPlain, IsNarrow(input)};
    KHEYA_ASSIGN_OR_RETURN(const RegisterId source, Get(input, form));
    if (plan_->registers[source].place == Place::kDynamic) return false;
    TensorDesc desc = *to;
    desc.dtype = plan_->registers[source].desc.dtype;
    places_[node.outputs[0].index][form] = AddAlias(source, desc);
    return true;
  }

  // The layouts to try for a call, best first.
  std::vector<Layout> LayoutsFor(const NodeCall& node_call) {
    if (node_call.rule == LayoutRule::kPlain) return {Layout::kPlain};
    if (node_call.rule == LayoutRule::kChannelsLast) {
      return {Layout::kChannelsLast, Layout::kPlain};
    }
    for (size_t i = 0; i < node_call.inputs.size(); ++i) {
      const ValueId id = node_call.inputs[i];
      if (!node_call.follows[i] || !id.valid()) continue;
      if (HasLayout(id, Layout::kChannelsLast) && !HasLayout(id, Layout::kPlain)) {
        return {Layout::kChannelsLast, Layout::kPlain};
      }
    }
    return {Layout::kPlain, Layout::kChannelsLast};
  }

  Result<bool> TryKernel(NodeId id, const Node& node) {
    if (options_.tactics == Tactics::kReference) return false;
    std::optional<NodeCall> node_call = MakeNodeCall(graph_, node);
    if (!node_call || !AllStatic(*node_call)) return false;
    std::vector<Tensor> held;
    std::vector<const Tensor*> constants;
    KHEYA_RETURN_IF_ERROR(FindConstants(*node_call, &held, &constants));
    Step step;
    step.name = node.name;
    step.op = node.op;
    no_memory_ = OkStatus();
    for (KernelCall& typed : TypesFor(id, *node_call)) {
      for (Layout layout : LayoutsFor(*node_call)) {
        KernelCall call = typed;
        SetLayout(*node_call, layout, &call);
        if (!ChooseKernel(call, constants, &step)) continue;
        for (const Tensor* constant : constants) {
          if (constant != nullptr && !WasPacked(*constant)) {
            KHEYA_RETURN_IF_ERROR(CheckContent(*constant));
          }
        }
        KHEYA_RETURN_IF_ERROR(AddKernelStep(*node_call, call, std::move(step)));
        return true;
      }
    }
    if (options_.needs_memory && !no_memory_.ok()) return no_memory_;
    return false;
  }

  // The element types to try for a call, best first; as the graph says at last.
  std::vector<KernelCall> TypesFor(NodeId id, const NodeCall& node_call) {
    const KernelCall& wide = node_call.call;
    std::vector<KernelCall> calls;
    KernelCall call = Narrowed(node_call, graph_);
    bool narrow = types_.Computes(id);
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      const ValueId output = node_call.outputs[i];
      if (call.outputs[i].dtype != DType::kBFloat16) continue;
      if (output.valid()) call.outputs[i].dtype = types_.TypeOf(output);
      narrow = narrow || call.outputs[i].dtype == DType::kBFloat16;
    }
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      if (!call.has_input(i) || call.inputs[i].dtype != DType::kBFloat16) continue;
      const bool there = IsNarrow(node_call.inputs[i]);
      narrow = narrow || there;
      if (types_.Computes(id)) {
        if (i == kResidualInput) call.inputs[i].dtype = call.outputs[0].dtype;
      } else if (!there) {
        call.inputs[i].dtype = wide.inputs[i].dtype;
      }
    }
    if (narrow) {
      calls.push_back(std::move(call));
      calls.push_back(Narrowed(node_call, graph_));
    }
    calls.push_back(wide);
    return calls;
  }

  // Constants of a file are compared with their hashes unless what was packed of them stands in.
  Status CheckContent(const Tensor& constant) const {
    return options_.cache == nullptr ? OkStatus() : options_.cache->CheckContent(constant);
  }
  bool WasPacked(const Tensor& constant) const {
    return options_.cache != nullptr && options_.cache->WasPacked(constant);
  }

  bool AllStatic(const NodeCall& node_call) const {
    for (const std::vector<ValueId>* ids : {&node_call.inputs, &node_call.outputs}) {
      for (ValueId id : *ids) {
        if (id.valid() && !StaticDesc(id)) return false;
      }
    }
    return true;
  }

  Status FindConstants(const NodeCall& node_call, std::vector<Tensor>* held,
                       std::vector<const Tensor*>* constants) const {
    held->reserve(node_call.inputs.size());
    for (ValueId id : node_call.inputs) {
      const Tensor* constant = id.valid() ? graph_.Constant(id) : nullptr;
      if (constant != nullptr) {
        KHEYA_ASSIGN_OR_RETURN(Tensor aligned, constant->Aligned());
        if (!constant->aligned()) ReleaseMappedPages(constant->bytes());
        held->push_back(std::move(aligned));
        constant = &held->back();
      }
      constants->push_back(constant);
    }
    return OkStatus();
  }

  static void SetLayout(const NodeCall& node_call, Layout layout, KernelCall* call) {
    for (size_t i = 0; i < call->inputs.size(); ++i) {
      if (!call->has_input(i)) continue;
      const bool either = LayoutsCoincide(call->inputs[i].shape);
      if (node_call.follows[i] || either) call->inputs[i].layout = layout;
    }
    for (TensorDesc& output : call->outputs) output.layout = layout;
  }

  std::shared_ptr<const PreparedKernel> Prepare(const KernelRow& row, const KernelCall& call,
                                                std::span<const Tensor* const> constants,
                                                const Step& step) {
    auto prepared = row.prepare(call, {constants, options_.cache});
    if (prepared.ok()) return std::move(prepared).value();
    if (prepared.status().code() == StatusCode::kResourceExhausted) no_memory_ = prepared.status();
    if (options_.notes != nullptr) {
      options_.notes->push_back(fmt::format("node '{}' ({}): kernel '{}': {}", step.name, step.op,
                                            row.name, prepared.status().message()));
    }
    return nullptr;
  }

  // Brings the row that was found fastest to the front: remembered, or timed now.
  void Tune(const KernelCall& call, std::span<const Tensor* const> constants, const Step& step,
            std::vector<const KernelRow*>* rows) {
    const bool free = options_.tactics == Tactics::kAuto && options_.forced.empty();
    if (options_.tuner == nullptr || rows->size() < 2 || !free) return;
    const std::optional<std::string> key = TuningKey(call, constants);
    if (!key) return;
    std::optional<std::string> best = options_.tuner->Known(*key);
    if (!best && options_.may_time && options_.tuner->CanTime()) {
      std::vector<Tuner::Candidate> candidates;
      for (const KernelRow* row : *rows) {
        if (auto kernel = Prepare(*row, call, constants, step)) {
          candidates.push_back({TacticName(*row), std::move(kernel)});
        }
      }
      if (candidates.empty()) return;
      best = candidates[options_.tuner->Choose(*key, call, candidates, constants)].tactic;
    }
    std::stable_partition(rows->begin(), rows->end(),
                          [&](const KernelRow* row) { return TacticName(*row) == best; });
  }

  // Times all rows; one without a time could not be prepared or has inputs that cannot be made up.
  void Compare(const KernelCall& call, std::span<const Tensor* const> constants,
               const std::vector<const KernelRow*>& rows, Step* step) {
    std::vector<Tuner::Candidate> candidates;
    for (const KernelRow* row : rows) {
      if (auto kernel = Prepare(*row, call, constants, *step)) {
        candidates.push_back({TacticName(*row), std::move(kernel)});
      }
    }
    const std::vector<double> seconds =
        TimeCandidates(call, candidates, constants, options_.tolerance);
    for (size_t i = 0; i < seconds.size(); ++i) {
      step->compared.push_back({candidates[i].tactic, seconds[i]});
    }
  }

  // Prepares the best row that supports the call; the others become alternatives.
  bool ChooseKernel(const KernelCall& call, std::span<const Tensor* const> constants, Step* step) {
    std::vector<const KernelRow*> rows = RowsFor(call, options_);
    Tune(call, constants, *step, &rows);
    if (options_.compare) Compare(call, constants, rows, step);
    for (const KernelRow* row : rows) {
      if (step->kernel != nullptr) {
        step->alternatives.push_back(row->name);
      } else if (auto kernel = Prepare(*row, call, constants, *step)) {
        step->kernel = std::move(kernel);
        step->tactic = TacticName(*row);
      }
    }
    return step->kernel != nullptr;
  }

  static Form FormOf(const TensorDesc& desc, const TensorDesc& wide) {
    return {desc.layout, desc.dtype != wide.dtype};
  }

  // `call`: that of the node in the types and layouts of the step.
  Status AddKernelStep(const NodeCall& node_call, const KernelCall& call, Step step) {
    for (size_t i = 0; i < node_call.inputs.size(); ++i) {
      const ValueId id = node_call.inputs[i];
      RegisterId reg = kNoRegister;
      if (id.valid() && (graph_.Constant(id) == nullptr || step.kernel->ReadsConstant(i))) {
        Form form = FormOf(call.inputs[i], node_call.call.inputs[i]);
        if (!node_call.follows[i]) form.layout = Layout::kPlain;
        KHEYA_ASSIGN_OR_RETURN(reg, Get(id, form));
      } else if (id.valid()) {
        step.packed_bytes += graph_.Constant(id)->num_bytes();
      }
      step.inputs.push_back(reg);
    }
    for (size_t i = 0; i < node_call.outputs.size(); ++i) {
      const ValueId id = node_call.outputs[i];
      const Form form = FormOf(call.outputs[i], node_call.call.outputs[i]);
      step.outputs.push_back(id.valid() ? AddValueRegister(id, Place::kArena, form) : kNoRegister);
    }
    plan_->steps.push_back(std::move(step));
    return OkStatus();
  }

  Status AddEvaluate(NodeId id, const Node& node, const OpDef* op) {
    Step step;
    step.name = node.name;
    step.op = node.op;
    step.node = std::make_shared<const Node>(node);
    step.tactic = "reference";
    step.op_def = op;
    for (ValueId input : node.inputs) {
      KHEYA_ASSIGN_OR_RETURN(const RegisterId reg, Get(input));
      step.inputs.push_back(reg);
    }
    for (const Graph* subgraph : graph_.Subgraphs(id)) {
      for (ValueId capture : subgraph->captures()) {
        const ValueId outer = subgraph->value(capture).outer;
        KHEYA_ASSIGN_OR_RETURN(const RegisterId reg, Get(outer));
        step.captures.emplace_back(outer, reg);
      }
    }
    for (ValueId output : node.outputs) {
      step.outputs.push_back(output.valid() ? AddValueRegister(output, Place::kArena)
                                            : kNoRegister);
    }
    plan_->steps.push_back(std::move(step));
    return OkStatus();
  }

  Status CollectOutputs() {
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      KHEYA_ASSIGN_OR_RETURN(const RegisterId id, Get(graph_.outputs()[i].value));
      plan_->outputs.push_back(id);
      plan_->output_names.push_back(graph_.outputs()[i].name);
      const RegisterId root = plan_->RootOf(id);
      Register& reg = plan_->registers[id];
      if (plan_->registers[root].place != Place::kArena) continue;
      // What a reshape gives is made in the caller's memory too.
      plan_->registers[root].root = reg.root = id;
      reg.place = Place::kOutput;
      reg.external = static_cast<int>(i);
    }
    return OkStatus();
  }

  const Graph& graph_;
  const CompilePlanOptions& options_;
  std::shared_ptr<Plan> plan_;
  TypePlan types_;
  std::vector<Places> places_;
  Status no_memory_;  // why a kernel of the step at hand could not be prepared
};

std::string DescribeRegister(const Plan& plan, RegisterId id) {
  if (id == kNoRegister) return "-";
  const Register& reg = plan.registers[id];
  if (reg.place == Place::kDynamic) return "?";
  return fmt::format("{}{}{}", DTypeName(reg.desc.dtype), reg.desc.shape.ToString(),
                     reg.desc.layout == Layout::kChannelsLast ? ":channels_last" : "");
}

}  // namespace

std::vector<const KernelRow*> RowsFor(const KernelCall& call, const CompilePlanOptions& options) {
  std::vector<const KernelRow*> rows = FindKernels(call);
  if (options.tactics == Tactics::kPortable) {
    std::erase_if(rows, [](const KernelRow* row) { return row->isa != Isa::kPortable; });
  }
  std::stable_partition(rows.begin(), rows.end(),
                        [&](const KernelRow* row) { return TacticName(*row) == options.forced; });
  return rows;
}

Result<std::shared_ptr<const Plan>> CompilePlan(const Graph& graph,
                                                const CompilePlanOptions& options) {
  return PlanBuilder(graph, options).Build();
}

std::string DescribePlan(const Plan& plan) {
  std::string text;
  for (const Step& step : plan.steps) {
    text += fmt::format("{} {} '{}'", step.tactic, step.op, step.name);
    for (RegisterId id : step.inputs) text += " " + DescribeRegister(plan, id);
    text += " ->";
    for (RegisterId id : step.outputs) text += " " + DescribeRegister(plan, id);
    text += "\n";
  }
  return text + fmt::format("arena {} bytes\n", plan.arena_bytes);
}

}  // namespace kheya
