#include <fmt/core.h>
#include <re2/re2.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <vector>

#include "app/command.h"
#include "app/terminal.h"
#include "app/validators.h"
#include "base/json.h"
#include "engine/engine.h"
#include "formats/conformance/backend_cases.h"

namespace kheya {
namespace {

using conformance::BackendCase;
using conformance::CaseResult;
using Outcome = CaseResult::Outcome;

struct ConformanceOptions {
  std::vector<std::string> folders;
  std::string filter;
  int threads = 0;
  std::string tactics = "auto";
  std::vector<std::string> disabled_passes;
  bool json = false;
};

struct Counts {
  int64_t passed = 0;
  int64_t failed = 0;
  int64_t skipped = 0;
  int64_t random = 0;

  void Add(Outcome outcome) {
    ++(outcome == Outcome::kPassed    ? passed
       : outcome == Outcome::kFailed  ? failed
       : outcome == Outcome::kSkipped ? skipped
                                      : random);
  }
  void PutInto(Json& json) const {
    json["passed"] = passed;
    json["failed"] = failed;
    json["skipped"] = skipped;
    json["random"] = random;
  }
};

struct Finding {
  std::string name;
  std::string reason;
};

struct Report {
  Counts all;
  std::map<int64_t, Counts> by_opset;
  std::vector<Finding> failures;
  std::vector<Finding> skips;

  void Add(const std::string& name, const CaseResult& result) {
    all.Add(result.outcome);
    by_opset[result.opset].Add(result.outcome);
    if (result.outcome == Outcome::kFailed) failures.push_back({name, result.reason});
    if (result.outcome == Outcome::kSkipped) skips.push_back({name, result.reason});
  }
};

Result<std::vector<BackendCase>> FindCases(const ConformanceOptions& options) {
  const RE2 filter(options.filter, RE2::Quiet);
  std::vector<BackendCase> found;
  for (const std::string& folder : options.folders) {
    KHEYA_ASSIGN_OR_RETURN(std::vector<BackendCase> cases, conformance::FindBackendCases(folder));
    for (BackendCase& test : cases) {
      if (RE2::PartialMatch(test.name, filter)) found.push_back(std::move(test));
    }
  }
  if (found.empty()) return NotFoundError("found no case that matches '{}'", options.filter);
  return found;
}

Result<std::vector<Value>> RunCompiled(const ConformanceOptions& options, const Graph& graph,
                                       std::span<const Value> inputs) {
  Model model;
  model.path = "model.onnx";
  model.graph = graph.Clone();
  CompileOptions compile;
  compile.tactics = options.tactics;
  compile.disabled_passes = options.disabled_passes;
  KHEYA_ASSIGN_OR_RETURN(const std::shared_ptr<CompiledModel> compiled,
                         CompileModel(std::move(model), compile));
  std::vector<Value> outputs(compiled->outputs().size());
  RunContext context;
  context.threads = options.threads;
  context.seed = 1;  // random operators must repeat themselves
  KHEYA_RETURN_IF_ERROR(compiled->Run(context, inputs, outputs));
  return outputs;
}

Json ListOf(const std::vector<Finding>& findings) {
  Json list = Json::Array();
  for (const Finding& finding : findings) {
    Json json = Json::Object();
    json["case"] = finding.name;
    json["reason"] = finding.reason;
    list.Append(json);
  }
  return list;
}

void PrintJson(const Report& report) {
  Json json = Json::Object();
  report.all.PutInto(json);
  json["by_opset"] = Json::Object();
  for (const auto& [opset, counts] : report.by_opset) {
    counts.PutInto(json["by_opset"][opset == 0 ? "unknown" : std::to_string(opset)]);
  }
  json["failures"] = ListOf(report.failures);
  json["skips"] = ListOf(report.skips);
  fmt::print("{}\n", json.Dump(2));
}

void PrintText(const Report& report) {
  std::map<std::string, int> reasons;
  for (const Finding& skip : report.skips) ++reasons[skip.reason];
  for (const Finding& failure : report.failures) {
    fmt::print("failed   {}: {}\n", failure.name, failure.reason);
  }
  for (const auto& [reason, times] : reasons) fmt::print("skipped  {:5}  {}\n", times, reason);
  if (report.all.random > 0) {
    fmt::print("random   {:5}  random numbers: type, shape, range and repeatability hold\n",
               report.all.random);
  }
  fmt::print("{} passed, {} failed, {} skipped\n", report.all.passed, report.all.failed,
             report.all.skipped);
}

Status Conformance(const ConformanceOptions& options) {
  KHEYA_ASSIGN_OR_RETURN(const std::vector<BackendCase> cases, FindCases(options));
  Report report;
  {
    ProgressBar bar("running cases", static_cast<int64_t>(cases.size()));
    int64_t done = 0;
    for (const BackendCase& test : cases) {
      report.Add(test.name, conformance::RunBackendCase(
                                test, [&](const Graph& graph, std::span<const Value> inputs) {
                                  return RunCompiled(options, graph, inputs);
                                }));
      bar.Update(++done);
    }
  }
  options.json ? PrintJson(report) : PrintText(report);
  if (report.all.failed == 0) return OkStatus();
  return FailedPreconditionError("{} of {} cases failed", report.all.failed, cases.size());
}

}  // namespace

CommandBody DefineConformance(CLI::App& app) {
  auto options = std::make_shared<ConformanceOptions>();
  app.add_option("folders", options->folders,
                 "Folders of cases, such as onnx/backend/test/data, node in it, or one case")
      ->required();
  app.add_option("--filter", options->filter, "Only cases whose path this expression (RE2) matches")
      ->check(Accepts([](const std::string& text) {
        const RE2 expression(text, RE2::Quiet);
        if (expression.ok()) return OkStatus();
        return InvalidArgumentError("found '{}': {}", text, expression.error());
      }));
  app.add_option("--threads", options->threads, "CPUs a run may use; 0: all that this process may")
      ->envname("KHEYA_THREADS")
      ->check(WholeNumber(0));
  app.add_option("--tactics", options->tactics, "Kernels to choose from")
      ->check(CLI::IsMember(TacticNames()))
      ->capture_default_str();
  app.add_option("--disable-pass", options->disabled_passes,
                 "Leave out this optimization; may be repeated")
      ->allow_extra_args(false);
  app.add_flag("--json", options->json, "Print JSON");
  return [options] { return Conformance(*options); };
}

}  // namespace kheya
