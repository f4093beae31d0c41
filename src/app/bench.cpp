#include <fmt/core.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>

#include "app/bench_profile.h"
#include "app/command.h"
#include "app/model_options.h"
#include "app/random_inputs.h"
#include "app/terminal.h"
#include "app/validators.h"
#include "base/cpu_ledger.h"
#include "base/file.h"
#include "base/json.h"
#include "kernels/peak_probe.h"

namespace kheya {
namespace {

struct BenchOptions {
  ModelOptions model;
  int64_t batch = 0;
  int iterations = 0;
  int warmup = 3;
  bool profile = false;
  std::string trace;  // a file, or empty
  bool json = false;
};

// Without --iterations: as many runs as fit into this.
constexpr std::chrono::milliseconds kDefaultTime{2000};
constexpr int kLeastIterations = 5;
constexpr int kMostIterations = 10000;

using Milliseconds = std::chrono::duration<double, std::milli>;

struct Measured {
  double load_ms = 0;
  PhaseTimes load_phases;
  double first_ms = 0;
  std::vector<double> runs_ms;  // sorted
  int threads = 0;
  int64_t batch = 0;
  std::optional<int64_t> macs;

  double Percentile(double part) const {
    const auto index = static_cast<size_t>(std::ceil(part * runs_ms.size())) - 1;
    return runs_ms[std::min(index, runs_ms.size() - 1)];
  }
};

uint64_t PeakRssBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

Status TimeRuns(const BenchOptions& options, CompiledModel& model, const std::vector<Value>& inputs,
                Measured* measured, Profile* profile) {
  RunContext context;
  context.threads = options.model.threads;
  std::vector<Value> outputs(model.outputs().size());
  const auto run = [&](double* milliseconds) -> Status {
    const auto start = Clock::now();
    KHEYA_RETURN_IF_ERROR(model.Run(context, inputs, outputs));
    *milliseconds = Milliseconds(Clock::now() - start).count();
    return OkStatus();
  };
  KHEYA_RETURN_IF_ERROR(run(&measured->first_ms));
  double ignored = 0;
  for (int i = 1; i < options.warmup; ++i) KHEYA_RETURN_IF_ERROR(run(&ignored));
  context.profile = options.profile;
  const bool fixed = options.iterations > 0;
  ProgressBar bar("measuring", fixed ? options.iterations : kDefaultTime.count());
  const auto start = Clock::now();
  for (int i = 0; i < (fixed ? options.iterations : kMostIterations); ++i) {
    const auto elapsed = Clock::now() - start;
    if (!fixed && i >= kLeastIterations && elapsed > kDefaultTime) break;
    double milliseconds = 0;
    KHEYA_RETURN_IF_ERROR(run(&milliseconds));
    measured->runs_ms.push_back(milliseconds);
    if (options.profile) profile->Add(context.timings);
    bar.Update(fixed ? i + 1
                     : std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count());
  }
  std::sort(measured->runs_ms.begin(), measured->runs_ms.end());
  if (options.trace.empty()) return OkStatus();
  context.profile = context.profile_slices = true;
  KHEYA_RETURN_IF_ERROR(run(&ignored));
  return WriteFileAtomic(options.trace, profile->Trace(context.timings).Dump());
}

Json ToJson(const BenchOptions& options, const Measured& m, const Profile& profile) {
  Json json = Json::Object();
  const double seconds = m.runs_ms.front() / 1000;
  json["model"] = options.model.model;
  json["threads"] = m.threads;
  json["batch"] = m.batch;
  json["iterations"] = m.runs_ms.size();
  json["load_ms"] = m.load_ms;
  json["load_phases_ms"] = Json::Object();
  for (const auto& [phase, seconds] : m.load_phases) {
    json["load_phases_ms"][phase] = 1000 * seconds;
  }
  json["first_ms"] = m.first_ms;
  json["min_ms"] = m.runs_ms.front();
  json["p50_ms"] = m.Percentile(0.5);
  json["p90_ms"] = m.Percentile(0.9);
  json["p99_ms"] = m.Percentile(0.99);
  json["throughput"] = static_cast<double>(m.batch) / (m.Percentile(0.5) / 1000);
  json["peak_rss_bytes"] = PeakRssBytes();
  json["macs"] = m.macs ? Json(*m.macs) : Json();
  const double peak = ProbePeakGflops() * m.threads;
  const double gflops = m.macs ? 2.0 * static_cast<double>(*m.macs) / seconds / 1e9 : 0;
  json["gflops"] = m.macs ? Json(gflops) : Json();
  json["peak_gflops"] = peak;
  json["fraction_of_peak"] = m.macs ? Json(gflops / peak) : Json();
  if (options.profile) profile.WriteTo(&json);
  if (options.model.compare_tactics) profile.WriteComparisonTo(&json);
  return json;
}

std::string FormatNumber(const Json& value) {
  if (value.is_null()) return "not known";
  if (value.type() == Json::Type::kDouble) return fmt::format("{:.4g}", *value.GetDouble());
  return value.is_string() ? *value.GetString() : value.Dump();
}

void PrintText(const Json& json) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto& [key, value] : json.members()) {
    if (value.type() == Json::Type::kArray) continue;
    if (key == "peak_rss_bytes") {
      rows.emplace_back("peak_rss", HumanBytes(static_cast<uint64_t>(*value.GetInt64())));
    } else if (key == "macs" && !value.is_null()) {
      rows.emplace_back(key, WithCommas(*value.GetInt64()));
    } else {
      rows.emplace_back(key, FormatNumber(value));
    }
  }
  PrintFacts(rows);
  if (json.Find("profile") != nullptr) PrintProfile(json);
  if (json.Find("comparison") != nullptr) PrintComparison(json);
}

