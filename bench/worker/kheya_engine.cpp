#include "worker/engine.h"

namespace kheya {
namespace {

class KheyaEngine : public Engine {
 public:
  Status Load(const ModelOptions& options, const std::vector<Tensor>& inputs) override {
    KHEYA_ASSIGN_OR_RETURN(model_, options.Compile());
    for (size_t i = 0; i < inputs.size() && i < model_->inputs().size(); ++i) {
      shapes_[model_->inputs()[i].name] = inputs[i].shape();
    }
    KHEYA_RETURN_IF_ERROR(model_->Prepare(shapes_));
    inputs_.assign(inputs.begin(), inputs.end());
    outputs_.resize(model_->outputs().size());
    context_.threads = options.threads;
    return OkStatus();
  }

  Status Run() override { return model_->Run(context_, inputs_, outputs_); }

  Result<std::vector<Tensor>> Outputs() override {
    std::vector<Tensor> tensors;
    for (const Value& value : outputs_) {
      if (!value.is_tensor()) return UnimplementedError("an output is no tensor");
      tensors.push_back(value.tensor());
    }
    return tensors;
  }

  std::optional<int64_t> Macs() const override { return model_->Macs(shapes_); }

 private:
  std::map<std::string, Shape> shapes_;
  std::shared_ptr<CompiledModel> model_;
  RunContext context_;
  std::vector<Value> inputs_;
  std::vector<Value> outputs_;
};

}  // namespace

std::unique_ptr<Engine> NewKheyaEngine() { return std::make_unique<KheyaEngine>(); }

}  // namespace kheya
