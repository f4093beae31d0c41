// FakeModel: a CompiledModel whose answers a test writes itself.
#ifndef KHEYA_SERVE_CORE_FAKE_MODEL_H_
#define KHEYA_SERVE_CORE_FAKE_MODEL_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "serve/core/model_repository.h"

namespace kheya {

// Checks types and shapes as the engine does, then calls `run`.
class FakeModel : public CompiledModel {
 public:
  using RunFunction = std::function<Status(RunContext&, std::span<const Value>, std::span<Value>)>;
  using Metadata = std::vector<std::pair<std::string, std::string>>;

  FakeModel(std::vector<TensorInfo> inputs, std::vector<TensorInfo> outputs, RunFunction run,
            Metadata metadata = {})
      : inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        run_(std::move(run)),
        metadata_(std::move(metadata)) {}

  const std::vector<TensorInfo>& inputs() const override { return inputs_; }
  const std::vector<TensorInfo>& outputs() const override { return outputs_; }
  const Metadata& metadata() const override { return metadata_; }
  const std::string& name() const override { return name_; }
  Status Run(RunContext& context, std::span<const Value> inputs,
             std::span<Value> outputs) override {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      Status status = CheckType(inputs[i], inputs_[i].type);
      if (!status.ok()) return std::move(status).WithContext("input '{}'", inputs_[i].name);
    }
    return run_(context, inputs, outputs);
  }
  Status Prepare(const std::map<std::string, Shape>&) override { return OkStatus(); }
  uint64_t weight_bytes() const override { return 0; }
  uint64_t arena_bytes() const override { return 0; }
  std::string Describe() const override { return "fake"; }
  Result<std::vector<StepInfo>> Steps(const std::map<std::string, Shape>&) override {
    return std::vector<StepInfo>();
  }
  std::optional<int64_t> Macs(const std::map<std::string, Shape>&) const override {
    return std::nullopt;
  }

 private:
  const std::vector<TensorInfo> inputs_;
  const std::vector<TensorInfo> outputs_;
  const RunFunction run_;
  const Metadata metadata_;
  const std::string name_ = "fake";
};

// A type from its text, such as "float32[batch,3]", which must be right.
inline TensorInfo FakeInfo(std::string name, std::string_view type) {
  return {std::move(name), ValueType::Parse(type).value()};
}

// One output that is the input.
inline std::shared_ptr<CompiledModel> MakeEchoModel(std::string_view type) {
  return std::make_shared<FakeModel>(
      std::vector<TensorInfo>{FakeInfo("x", type)}, std::vector<TensorInfo>{FakeInfo("y", type)},
      [](RunContext&, std::span<const Value> inputs, std::span<Value> outputs) {
        outputs[0] = inputs[0];
        return OkStatus();
      });
}

// float32[batch,3] to float32[batch,3]: every number doubled.
inline std::shared_ptr<CompiledModel> MakeDoublingModel() {
  return std::make_shared<FakeModel>(
      std::vector<TensorInfo>{FakeInfo("x", "float32[batch,3]")},
      std::vector<TensorInfo>{FakeInfo("y", "float32[batch,3]")},
      [](RunContext&, std::span<const Value> inputs, std::span<Value> outputs) -> Status {
        const Tensor& x = inputs[0].tensor();
        KHEYA_ASSIGN_OR_RETURN(Tensor y, Tensor::Allocate(DType::kFloat32, x.shape()));
        const std::span<float> out = y.mutable_data<float>();
        for (size_t i = 0; i < out.size(); ++i) out[i] = 2 * x.data<float>()[i];
        outputs[0] = std::move(y);
        return OkStatus();
      });
}

// Two inputs and two outputs: the sum of both rows, and the labels in `ids` as they came.
inline std::shared_ptr<CompiledModel> MakePairModel() {
  return std::make_shared<FakeModel>(
      std::vector<TensorInfo>{FakeInfo("a", "float32[batch,2]"), FakeInfo("ids", "int64[batch]")},
      std::vector<TensorInfo>{FakeInfo("sum", "float32[batch]"), FakeInfo("same", "int64[batch]")},
      [](RunContext&, std::span<const Value> inputs, std::span<Value> outputs) -> Status {
        const Tensor& a = inputs[0].tensor();
        KHEYA_ASSIGN_OR_RETURN(Tensor sum, Tensor::Allocate(DType::kFloat32, {a.shape()[0]}));
        const std::span<float> out = sum.mutable_data<float>();
        for (size_t i = 0; i < out.size(); ++i) {
          out[i] = a.data<float>()[2 * i] + a.data<float>()[2 * i + 1];
        }
        outputs[0] = std::move(sum);
        outputs[1] = inputs[1];
        return OkStatus();
      });
}

// As scikit-learn's classifiers are exported: the label and a map of scores for each row. A row's
// label is the whole number at its start, whose score is 1; another's is 0.
inline std::shared_ptr<CompiledModel> MakeClassifierModel() {
  return std::make_shared<FakeModel>(
      std::vector<TensorInfo>{FakeInfo("x", "float32[batch,1]")},
      std::vector<TensorInfo>{FakeInfo("label", "int64[batch]"),
                              FakeInfo("scores", "seq(map(int64,float32[]))")},
      [](RunContext&, std::span<const Value> inputs, std::span<Value> outputs) -> Status {
        const Tensor& x = inputs[0].tensor();
        KHEYA_ASSIGN_OR_RETURN(Tensor label, Tensor::Allocate(DType::kInt64, {x.shape()[0]}));
        Sequence scores;
        for (int64_t i = 0; i < x.shape()[0]; ++i) {
          const auto found = static_cast<int64_t>(x.data<float>()[i]);
          label.mutable_data<int64_t>()[i] = found;
          scores.emplace_back(
              Int64Map{{found, Tensor::Scalar(1.0f)}, {found + 1, Tensor::Scalar(0.0f)}});
        }
        outputs[0] = std::move(label);
        outputs[1] = Value(std::move(scores));
        return OkStatus();
      });
}

// x to a sequence with a map from 0 to it, and nothing else.
inline std::shared_ptr<CompiledModel> MakeMapsModel() {
  return std::make_shared<FakeModel>(
      std::vector<TensorInfo>{FakeInfo("x", "float32[1]")},
      std::vector<TensorInfo>{FakeInfo("scores", "seq(map(int64,float32[]))")},
      [](RunContext&, std::span<const Value> inputs, std::span<Value> outputs) -> Status {
        Sequence scores;
        scores.emplace_back(Int64Map{{0, Tensor::Scalar(inputs[0].tensor().data<float>()[0])}});
        outputs[0] = Value(std::move(scores));
        return OkStatus();
      });
}

// One gray picture of 2 by 2 pixels to its pixels as scores of four classes.
inline std::shared_ptr<CompiledModel> MakePictureModel() {
  return std::make_shared<FakeModel>(
      std::vector<TensorInfo>{FakeInfo("x", "float32[batch,1,2,2]")},
      std::vector<TensorInfo>{FakeInfo("y", "float32[batch,4]")},
      [](RunContext&, std::span<const Value> inputs, std::span<Value> outputs) -> Status {
        const Tensor& x = inputs[0].tensor();
        KHEYA_ASSIGN_OR_RETURN(outputs[0], x.Reshaped(Shape{x.shape()[0], 4}));
        return OkStatus();
      },
      FakeModel::Metadata{{"kheya.spec", R"({"version": 1, "size": [2, 2], "color": "GRAY",)"
                                         R"( "labels": ["a", "b", "c"]})"}});
}

}  // namespace kheya

#endif  // KHEYA_SERVE_CORE_FAKE_MODEL_H_
