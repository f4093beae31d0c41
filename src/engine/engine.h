// The front door: a model file becomes something that answers.
//
//   KHEYA_ASSIGN_OR_RETURN(Model model, LoadModel("resnet50.onnx", LoadOptions()));
//   KHEYA_ASSIGN_OR_RETURN(std::shared_ptr<CompiledModel> compiled,
//                          CompileModel(std::move(model), CompileOptions()));
//   RunContext context;
//   std::vector<Value> inputs = {picture}, outputs(compiled->outputs().size());
//   KHEYA_RETURN_IF_ERROR(compiled->Run(context, inputs, outputs));
#ifndef KHEYA_ENGINE_ENGINE_H_
#define KHEYA_ENGINE_ENGINE_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/allocator.h"
#include "base/cpu_ledger.h"
#include "base/status.h"
#include "graph/graph.h"
#include "runtime/profile.h"
#include "runtime/run_context.h"
#include "tensor/value.h"

namespace kheya {

// Where the time of loading and compiling goes: the name of a phase and its seconds, in order of
// their ends. A name that begins with a space is a part of the phase before.
using PhaseTimes = std::vector<std::pair<std::string, double>>;

struct LoadOptions {
  // Inputs that callers will give although the file has a default for them. Other defaults are
  // constants.
  std::set<std::string, std::less<>> overridden = {};
  // Keeps doc strings and metadata of single nodes and values (Graph::notes), for SaveModel.
  bool keep_notes = false;
  // Reads the file into memory instead of mapping it: for files that others may truncate.
  bool copy = false;
  uint64_t max_bytes = uint64_t{64} << 30;
  PhaseTimes* phases = nullptr;
};

// A named input or output and what is known of it. Symbolic dimensions may differ from run to run.
struct TensorInfo {
  std::string name;
  ValueType type;
};

// A model as its file says, imported and with types inferred, in the canonical operator set.
// Unsupported operators are still in it: CompileModel refuses them, `inspect` lists them.
struct Model {
  std::string path;
  std::string format;  // "onnx"
  uint64_t file_bytes = 0;
  Graph graph;
  std::vector<std::string> warnings;
  std::vector<std::string> external_files = {};  // that hold weights apart
};

// NotFound, InvalidArgument, ResourceExhausted, Unimplemented, with the file in the context.
Result<Model> LoadModel(const std::string& path, const LoadOptions& options);

// Simplifies the graph for saving: standard operators stay standard operators. `disabled_passes` as
// in CompileOptions. Unimplemented lists operators that are not supported.
Status SimplifyModel(Model& model, const std::vector<std::string>& disabled_passes);

struct SaveOptions {
  // Of ai.onnx. None: that of the model's own file, or the oldest after it that holds the model.
  std::optional<int> opset;
  bool external_data = false;  // weights in PATH.data; models over 2 GB always
};

// Writes the model as ONNX, atomically; the path may be that of the file that it came from.
// InvalidArgument for an opset that cannot be written, Unimplemented naming the node that the opset
// cannot hold. Returns the opset.
Result<int> SaveModel(const Model& model, const std::string& path, const SaveOptions& options);

// Facts for people, counted over the graph as loaded.
struct ModelFacts {
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  int64_t parameters = 0;  // elements of all constants
  uint64_t parameter_bytes = 0;
  std::optional<int64_t> macs;                                   // symbolic dimensions taken as 1
  std::map<std::string, int64_t> operators;                      // "Conv", "com.x.Foo": how many
  std::vector<std::pair<std::string, std::string>> unsupported;  // node, reason
};
ModelFacts GatherFacts(const Model& model);

struct CompileOptions {
  std::string device = "auto";  // "auto", "cpu"; NotFound says what was looked for
  // "auto": the fastest that applies, by fixed rules; "reference": the plain kernels alone;
  // "portable": no library kernels; the name of a kernel ("portable:winograd2"): that one wherever
  // it can, else as "auto".
  std::string tactics = "auto";
  // In what convolutions and matrix products compute: "fp32"; "bf16": bfloat16 with sums in float32
  // where this processor has it, a note says where not; "auto": the same without a note; "fp16" is
  // Unimplemented. A layer whose relative L2 error on sample inputs exceeds `tolerance` stays
  // float32, with a note.
  std::string precision = "fp32";
  double tolerance = 0.01;
  std::vector<std::string> disabled_passes;
  bool simplify = true;
  bool lower = true;
  // Plans for different input shapes kept at once; the least recently used goes.
  int max_shape_plans = 16;
  // Fixed shapes by input name; others stay as declared.
  std::map<std::string, Shape> input_shapes;
  // Seconds for timing kernels where several can run a step; 0: fixed choices. Nothing is ever
  // timed by Run.
  double tuning_seconds = 0;
  // Called after each step that was timed, with the seconds spent; may be empty.
  std::function<void(double seconds)> tuning_progress = {};
  // Where choices are kept from one process to the next; empty: nowhere. Remembered choices are
  // taken even where nothing may be timed. That the folder cannot be written is a note alone.
  std::string cache_dir = {};
  std::shared_ptr<Runtime> runtime;           // null: Runtime::Default()
  std::shared_ptr<MemoryBudget> budget;       // null: ProcessBudget()
  bool compare_tactics = false;               // times every kernel of each step, for Steps()
  std::vector<std::string>* notes = nullptr;  // near misses of passes, choices of tactics
  // Warnings of the import, and why a package was compiled again; may be null.
  std::vector<std::string>* warnings = nullptr;
  PhaseTimes* phases = nullptr;
  // So that SavePackage works: the graph is kept in memory.
  bool keep_package = false;
  // What compiled models may take under `cache_dir`, the least recently used going first; 0: only
  // choices are kept. LoadAndCompile alone keeps models.
  uint64_t cache_bytes = uint64_t{8} << 30;
};

// What `tactics` may be: kernels alone in their family have no name here.
std::vector<std::string> TacticNames();

// What `precision` may be.
std::vector<std::string> PrecisionNames();

// Compares every section of a package with its hash. InvalidArgument names what was changed, or
// says that the file is no package.
Status VerifyPackage(const std::string& path);

// Ready to run. Thread safety: all members; runs of many threads share weights and plans, each
// with an arena of its own.
class CompiledModel {
 public:
  virtual ~CompiledModel() = default;

