// bench_worker: one engine with one model loaded, timed on request. bench/run starts one for each
// engine and lets them take turns.
//
//   bench_worker kheya MODEL.onnx [--rows N] [flags of kheya bench]
//   bench_worker onnxruntime MODEL.onnx --library libonnxruntime.so.1 --threads 1
//
// Inputs and expected outputs lie beside the model as NAME_input_I.npy and NAME_output_I.npy. The
// first line printed is JSON: how long loading and the first run took, the most memory resident
// until then, and the errors of the outputs. Then each line read, a number of seconds, is answered
// by a line of samples: milliseconds for one run, each over as many runs as make the clock's own
// time small.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <limits>

#include "base/file.h"
#include "base/json.h"
#include "base/string_util.h"
#include "codec/npy.h"
#include "kernels/peak_probe.h"
#include "worker/engine.h"

namespace kheya {
namespace {

constexpr double kLeastSampleMs = 0.2;

struct WorkerOptions {
  ModelOptions model;
  std::string engine;
  std::string library;
  std::string data;  // prefix of the .npy files; empty: the model's path without its ending
  int64_t rows = 0;
};

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// The most memory that was ever resident, in bytes; 0 where the system does not say.
int64_t PeakResidentBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::atoll(line.c_str() + 6) * 1024;
  }
  return 0;
}

// The first `rows` rows; 0: all.
Result<Tensor> FirstRows(const Tensor& tensor, int64_t rows) {
  if (rows == 0) return tensor;
  std::vector<int64_t> dims(tensor.shape().dims().begin(), tensor.shape().dims().end());
  if (dims.empty() || dims[0] < rows) {
    return InvalidArgumentError("found {}, expected at least {} rows", tensor.TypeString(), rows);
  }
  dims[0] = rows;
  KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
  KHEYA_ASSIGN_OR_RETURN(Tensor copy, Tensor::Allocate(tensor.dtype(), shape));
  std::memcpy(copy.mutable_view().data, tensor.bytes().data(), copy.num_bytes());
  return copy;
}

Result<std::vector<Tensor>> ReadTensors(const std::string& prefix, int64_t rows) {
  std::vector<Tensor> tensors;
  for (int i = 0;; ++i) {
    Result<std::string> file = ReadFile(fmt::format("{}_{}.npy", prefix, i));
    if (!file.ok()) break;
    KHEYA_ASSIGN_OR_RETURN(const Tensor tensor, ReadNpy(std::as_bytes(std::span(*file))));
    KHEYA_ASSIGN_OR_RETURN(Tensor part, FirstRows(tensor, rows));
    tensors.push_back(std::move(part));
  }
  if (tensors.empty()) return NotFoundError("no file {}_0.npy", prefix);
  return tensors;
}

Result<std::vector<double>> Doubles(const Tensor& tensor) {
  std::vector<double> values(tensor.num_elements());
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (tensor.dtype() == DType::kFloat32) {
      values[i] = tensor.At<float>(i);
    } else if (tensor.dtype() == DType::kInt64) {
      values[i] = static_cast<double>(tensor.At<int64_t>(i));
    } else {
      return UnimplementedError("an output of type {}", tensor.TypeString());
    }
  }
  return values;
}

// The L2 norm of the difference over that of the expected, and the largest difference over the
// largest magnitude expected; not a number where a value found is none.
Result<std::pair<double, double>> Errors(const Tensor& found, const Tensor& expected) {
  if (found.shape() != expected.shape()) {
    return InvalidArgumentError("found an output {}, expected {}", found.TypeString(),
                                expected.TypeString());
  }
  KHEYA_ASSIGN_OR_RETURN(const std::vector<double> got, Doubles(found));
  KHEYA_ASSIGN_OR_RETURN(const std::vector<double> want, Doubles(expected));
  double squares = 0, reference = 0, largest = 0, most = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double difference = got[i] - want[i];
    if (std::isnan(difference)) return std::pair(difference, difference);
    squares += difference * difference;
    reference += want[i] * want[i];
    largest = std::max(largest, std::abs(difference));
    most = std::max(most, std::abs(want[i]));
  }
  return std::pair(squares == 0 ? 0 : std::sqrt(squares / reference),
                   largest == 0 ? 0 : largest / most);
}

