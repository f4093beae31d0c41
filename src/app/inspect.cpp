#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.h"
#include "app/terminal.h"
#include "base/json.h"
#include "engine/engine.h"
#include "graph/text.h"

namespace kheya {
namespace {

struct InspectOptions {
  std::string model;
  bool json = false;
  bool graph = false;
  bool dot = false;
  bool verify = false;
};

Json InfosToJson(const std::vector<TensorInfo>& infos) {
  Json list = Json::Array();
  for (const TensorInfo& info : infos) {
    Json entry = Json::Object();
    entry["name"] = info.name;
    entry["type"] = info.type.ToString();
    list.Append(std::move(entry));
  }
  return list;
}

Json ToJson(const Model& model, const ModelFacts& facts) {
  Json json = Json::Object();
  json["model"] = model.path;
  json["format"] = model.format;
  json["name"] = model.graph.name();
  json["producer"] = model.graph.producer;
  json["file_bytes"] = model.file_bytes;
  json["opsets"] = Json::Object();
  for (const auto& [domain, version] : model.graph.declared_opsets) {
    json["opsets"][domain.empty() ? "ai.onnx" : domain] = version;
  }
  json["inputs"] = InfosToJson(facts.inputs);
  json["outputs"] = InfosToJson(facts.outputs);
  json["parameters"] = facts.parameters;
  json["parameter_bytes"] = facts.parameter_bytes;
  json["macs"] = facts.macs ? Json(*facts.macs) : Json();
  json["operators"] = Json::Object();
  for (const auto& [op, count] : facts.operators) json["operators"][op] = count;
  json["unsupported"] = Json::Array();
  for (const auto& [node, reason] : facts.unsupported) {
    Json entry = Json::Object();
    entry["node"] = node;
    entry["reason"] = reason;
    json["unsupported"].Append(std::move(entry));
  }
  json["domain"] = model.graph.model_domain;
  json["model_version"] = model.graph.model_version;
  json["graph_doc"] = model.graph.doc;
  json["metadata"] = Json::Object();
  for (const auto& [key, value] : model.graph.metadata()) json["metadata"][key] = value;
  json["warnings"] = Json(model.warnings);
  return json;
}

void AppendInfos(const char* what, const std::vector<TensorInfo>& infos,
                 std::vector<std::pair<std::string, std::string>>* rows) {
  for (const TensorInfo& info : infos) {
    rows->emplace_back(what, fmt::format("{}  {}", info.name, info.type.ToString()));
  }
}

void PrintText(const Model& model, const ModelFacts& facts) {
  std::vector<std::pair<std::string, std::string>> rows = {
      {"model", model.path},
      {"format", fmt::format("{}, {}", model.format, HumanBytes(model.file_bytes))}};
  if (!model.graph.producer.empty()) rows.emplace_back("producer", model.graph.producer);
  for (const auto& [domain, version] : model.graph.declared_opsets) {
    rows.emplace_back("opset", fmt::format("{} {}", domain.empty() ? "ai.onnx" : domain, version));
  }
  AppendInfos("input", facts.inputs, &rows);
  AppendInfos("output", facts.outputs, &rows);
  rows.emplace_back("parameters", fmt::format("{} ({})", WithCommas(facts.parameters),
                                              HumanBytes(facts.parameter_bytes)));
  rows.emplace_back("MACs", facts.macs ? WithCommas(*facts.macs) : "not known");
  std::string operators;
  for (const auto& [op, count] : facts.operators) {
    operators += fmt::format("{}{} {}", operators.empty() ? "" : ", ", op, count);
  }
  rows.emplace_back("operators", operators);
  if (!model.graph.model_domain.empty() || model.graph.model_version != 0) {
    rows.emplace_back("version",
                      fmt::format("{} {}", model.graph.model_version, model.graph.model_domain));
  }
  if (!model.graph.doc.empty()) {
    rows.emplace_back("text", fmt::format("of the graph ({})", HumanBytes(model.graph.doc.size())));
  }
  for (const auto& [key, value] : model.graph.metadata()) {
    rows.emplace_back("metadata", fmt::format("{} ({})", key, HumanBytes(value.size())));
  }
  if (facts.unsupported.empty()) rows.emplace_back("unsupported", "nothing");
  for (const auto& [node, reason] : facts.unsupported) {
    rows.emplace_back("unsupported", fmt::format("{}: {}", node, reason));
  }
  PrintFacts(rows);
}

Status Inspect(const InspectOptions& options) {
  if (options.verify) {
    KHEYA_RETURN_IF_ERROR(VerifyPackage(options.model));
    fmt::print("{}: every section is as it was written\n", options.model);
    return OkStatus();
  }
  KHEYA_ASSIGN_OR_RETURN(Model model, LoadModel(options.model, LoadOptions()));
  for (const std::string& warning : model.warnings) PrintWarning(warning);
  if (options.graph) {
    fmt::print("{}", PrintGraph(model.graph));
  } else if (options.dot) {
    fmt::print("{}", PrintDot(model.graph));
  } else if (options.json) {
    fmt::print("{}\n", ToJson(model, GatherFacts(model)).Dump(2));
  } else {
    PrintText(model, GatherFacts(model));
  }
  return OkStatus();
}

}  // namespace

CommandBody DefineInspect(CLI::App& app) {
  auto options = std::make_shared<InspectOptions>();
  app.add_option("MODEL", options->model, "The model file")->required();
  auto* json = app.add_flag("--json", options->json, "Print JSON");
  auto* graph = app.add_flag("--graph", options->graph, "Print the graph as text");
  auto* dot = app.add_flag("--dot", options->dot, "Print the graph for Graphviz");
  auto* verify = app.add_flag("--verify", options->verify, "Compare a package with its hashes");
  verify->excludes(json)->excludes(graph)->excludes(dot);
  json->excludes(graph)->excludes(dot);
  graph->excludes(dot);
  return [options] { return Inspect(*options); };
}

}  // namespace kheya
