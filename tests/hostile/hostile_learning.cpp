// ai.onnx.ml: right models of the operators' cases with one attribute that lies.
#include <cmath>
#include <variant>

#include "hostile/parts.h"

namespace kheya::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

using AttributeList =
    std::variant<std::monostate, int64_t, float, std::string, Ints, Floats, Strings>;

// In the first case of `file`, this attribute is this; nothing: is missing.
struct Lie {
  const char* file;
  const char* attribute;
  std::vector<AttributeList> values;
};

std::string Message(const std::string& name, const AttributeList& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return IntAttribute(name, *number);
  if (const auto* real = std::get_if<float>(&value)) return FloatAttribute(name, *real);
  if (const auto* text = std::get_if<std::string>(&value)) return StringAttribute(name, *text);
  if (const auto* ints = std::get_if<Ints>(&value)) return IntsAttribute(name, *ints);
  if (const auto* floats = std::get_if<Floats>(&value)) return FloatsAttribute(name, *floats);
  if (const auto* strings = std::get_if<Strings>(&value)) return StringsAttribute(name, *strings);
  return "";
}

constexpr int64_t kMax = INT64_MAX;
constexpr int64_t kMin = INT64_MIN;
const std::monostate kMissing;

// Trees of 5 and 3 nodes; the leaves are 1, 3, 4 and 1, 2.
std::vector<Lie> TreeLies(const char* file, const std::string& prefix) {
  static const std::string kNames[] = {"target_ids",     "target_nodeids", "target_treeids",
                                       "target_weights", "class_ids",      "class_nodeids",
                                       "class_treeids",  "class_weights"};
  const std::string* names = kNames + (prefix == "target" ? 0 : 4);
  return {
      {file,
       "nodes_truenodeids",
       {Ints{0, 0, 3, 0, 0, 1, 0, 0}, Ints{2, 0, 0, 0, 0, 1, 0, 0}, Ints{1, 0, 99, 0, 0, 1, 0, 0},
        Ints{-1, 0, 3, 0, 0, 1, 0, 0}, Ints{kMax, 0, kMin, 0, 0, 1, 0, 0}, Ints{1, 0, 3}, Ints{},
        kMissing}},
      {file,
       "nodes_falsenodeids",
       {Ints{0, 0, 4, 0, 0, 2, 0, 0}, Ints{2, 0, 0, 0, 0, 2, 0, 0}, Ints{1, 0, 4, 0, 0, 2, 0, 0},
        Ints{2, 0, 2, 0, 0, 2, 0, 0}, Ints{kMax, 0, kMin, 0, 0, 2, 0, 0}, Ints(9), kMissing}},
      {file,
       "nodes_featureids",
       {Ints{99, 0, 1, 0, 0, 2, 0, 0}, Ints{-1, 0, 1, 0, 0, 2, 0, 0},
        Ints{kMax, 0, kMin, 0, 0, 2, 0, 0}, Ints{0}, kMissing}},
      {file,
       "nodes_nodeids",
       {Ints(8), Ints{0, 1, 2, 3, 3, 0, 1, 2}, Ints{5, 6, 7, 8, 9, 0, 1, 2},
        Ints{-1, 1, 2, 3, 4, 0, 1, 2}, Ints{kMax, 1, 2, 3, 4, kMin, 1, 2}, Ints{0, 1}, kMissing}},
      {file,
       "nodes_treeids",
       {Ints(8), Ints{0, 1, 2, 3, 4, 5, 6, 7}, Ints{0, 1, 0, 1, 0, 1, 0, 1},
        Ints{kMax, kMax, kMax, kMax, kMax, kMin, kMin, kMin}, Ints{0}, kMissing}},
      {file,
       "nodes_modes",
       {Strings(8, "LEAF"), Strings(8, "BRANCH_LEQ"), Strings(8, "BRANCH_\xff"), Strings(8, ""),
        Strings{"LEAF"}, Strings{}, kMissing}},
      {file, "nodes_values", {Floats(8, NAN), Floats(8, kInfinity), Floats{1}, kMissing}},
      {file, "nodes_hitrates", {Floats{1}, Floats(8, NAN), kMissing}},
      {file, "nodes_missing_value_tracks_true", {Ints{1}, Ints(8, kMax), Ints(99)}},
      {file,
       names[0].c_str(),
       {Ints{99, 1, 2, 1, 2}, Ints{-1, 1, 2, 1, 2}, Ints(5, kMax), Ints{0}, kMissing}},
      {file,
       names[1].c_str(),
       {Ints(5), Ints{0, 2, 4, 1, 2}, Ints{99, 3, 4, 1, 2}, Ints(5, kMin), Ints{0}}},
      {file,
       names[2].c_str(),
       {Ints{0, 0, 0, 9, 9}, Ints(5, -1), Ints(5, kMax), Ints{0}, kMissing}},
      {file, names[3].c_str(), {Floats(5, NAN), Floats(5, 3e38f), Floats{1}, kMissing}},
      {file, "base_values", {Floats(7), Floats{NAN}, Floats{}}},
      {file, "post_transform", {std::string("NONSENSE"), std::string(), int64_t{1}}},
  };
}

