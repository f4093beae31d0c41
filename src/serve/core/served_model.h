// ServedModel: a model under the name and version by which clients ask for it.
#ifndef KHEYA_SERVE_CORE_SERVED_MODEL_H_
#define KHEYA_SERVE_CORE_SERVED_MODEL_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "data/model_spec.h"
#include "engine/engine.h"

namespace kheya {

enum class ModelState { kLoading, kReady, kUnavailable };

// A tensor of an element type that KServe v2 has a name for.
bool IsKserveTensor(const ValueType& type);

// Shared between the repository and the requests under way, so that a model that leaves the
// repository lives until its last answer. Thread safety: all members.
class ServedModel {
 public:
  // With the spec in the model's metadata, or with `spec`. Unimplemented when an input or output is
  // of a type that no request can carry; InvalidArgument when the metadata's spec is
  // wrong.
  static Result<std::shared_ptr<ServedModel>> Create(std::string name, std::string version,
                                                     std::shared_ptr<CompiledModel> compiled);
  static Result<std::shared_ptr<ServedModel>> Create(std::string name, std::string version,
                                                     std::shared_ptr<CompiledModel> compiled,
                                                     ModelSpec spec);

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }
  CompiledModel& compiled() const { return *compiled_; }
  const std::vector<TensorInfo>& inputs() const { return compiled_->inputs(); }
  const std::vector<TensorInfo>& outputs() const { return compiled_->outputs(); }
  const ModelSpec& spec() const { return spec_; }

  // Places in inputs() and outputs().
  std::optional<size_t> FindInput(std::string_view name) const;
  std::optional<size_t> FindOutput(std::string_view name) const;

  ModelState state() const { return state_.load(std::memory_order_acquire); }
  void set_state(ModelState state) { state_.store(state, std::memory_order_release); }
  // Unavailable when the model cannot answer now.
  Status CheckReady() const;

 private:
  ServedModel(std::string name, std::string version, std::shared_ptr<CompiledModel> compiled,
              ModelSpec spec);

  const std::string name_;
  const std::string version_;
  const std::shared_ptr<CompiledModel> compiled_;
  const ModelSpec spec_;
  std::atomic<ModelState> state_{ModelState::kReady};
};

}  // namespace kheya

#endif  // KHEYA_SERVE_CORE_SERVED_MODEL_H_
