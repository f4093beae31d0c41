#include "formats/testing/model_writer.h"
#include "hostile/hostile_models.h"

namespace kheya::test {
namespace {

constexpr DType kF32 = DType::kFloat32;
constexpr int64_t kBig = int64_t{1} << 62;

// y = Neg(w), with w an initializer.
std::string Model(const std::string& tensor) {
  return ModelMessage(
      GraphMessage({.nodes = {NodeMessage({.op = "Neg", .inputs = {"w"}, .outputs = {"y"}})},
                    .outputs = {UntypedValueMessage("y")},
                    .initializers = {tensor}}),
      21);
}

// TensorProto of float32[count] whose typed field holds `packed`.
std::string Typed(int64_t type, int64_t count, uint32_t field, std::string_view packed) {
  ProtobufWriter writer;
  writer.Int64(1, count);
  writer.Int64(2, type);
  writer.Bytes(8, "w");
  writer.Bytes(field, packed);
  return writer.bytes();
}

std::string Sparse(const std::vector<int64_t>& dims, const std::vector<int64_t>& indices) {
  const std::string raw(reinterpret_cast<const char*>(indices.data()), 8 * indices.size());
  const auto count = static_cast<int64_t>(indices.size());
  ProtobufWriter sparse;
  sparse.Bytes(1, RawTensorMessage("w", 1, {count}, std::string(4 * indices.size(), '\1')));
  sparse.Bytes(2, RawTensorMessage("", 7, {count}, raw));
  for (int64_t dim : dims) sparse.Int64(3, dim);
  ProtobufWriter graph;
  graph.Bytes(1, NodeMessage({.op = "Neg", .inputs = {"w"}, .outputs = {"y"}}));
  graph.Bytes(12, UntypedValueMessage("y"));
  graph.Message(15, sparse);
  return ModelMessage(graph.bytes(), 21);
}

// y = Neg(x), with x and y declared as they are not.
std::string Declared(const std::string& x, const std::string& y) {
  return ModelMessage(
      GraphMessage({.nodes = {NodeMessage({.op = "Neg", .inputs = {"x"}, .outputs = {"y"}})},
                    .inputs = {x},
                    .outputs = {y}}),
      21);
}

void AddSizes(std::vector<HostileModel>& models) {
  const std::vector<std::vector<int64_t>> dims = {{-1},
                                                  {INT64_MIN},
                                                  {INT64_MAX},
                                                  {kBig, 4},
                                                  {kBig, 0},
                                                  {0, -5},
                                                  {1 << 20, 1 << 20},
                                                  {65536, 65536, 65536, 65536},
                                                  {1, 2},
                                                  {int64_t{1} << 32},
                                                  std::vector<int64_t>(17, 1),
                                                  std::vector<int64_t>(5000, 2)};
  for (size_t i = 0; i < dims.size(); ++i) {
    const std::string index = std::to_string(i);
    models.push_back({"dims_" + index, Model(RawTensorMessage("w", 1, dims[i], "abcd"))});
    models.push_back({"dims_empty_" + index, Model(RawTensorMessage("w", 1, dims[i], ""))});
    models.push_back({"dims_string_" + index, Model(RawTensorMessage("w", 8, dims[i], ""))});
    models.push_back({"dims_declared_" + index, Declared(ValueMessage("x", kF32, dims[i]),
                                                         ValueMessage("y", kF32, dims[i]))});
    models.push_back({"dims_sparse_" + index, Sparse(dims[i], {0})});
  }
}

void AddTyped(std::vector<HostileModel>& models) {
  for (int64_t type = -1; type < 32; ++type) {
    const std::string index = std::to_string(type);
    models.push_back({"type_raw_" + index, Model(RawTensorMessage("w", type, {2}, "abcdefgh"))});
    models.push_back({"type_int32_data_" + index, Model(Typed(type, 2, 5, "\xff\xff\x7f\x01"))});
    models.push_back({"type_float_data_" + index, Model(Typed(type, 2, 4, "abcdefgh"))});
  }
  models.push_back({"typed_cut", Model(Typed(7, 2, 7, "\xff\xff"))});
  models.push_back({"typed_few", Model(Typed(7, 1 << 30, 7, "\x01"))});
  models.push_back({"typed_many", Model(Typed(1, 1, 4, std::string(4096, 'a')))});
  models.push_back({"declared_other_type",
                    Declared(ValueMessage("x", kF32, {2}), ValueMessage("y", DType::kInt64, {2}))});
  models.push_back({"declared_other_rank",
                    Declared(ValueMessage("x", kF32, {2}), ValueMessage("y", kF32, {2, 2, 2}))});
  models.push_back({"declared_string", Declared(ValueMessage("x", DType::kString, {2}),
                                                ValueMessage("y", kF32, {2}))});
  models.push_back({"sparse_index_negative", Sparse({4}, {-1})});
  models.push_back({"sparse_index_beyond", Sparse({4}, {4})});
  models.push_back({"sparse_many", Sparse({4, 4}, {0, 1, 2, 3, 4, 5, 6, 7})});
}

void AddExternal(std::vector<HostileModel>& models) {
  using Entries = std::vector<std::pair<std::string, std::string>>;
  const Entries cases[] = {
      {},
      {{"location", ""}},
      {{"location", "../weights.bin"}},
      {{"location", "/etc/passwd"}},
      {{"location", "link"}},
      {{"location", "folder"}},
      {{"location", "folder/../../x"}},
      {{"location", "nothing"}},
      {{"location", std::string("weights.bin\0x", 13)}},
      {{"location", std::string(5000, 'a')}},
      {{"location", "weights.bin"}, {"offset", "99999999999999999999999"}},
      {{"location", "weights.bin"}, {"offset", "18446744073709551615"}},
      {{"location", "weights.bin"}, {"offset", "-4"}},
      {{"location", "weights.bin"}, {"offset", "0x10"}},
      {{"location", "weights.bin"}, {"offset", "3"}, {"length", "18446744073709551614"}},
      {{"location", "weights.bin"}, {"length", "4"}},
      {{"location", "weights.bin"}, {"offset", "60"}},
      {{"location", "weights.bin"}, {"offset", "1"}},
      {{"location", "weights.bin"}, {"location", "../other"}},
  };
  int index = 0;
  for (const Entries& entries : cases) {
    models.push_back({"external_" + std::to_string(index++),
                      Model(ExternalTensorMessage("w", kF32, {2}, entries))});
  }
  models.push_back(
      {"external_string",
       Model(ExternalTensorMessage("w", DType::kString, {2}, {{"location", "weights.bin"}}))});
  models.push_back({"external_huge", Model(ExternalTensorMessage("w", kF32, {int64_t{1} << 40},
                                                                 {{"location", "weights.bin"}}))});
}

}  // namespace

std::vector<HostileModel> HostileTensors() {
  std::vector<HostileModel> models;
  AddSizes(models);
  AddTyped(models);
  AddExternal(models);
  return models;
}

}  // namespace kheya::test