  virtual const std::vector<TensorInfo>& inputs() const = 0;
  virtual const std::vector<TensorInfo>& outputs() const = 0;
  // Free-form pairs of the model file; "kheya.spec" holds the ModelSpec.
  virtual const std::vector<std::pair<std::string, std::string>>& metadata() const = 0;
  virtual const std::string& name() const = 0;  // the graph's, or the file's without its ending

  // Inputs and outputs in the order of inputs() and outputs(). An output that comes as a tensor is
  // written into that memory and must have the right type and shape; anything else is replaced.
  // InvalidArgument names the input, what was found and what was expected. On failure the outputs
  // that were allocated are undefined.
  virtual Status Run(RunContext& context, std::span<const Value> inputs,
                     std::span<Value> outputs) = 0;

  // Makes the plan for these input shapes (by name; others as declared) now rather than at the
  // first run with them.
  virtual Status Prepare(const std::map<std::string, Shape>& input_shapes) = 0;

  virtual uint64_t weight_bytes() const = 0;  // packed and unpacked weights held in memory
  virtual uint64_t arena_bytes() const = 0;   // of the largest plan
  // The plan for people: one line a step with operator, tactic, shapes; for the declared shapes.
  virtual std::string Describe() const = 0;
  // The steps of the plan for these input shapes, as in Prepare.
  virtual Result<std::vector<StepInfo>> Steps(const std::map<std::string, Shape>& input_shapes) = 0;
  // Writes a package: the model with all plans made so far, to be loaded without tuning and packing
  // on machines like this one. Atomic. FailedPrecondition without CompileOptions::keep_package.
  virtual Status SavePackage(const std::string& path) const;
  // MACs of one run with these input shapes; nullopt when not known.
  virtual std::optional<int64_t> Macs(const std::map<std::string, Shape>& input_shapes) const = 0;
};

// Verifies, simplifies, lowers and compiles. Unimplemented lists what is not supported.
Result<std::shared_ptr<CompiledModel>> CompileModel(Model model, const CompileOptions& options);

// Load and compile. A package that was compiled on a machine like this one, with these options, is
// used as it lies; so is what `cache_dir` holds of an ordinary model, where it is kept after its
// first compilation. Any other package is compiled again, with a warning.
Result<std::shared_ptr<CompiledModel>> LoadAndCompile(const std::string& path,
                                                      const LoadOptions& load,
                                                      const CompileOptions& compile);

// What can run models here.
struct DeviceInfo {
  std::string name;         // "cpu"
  std::string description;  // brand and features
  bool available = false;
  std::string reason;  // when not available: what was looked for
};
std::vector<DeviceInfo> ListDevices();

}  // namespace kheya

#endif  // KHEYA_ENGINE_ENGINE_H_
