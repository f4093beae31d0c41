// shapes_soak: whether memory grows when one model runs with many shapes.
//
//   shapes_soak MODEL.onnx [--runs 10000] [--shapes 200] [--most 64] [flags of kheya bench]
//
// Every symbolic dimension of the inputs takes numbers from 1 to --most, drawn with a fixed seed,
// so that there are --shapes different shapes; runs take turns among them at random. Prints the
// resident memory after each tenth of the runs, and the slope of a line through those of the second
// half. Exits with 1 when that slope is over 1 MB for --runs runs.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "app/model_options.h"
#include "app/random_inputs.h"

namespace kheya {
namespace {

struct SoakOptions {
  ModelOptions model;
  int64_t runs = 10000;
  int64_t shapes = 200;
  int64_t most = 64;
};

using Shapes = std::map<std::string, Shape>;

double ResidentMegabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::atof(line.c_str() + 6) / 1024;
  }
  return 0;
}

// The inputs' shapes with every symbol drawn anew.
Result<Shapes> DrawShapes(const std::vector<TensorInfo>& infos, int64_t most,
                          std::mt19937& random) {
  std::map<std::string, int64_t> symbols;
  std::uniform_int_distribution<int64_t> draw(1, most);
  Shapes shapes;
  for (const TensorInfo& info : infos) {
    if (!info.type.shape) return InvalidArgumentError("input '{}' has no rank", info.name);
    std::vector<int64_t> dims;
    for (const Dim& dim : *info.type.shape) {
      const std::string symbol = dim.ToString();
      if (!dim.known() && !symbols.contains(symbol)) symbols[symbol] = draw(random);
      dims.push_back(dim.known() ? dim.value() : symbols[symbol]);
    }
    KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
    shapes.emplace(info.name, shape);
  }
  return shapes;
}

// The slope of the least squares line through the points, over their whole length.
double SlopeOver(const std::vector<double>& points) {
  const double count = static_cast<double>(points.size());
  double weighted = 0, squares = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    const double x = static_cast<double>(i) - (count - 1) / 2;
    weighted += x * points[i];
    squares += x * x;
  }
  return weighted / squares * count;
}

Status Soak(const SoakOptions& options) {
  KHEYA_ASSIGN_OR_RETURN(const std::shared_ptr<CompiledModel> model, options.model.Compile());
  std::mt19937 random(1);
  std::vector<std::vector<Value>> inputs;
  std::set<std::string> seen;
  while (std::ssize(inputs) < options.shapes) {
    KHEYA_ASSIGN_OR_RETURN(const Shapes shapes, DrawShapes(model->inputs(), options.most, random));
    std::string key;
    for (const auto& [name, shape] : shapes) key += name + shape.ToString();
    if (!seen.insert(key).second) continue;
    KHEYA_ASSIGN_OR_RETURN(std::vector<Value> values, RandomInputs(model->inputs(), shapes, 1));
    inputs.push_back(std::move(values));
  }
  std::vector<double> resident;
  std::uniform_int_distribution<size_t> turn(0, inputs.size() - 1);
  for (int64_t run = 0; run < options.runs; ++run) {
    RunContext context;
    std::vector<Value> outputs(model->outputs().size());
    KHEYA_RETURN_IF_ERROR(model->Run(context, inputs[turn(random)], outputs));
    if ((run + 1) % std::max<int64_t>(1, options.runs / 100) != 0) continue;
    resident.push_back(ResidentMegabytes());
    if (resident.size() % 10 == 0)
      fmt::print("{:>8} runs {:>10.2f} MB\n", run + 1, resident.back());
    std::fflush(stdout);
  }
  const std::vector<double> half(resident.begin() + std::ssize(resident) / 2, resident.end());
  const double slope = 2 * SlopeOver(half);
  fmt::print("slope of the second half: {:.3f} MB for {} runs\n", slope, options.runs);
  if (slope > 1) return InternalError("memory grows");
  return OkStatus();
}

int Main(int argc, char** argv) {
  SoakOptions options;
  CLI::App app("Whether memory grows when one model runs with many shapes");
  options.model.AddTo(app);
  app.add_option("--runs", options.runs)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--shapes", options.shapes)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--most", options.most)->check(CLI::PositiveNumber)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const Status status = Soak(options);
  if (!status.ok()) fmt::print(stderr, "error: {}\n", status.ToString());
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace kheya

int main(int argc, char** argv) { return kheya::Main(argc, argv); }
