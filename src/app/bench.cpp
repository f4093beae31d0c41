#include <fmt/core.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "app/command.h"
#include "app/model_options.h"
#include "app/random_inputs.h"
#include "app/terminal.h"
#include "app/validators.h"
#include "base/cpu_ledger.h"
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
  std::map<std::string, std::pair<int64_t, int64_t>> profile;  // "op (tactic)": ns, count

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

void AddTimings(const RunContext& context, Measured* measured) {
  for (const StepTiming& timing : context.timings) {
    auto& [nanoseconds, count] =
        measured->profile[fmt::format("{} ({})", timing.op, timing.tactic)];
    nanoseconds += timing.nanoseconds;
    ++count;
  }
}

Status TimeRuns(const BenchOptions& options, CompiledModel& model, const std::vector<Value>& inputs,
                Measured* measured) {
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
    AddTimings(context, measured);
    context.timings.clear();
    bar.Update(fixed ? i + 1
                     : std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count());
  }
  std::sort(measured->runs_ms.begin(), measured->runs_ms.end());
  return OkStatus();
}

Json ToJson(const BenchOptions& options, const Measured& m) {
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
  if (options.profile) {
    json["profile"] = Json::Array();
    for (const auto& [name, time] : m.profile) {
      Json row = Json::Object();
      row["steps"] = name;
      row["count"] = time.second / static_cast<int64_t>(m.runs_ms.size());
      row["mean_ms"] = static_cast<double>(time.first) / 1e6 / m.runs_ms.size();
      json["profile"].Append(std::move(row));
    }
  }
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
    if (key == "profile") continue;
    if (key == "peak_rss_bytes") {
      rows.emplace_back("peak_rss", HumanBytes(static_cast<uint64_t>(*value.GetInt64())));
    } else if (key == "macs" && !value.is_null()) {
      rows.emplace_back(key, WithCommas(*value.GetInt64()));
    } else {
      rows.emplace_back(key, FormatNumber(value));
    }
  }
  PrintFacts(rows);
  const Json* profile = json.Find("profile");
  if (profile == nullptr) return;
  fmt::print("\n{:>10}  {:>6}  {}\n", "mean ms", "steps", "operator (tactic)");
  std::vector<Json> sorted(profile->items());
  std::sort(sorted.begin(), sorted.end(), [](const Json& a, const Json& b) {
    return *a.Find("mean_ms")->GetDouble() > *b.Find("mean_ms")->GetDouble();
  });
  for (const Json& row : sorted) {
    fmt::print("{:>10.4f}  {:>6}  {}\n", *row.Find("mean_ms")->GetDouble(),
               *row.Find("count")->GetInt64(), *row.Find("steps")->GetString());
  }
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
  KHEYA_RETURN_IF_ERROR(TimeRuns(options, *model, inputs, &measured));
  const int allowed = AllowedCpus();
  measured.threads =
      options.model.threads == 0 ? allowed : std::min(options.model.threads, allowed);
  measured.batch = 1;
  if (!inputs.empty() && inputs[0].tensor().shape().rank() > 0) {
    measured.batch = inputs[0].tensor().shape()[0];
  }
  measured.macs = model->Macs(shapes);
  const Json json = ToJson(options, measured);
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
  app.add_flag("--profile", options->profile, "Show the time by kind of step");
  app.add_flag("--json", options->json, "Print JSON");
  return [options] { return Bench(*options); };
}

}  // namespace kheya
