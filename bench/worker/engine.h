// Engine: a runtime that bench_worker can time. One object loads one model and runs it again and
// again on the same inputs.
#ifndef KHEYA_BENCH_WORKER_ENGINE_H_
#define KHEYA_BENCH_WORKER_ENGINE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/model_options.h"
#include "base/status.h"
#include "tensor/tensor.h"

namespace kheya {

class Engine {
 public:
  virtual ~Engine() = default;

  // Everything up to the first run: reading, optimizing, packing.
  virtual Status Load(const ModelOptions& options, const std::vector<Tensor>& inputs) = 0;
  // One run on the inputs of Load.
  virtual Status Run() = 0;
  // What the last run answered; tensors may borrow the engine's memory until the next.
  virtual Result<std::vector<Tensor>> Outputs() = 0;
  // Multiply-accumulates of one run, where the engine tells.
  virtual std::optional<int64_t> Macs() const { return std::nullopt; }
};

std::unique_ptr<Engine> NewKheyaEngine();
// `library` is the path of ONNX Runtime's shared library, which is opened here and now.
Result<std::unique_ptr<Engine>> OpenOnnxRuntime(const std::string& library);
// The same for OpenVINO's C library.
Result<std::unique_ptr<Engine>> OpenOpenVino(const std::string& library);

// The symbol of a library that dlopen gave.
Result<void*> FindSymbol(void* library, const char* name);
// dlopen, with the reason on failure.
Result<void*> OpenLibrary(const std::string& path);

}  // namespace kheya

#endif  // KHEYA_BENCH_WORKER_ENGINE_H_
