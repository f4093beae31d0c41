// Exporter: writes a Graph of standard operators as the messages of an ONNX model.
#ifndef KHEYA_FORMATS_ONNX_EXPORTER_H_
#define KHEYA_FORMATS_ONNX_EXPORTER_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "formats/onnx/onnx.h"
#include "formats/wire/protobuf_writer.h"
#include "graph/graph.h"

namespace kheya::onnx {

// The file that weights are written to beside the model, and where each lies in it.
class ExternalData {
 public:
  explicit ExternalData(std::string location) : location_(std::move(location)) {}

  // TensorProto that says where the tensor's bytes are.
  ProtobufWriter Add(const Tensor& tensor, std::string_view name);
  bool empty() const { return pieces_.empty(); }
  // The file's content; the tensors must be alive.
  const std::vector<std::string_view>& pieces() const { return pieces_; }

 private:
  std::string location_;
  std::vector<std::string_view> pieces_;
  uint64_t size_ = 0;
};

class Exporter {
 public:
  // `external` may be null: all weights go into the model. Both must outlive the exporter and the
  // message.
  Exporter(const Graph& graph, int opset, ExternalData* external)
      : graph_(graph), opset_(opset), external_(external) {}

  // ModelProto. Tensors of the graph are borrowed.
  Result<ProtobufWriter> Export();

 private:
  // The names of a graph's values, and those that are taken, also in the graphs around it.
  struct Scope {
    const Graph& graph;
    const Scope* parent = nullptr;
    std::unordered_map<int32_t, std::string> names = {};
    std::unordered_set<std::string> taken = {};
    // Of nodes, each with the last suffix that was put to it.
    std::unordered_map<std::string, int> node_names = {};
    // Of the graph's outputs; and those that need an Identity from the value to this name.
    std::vector<std::string> outputs = {};
    std::vector<std::pair<ValueId, std::string>> copies = {};

    bool IsTaken(const std::string& name) const {
      return taken.contains(name) || (parent != nullptr && parent->IsTaken(name));
    }
    const std::string& Name(ValueId value) const { return names.at(value.index); }
  };

  static Status NameValues(Scope& scope);
  static Status NameOutputs(Scope& scope);
  static std::string FreeName(const Scope& scope, const std::string& base);
  // Gives the value a name made from `base`.
  static void SetName(Scope& scope, ValueId value, const std::string& base);

  Result<ProtobufWriter> GraphMessage(const Graph& graph, const Scope* parent);
  Status AddInitializers(const Scope& scope, ProtobufWriter& message);
  void AddTypes(const Scope& scope, ProtobufWriter& message);
  static std::string NodeName(Scope& scope, const Node& node);
  Result<ProtobufWriter> NodeMessage(const Node& node, const std::string& name, const Scope& scope);
  Result<ProtobufWriter> AttributeMessage(const Attribute& attribute, const Scope& scope);

  const Graph& graph_;
  const int opset_;
  ExternalData* const external_;
  std::set<std::string> domains_;
  std::set<DType> dtypes_;
};

}  // namespace kheya::onnx

#endif  // KHEYA_FORMATS_ONNX_EXPORTER_H_