Result<Json> AgreementOf(const std::vector<Tensor>& found, const std::vector<Tensor>& expected) {
  if (found.size() != expected.size()) {
    return InvalidArgumentError("found {} outputs, expected {}", found.size(), expected.size());
  }
  Json errors = Json::Array();
  for (size_t i = 0; i < found.size(); ++i) {
    KHEYA_ASSIGN_OR_RETURN(const auto pair, Errors(found[i], expected[i]));
    Json row = Json::Array();
    for (double error : {pair.first, pair.second}) {
      // JSON has no infinity and no NaN.
      row.Append(std::isfinite(error) ? error : std::numeric_limits<double>::max());
    }
    errors.Append(std::move(row));
  }
  return errors;
}

Result<std::unique_ptr<Engine>> OpenEngine(const WorkerOptions& options) {
  if (options.engine == "onnxruntime") return OpenOnnxRuntime(options.library);
  if (options.engine == "openvino") return OpenOpenVino(options.library);
  return NewKheyaEngine();
}

Status Answer(Engine& engine, double seconds, int* runs) {
  const auto start = Clock::now();
  do {
    const auto begin = Clock::now();
    for (int i = 0; i < *runs; ++i) KHEYA_RETURN_IF_ERROR(engine.Run());
    const double spent = MillisecondsSince(begin);
    if (spent < kLeastSampleMs / 2 && *runs < 1 << 20) {
      *runs *= 2;
      continue;
    }
    fmt::print("{:.6g} ", spent / *runs);
  } while (MillisecondsSince(start) < seconds * 1e3);
  fmt::print("\n");
  std::fflush(stdout);
  return OkStatus();
}

Status Work(const WorkerOptions& options) {
  const std::string& path = options.model.model;
  const std::string data = options.data.empty() ? path.substr(0, path.rfind('.')) : options.data;
  KHEYA_ASSIGN_OR_RETURN(const auto inputs, ReadTensors(data + "_input", options.rows));
  KHEYA_ASSIGN_OR_RETURN(const auto expected, ReadTensors(data + "_output", options.rows));
  KHEYA_ASSIGN_OR_RETURN(const auto engine, OpenEngine(options));
  Json ready = Json::Object();
  auto start = Clock::now();
  KHEYA_RETURN_IF_ERROR(engine->Load(options.model, inputs));
  ready["load_ms"] = MillisecondsSince(start);
  start = Clock::now();
  KHEYA_RETURN_IF_ERROR(engine->Run());
  ready["first_ms"] = MillisecondsSince(start);
  ready["peak_rss_bytes"] = PeakResidentBytes();
  KHEYA_ASSIGN_OR_RETURN(const auto found, engine->Outputs());
  KHEYA_ASSIGN_OR_RETURN(ready["errors"], AgreementOf(found, expected));
  if (const auto macs = engine->Macs()) {
    ready["macs"] = *macs;
    ready["peak_gflops"] = ProbePeakGflops();
  }
  fmt::print("{}\n", ready.Dump());
  std::fflush(stdout);
  int runs = 1;
  for (std::string line; std::getline(std::cin, line);) {
    KHEYA_RETURN_IF_ERROR(Answer(*engine, std::atof(line.c_str()), &runs));
  }
  return OkStatus();
}

int Main(int argc, char** argv) {
  WorkerOptions options;
  CLI::App app("One engine with one model, timed on request");
  app.add_option("ENGINE", options.engine, "Who runs the model")
      ->required()
      ->check(CLI::IsMember({"kheya", "onnxruntime", "openvino"}));
  options.model.AddTo(app);
  app.add_option("--library", options.library, "The other engine's shared library");
  app.add_option("--rows", options.rows, "How many rows of the inputs to take");
  app.add_option("--data", options.data, "Where inputs and outputs lie, without _input_0.npy");
  CLI11_PARSE(app, argc, argv);
  const Status status = Work(options);
  if (status.ok()) return 0;
  fmt::print(stderr, "bench_worker: {}\n", status.message());
  return 1;
}

}  // namespace
}  // namespace kheya

int main(int argc, char** argv) { return kheya::Main(argc, argv); }