Status Bench(const BenchOptions& options) {
  Measured measured;
  const auto start = Clock::now();
  KHEYA_ASSIGN_OR_RETURN(std::shared_ptr<CompiledModel> model,
                         options.model.Compile(LoadOptions(), &measured.load_phases));
  KHEYA_ASSIGN_OR_RETURN(auto given, options.model.ParseShapes());
  KHEYA_ASSIGN_OR_RETURN(auto shapes, ChooseShapes(model->inputs(), given, options.batch));
  KHEYA_RETURN_IF_ERROR(model->Prepare(shapes));
  measured.load_ms = Milliseconds(Clock::now() - start).count();
  KHEYA_ASSIGN_OR_RETURN(std::vector<Value> inputs, RandomInputs(model->inputs(), shapes, 1));
  const int allowed = AllowedCpus();
  measured.threads =
      options.model.threads == 0 ? allowed : std::min(options.model.threads, allowed);
  KHEYA_ASSIGN_OR_RETURN(std::vector<StepInfo> steps, model->Steps(shapes));
  Profile profile(std::move(steps), measured.threads);
  KHEYA_RETURN_IF_ERROR(TimeRuns(options, *model, inputs, &measured, &profile));
  measured.batch = 1;
  if (!inputs.empty() && inputs[0].tensor().shape().rank() > 0) {
    measured.batch = inputs[0].tensor().shape()[0];
  }
  measured.macs = model->Macs(shapes);
  const Json json = ToJson(options, measured, profile);
  if (options.json) {
    fmt::print("{}\n", json.Dump(2));
  } else {
    PrintText(json);
  }
  return OkStatus();
}

}  // namespace

CommandBody DefineBench(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  options->model.AddTo(app);
  app.add_option("--batch", options->batch, "Rows in a run (default: as the model says, else 1)")
      ->check(WholeNumber(1));
  app.add_option("--iterations", options->iterations, "Runs to time (default: two seconds' worth)")
      ->check(WholeNumber(1));
  app.add_option("--warmup", options->warmup, "Runs before, not counted; the first is one of them")
      ->check(WholeNumber(0))
      ->capture_default_str();
  app.add_flag("--profile", options->profile,
               "Show where the time goes, by kind of step and step by step");
  app.add_flag("--compare-tactics", options->model.compare_tactics,
               "Show the time of every kernel that can run each step");
  app.add_option("--trace", options->trace, "Write a Chrome trace of one run to this file");
  app.add_flag("--json", options->json, "Print JSON");
  return [options] { return Bench(*options); };
}

}  // namespace kheya