std::vector<Lie> OtherTreeLies() {
  const char* ensemble = "ml/TreeEnsemble.json";
  return {
      {"ml/TreeEnsembleClassifier.json",
       "classlabels_int64s",
       {Ints{}, Ints{1}, Ints{1, 1, 1}, Ints(50'000), kMissing}},
      {"ml/TreeEnsembleRegressor.json",
       "n_targets",
       {int64_t{0}, int64_t{-1}, int64_t{1} << 31, kMax, kMin, kMissing}},
      {"ml/TreeEnsembleRegressor.json",
       "aggregate_function",
       {std::string("MEDIAN"), std::string()}},
      {ensemble, "n_targets", {int64_t{0}, int64_t{-1}, int64_t{1} << 31, kMax, kMin, kMissing}},
      {ensemble, "aggregate_function", {int64_t{-1}, int64_t{9}, kMax}},
      {ensemble, "post_transform", {int64_t{-1}, int64_t{9}, kMin}},
      {ensemble,
       "tree_roots",
       {Ints{1}, Ints{-1}, Ints{3}, Ints{kMax}, Ints{}, Ints(40'000), kMissing}},
      {ensemble,
       "nodes_trueleafs",
       {Ints{1, 1, 1}, Ints{0, 0, 0}, Ints{2, 1, 1}, Ints{0}, kMissing}},
      {ensemble,
       "nodes_falseleafs",
       {Ints{1, 1, 1}, Ints{0, 0, 0}, Ints{-1, 1, 1}, Ints{0}, kMissing}},
      {ensemble,
       "nodes_truenodeids",
       {Ints{0, 0, 1}, Ints{2, 0, 1}, Ints{9, 0, 1}, Ints{-1, 0, 1}, Ints{kMax, kMin, 1}, Ints{1}}},
      {ensemble,
       "nodes_falsenodeids",
       {Ints{0, 2, 3}, Ints{2, 9, 3}, Ints{kMin, kMax, 3}, Ints{1}, kMissing}},
      {ensemble,
       "nodes_featureids",
       {Ints{1, 0, 0}, Ints{-1, 0, 0}, Ints{kMax, 0, 0}, Ints{0}, kMissing}},
      {ensemble,
       "leaf_targetids",
       {Ints{2, 1, 0, 0}, Ints{-1, 1, 0, 0}, Ints{kMax, 1, 0, 0}, Ints{0}, kMissing}},
      {ensemble, "nodes_missing_value_tracks_true", {Ints{1}, Ints(99)}},
  };
}

std::vector<Lie> VectorLies() {
  const char* classifier = "ml/SVMClassifier.json";
  const char* regressor = "ml/SVMRegressor.json";
  const char* linear = "ml/LinearClassifier.json";
  return {
      {classifier,
       "vectors_per_class",
       {Ints{}, Ints{4}, Ints{2, -2}, Ints{0, 0}, Ints{kMax, kMax}, Ints{1, 1, 1, 1}, Ints{99, 99},
        kMissing}},
      {classifier, "coefficients", {Floats{}, Floats{1}, Floats(99), Floats(4, NAN), kMissing}},
      {classifier, "support_vectors", {Floats{}, Floats{1}, Floats(99), Floats(13), kMissing}},
      {classifier,
       "kernel_params",
       {Floats{}, Floats{1}, Floats(3, NAN), Floats{0, 0, 1e30f}, kMissing}},
      {classifier, "kernel_type", {std::string("CUBIC"), std::string(), kMissing}},
      {classifier, "rho", {Floats{}, Floats(9), kMissing}},
      {classifier, "prob_a", {Floats{1}, Floats(9)}},
      {classifier, "prob_b", {Floats{1}, Floats(9)}},
      {classifier, "classlabels_ints", {Ints{}, Ints{1}, Ints(9), Ints(3000), kMissing}},
      {classifier, "post_transform", {std::string("SOFT\nMAX")}},
      {regressor, "n_supports", {int64_t{0}, int64_t{-1}, int64_t{99}, kMax, kMin, kMissing}},
      {regressor, "coefficients", {Floats{}, Floats(99), kMissing}},
      {regressor, "support_vectors", {Floats{}, Floats(7), kMissing}},
      {regressor, "rho", {Floats{}, Floats(9), kMissing}},
      {regressor, "one_class", {int64_t{1}, kMax}},
      {regressor, "kernel_params", {Floats{}, Floats{1}}},
      {linear, "coefficients", {Floats{}, Floats{1}, Floats(99), Floats(9, NAN), kMissing}},
      {linear, "intercepts", {Floats{}, Floats{1}, Floats(99), kMissing}},
      {linear, "classlabels_ints", {Ints{}, Ints{1}, Ints(9999), kMissing}},
      {linear, "multi_class", {int64_t{1}, kMax}},
      {"ml/LinearRegressor.json", "targets", {int64_t{0}, int64_t{-1}, int64_t{7}, kMax, kMin}},
      {"ml/LinearRegressor.json", "coefficients", {Floats{}, Floats{1}, Floats(99), kMissing}},
      {"ml/LinearRegressor.json", "intercepts", {Floats{}, Floats(99)}},
  };
}

std::vector<Lie> TableLies() {
  return {
      {"ml/LabelEncoder.json",
       "keys_strings",
       {Strings{}, Strings{"a"}, Strings{"a", "a"}, kMissing}},
      {"ml/LabelEncoder.json", "keys_int64s", {Ints{1, 2}, Ints{}}},
      {"ml/LabelEncoder.json", "values_int64s", {Ints{}, Ints{1}, Ints(99), kMissing}},
      {"ml/LabelEncoder.json", "values_strings", {Strings{"a", "\xff"}}},
      {"ml/CategoryMapper.json", "cats_int64s", {Ints{}, Ints{1}, Ints(99), kMissing}},
      {"ml/CategoryMapper.json", "cats_strings", {Strings{}, Strings(99, "a"), kMissing}},
      {"ml/OneHotEncoder.json", "cats_int64s", {Ints{}, Ints(9), Ints(60'000)}},
      {"ml/OneHotEncoder.json", "cats_strings", {Strings{}, Strings{"a", "a"}}},
      {"ml/OneHotEncoder.json", "zeros", {kMax, int64_t{-1}}},
      {"ml/Scaler.json", "scale", {Floats{}, Floats(99), Floats{NAN}, kMissing}},
      {"ml/Scaler.json", "offset", {Floats{}, Floats(99), kMissing}},
      {"ml/Imputer.json", "imputed_value_floats", {Floats{}, Floats(99), Floats{NAN}, kMissing}},
      {"ml/Imputer.json", "imputed_value_int64s", {Ints{}, Ints{1}, Ints(99)}},
      {"ml/Normalizer.json", "norm", {std::string("L3"), std::string()}},
      {"ml/FeatureVectorizer.json",
       "inputdimensions",
       {Ints{}, Ints{-1}, Ints{kMax}, Ints{kMax, kMax}, Ints(99, 1), kMissing}},
      {"ml/DictVectorizer.json", "int64_vocabulary", {Ints{}, Ints(99), Ints{kMin}}},
      {"ml/DictVectorizer.json",
       "string_vocabulary",
       {Strings{}, Strings{"a", "a"}, Strings{"\xff"}}},
      {"ml/CastMap.json", "max_map", {int64_t{-1}, int64_t{0}, int64_t{1} << 31, kMax, kMin}},
      {"ml/CastMap.json", "map_form", {std::string("SPARSE"), std::string("THICK")}},
      {"ml/CastMap.json", "cast_to", {std::string("TO_NONSENSE"), std::string()}},
      {"ml/ZipMap.json", "classlabels_int64s", {Ints{}, Ints{1}, Ints{1, 1, 1}, Ints(9999)}},
      {"ml/ZipMap.json", "classlabels_strings", {Strings{}, Strings{"a", "a", "a"}}},
      {"ml/Binarizer.json", "threshold", {NAN, kInfinity}},
  };
}

void AddLies(std::vector<HostileModel>& models, const std::vector<Lie>& lies) {
  for (const Lie& lie : lies) {
    for (size_t i = 0; i < lie.values.size(); ++i) {
      models.push_back({std::string(lie.file) + " " + lie.attribute + " " + std::to_string(i),
                        WithAttribute(FirstCase(lie.file), lie.attribute,
                                      Message(lie.attribute, lie.values[i]))});
    }
  }
}

}  // namespace

std::vector<HostileModel> HostileLearning() {
  std::vector<HostileModel> models;
  AddLies(models, TreeLies("ml/TreeEnsembleClassifier.json", "class"));
  AddLies(models, TreeLies("ml/TreeEnsembleRegressor.json", "target"));
  AddLies(models, OtherTreeLies());
  AddLies(models, VectorLies());
  AddLies(models, TableLies());
  const char* inputs[] = {"float32[0,3]",  "float32[3]",          "float32[]",    "float32[2,0]",
                          "float32[2,1]",  "string[2,3]",         "int64[2,2,3]", "float32[2,99]",
                          "seq(float32?)", "map(int64,float32[])"};
  for (const CaseModel& model : CaseModels()) {
    if (!model.file.starts_with("ml/") || &model.bytes != &FirstCase(model.file)) continue;
    for (const char* input : inputs) {
      models.push_back({model.file + " of " + input, WithOperand(model.bytes, 0, In(input))});
    }
  }
  return models;
}

}  // namespace kheya::test
