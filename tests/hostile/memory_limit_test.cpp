// Models that need more memory than the process may have (RLIMIT_AS), each in a process of its own:
// RESOURCE_EXHAUSTED, never an end by a signal. No budget stands before the system here.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "codec/picture.h"
#include "engine/engine.h"
#include "formats/testing/temp_folder.h"
#include "hostile/parts.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KHEYA_SANITIZED 1  // sanitizers take more address space than a limit could leave
#else
#define KHEYA_SANITIZED 0
#endif

namespace kheya {
namespace {

using test::In;
using test::K;
using test::N;
using test::Scalar;

constexpr uint64_t kMebibyte = uint64_t{1} << 20;

uint64_t AddressSpace() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

Status LoadCompileRun(const std::string& path) {
  KHEYA_ASSIGN_OR_RETURN(Model model, LoadModel(path, LoadOptions()));
  CompileOptions options;
  options.budget = std::make_shared<MemoryBudget>("no limit");
  KHEYA_ASSIGN_OR_RETURN(const std::shared_ptr<CompiledModel> compiled,
                         CompileModel(std::move(model), options));
  RunContext context;
  context.threads = 1;
  std::vector<Value> inputs;
  for (const TensorInfo& info : compiled->inputs()) {
    const Shape shape = info.type.KnownShape().value_or(Shape{1});
    KHEYA_ASSIGN_OR_RETURN(inputs.emplace_back(), Tensor::Zeros(info.type.dtype, shape));
  }
  std::vector<Value> outputs(compiled->outputs().size());
  return compiled->Run(context, inputs, outputs);
}

// The code that LoadCompileRun ends with in a process that may take `more` bytes than this one has;
// nullopt when it ends in another way.
std::optional<StatusCode> CodeWithin(uint64_t more, const std::string& path) {
  const pid_t child = fork();
  if (child == 0) {
    const rlim_t limit = AddressSpace() + more;
    const rlimit limits{limit, limit};
    alarm(60);  // ends the process by a signal
    if (setrlimit(RLIMIT_AS, &limits) != 0) _exit(99);
    _exit(static_cast<int>(LoadCompileRun(path).code()));
  }
  int ended = 0;
  if (child < 0 || waitpid(child, &ended, 0) != child || !WIFEXITED(ended)) return std::nullopt;
  return static_cast<StatusCode>(WEXITSTATUS(ended));
}

std::string Words(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += "a ";
  return text;
}

std::string LoopOver(const test::Operand& start, const std::string& body) {
  return test::OneNode({"",
                        "Loop",
                        {Scalar(INT64_MAX), test::None(), start},
                        {test::GraphAttribute("body", body)}})
      .bytes;
}

// 4 MiB more at each round.
std::string GrowingSequence() {
  const std::string body =
      test::Body("i, c, a", {N("Expand(i, s) -> e"), N("SequenceInsert(a, e) -> b")}, "c, b",
                 {test::Named(K(test::Ints{1 << 19}), "s")});
  return test::ModelMessage(
      test::GraphMessage({.nodes = {N("SequenceEmpty() -> a", {test::IntAttribute("dtype", 7)}),
                                    N("Loop(n, , a) -> y", {test::GraphAttribute("body", body)})},
                          .outputs = {test::UntypedValueMessage("y")},
                          .initializers = {test::Named(Scalar(INT64_MAX), "n")}}),
      21);
}

std::string LargePicture() {
  Tensor pixels = Tensor::Zeros(DType::kUint8, Shape{9000, 9000, 3}).value();
  const std::string png = EncodePng(pixels.view()).value();
  return test::OneNode({"",
                        "ImageDecoder",
                        {test::Raw(DType::kUint8, {static_cast<int64_t>(png.size())}, png)}})
      .bytes;
}

std::vector<test::HostileModel> LargeModels() {
  const int64_t large = int64_t{1} << 28;
  const std::string axis = test::IntAttribute("axis", 0);
  const std::string long_text(1 << 20, 'x');
  return {
      test::OneNode({"constant of shape", "ConstantOfShape", {K(test::Ints{large})}}),
      test::OneNode({"expand", "Expand", {In("float32[1]"), K(test::Ints{large})}}),
      test::OneNode({"strings",
                     "ConstantOfShape",
                     {K(test::Ints{1 << 25})},
                     {test::TensorAttribute("value", K(test::Strings{"a"}).tensor)}}),
      test::OneNode({"window", "HannWindow", {Scalar(large - 1)}}),
      test::OneNode({"mel",
                     "MelWeightMatrix",
                     {Scalar(60'000), Scalar(8'000), Scalar(16'000), test::ScalarFloat(0),
                      test::ScalarFloat(8'000)}}),
      test::OneNode({"dft", "DFT", {In("float32[1,4,1]"), Scalar(large - 57)}}),
      test::OneNode({"random", "RandomNormal", {}, {test::IntsAttribute("shape", {large})}}),
      test::OneNode({"multinomial",
                     "Multinomial",
                     {In("float32[1,2]")},
                     {test::IntAttribute("sample_size", large)}}),
      test::OneNode({"string split", "StringSplit", {K(test::Strings{Words(12 << 20)})}, {}, 2}),
      test::OneNode({"long texts", "Expand", {K(test::Strings{long_text}), K(test::Ints{4096})}}),
      {"growing loop", LoopOver(K(test::Floats{1, 2}),
                                test::Body("i, c, a", {N("Concat(a, a) -> b", {axis})}, "c, b"))},
      {"growing strings", LoopOver(K(test::Strings{"abcdefgh"}),
                                   test::Body("i, c, a", {N("StringConcat(a, a) -> b")}, "c, b"))},
      {"growing sequence", GrowingSequence()},
      {"picture", LargePicture()},
  };
}

TEST(MemoryLimit, LargeModelsAreRefused) {
  if (KHEYA_SANITIZED) GTEST_SKIP() << "sanitizers reserve address space";
  const test::TempFolder folder;
  for (const test::HostileModel& model : LargeModels()) {
    SCOPED_TRACE(model.name);
    const std::string path = folder.Write("m.onnx", model.bytes);
    const std::optional<StatusCode> code = CodeWithin(160 * kMebibyte, path);
    ASSERT_TRUE(code.has_value()) << "ended by a signal";
    EXPECT_EQ(GetStatusCodeInfo(*code).id, std::string("RESOURCE_EXHAUSTED"));
  }
}

// Weights of 1 GiB beside a model: a file that is longer on paper than on the disk.
std::string LargeWeights(const test::TempFolder& folder) {
  folder.Write("weights.bin", "");
  std::filesystem::resize_file(folder.path() + "/weights.bin", uint64_t{1} << 30);
  const std::string weights = test::ExternalTensorMessage("w", DType::kFloat32, {int64_t{1} << 28},
                                                          {{"location", "weights.bin"}});
  return test::ModelMessage(test::GraphMessage({.nodes = {N("Neg(w) -> y")},
                                                .outputs = {test::UntypedValueMessage("y")},
                                                .initializers = {weights}}),
                            21);
}

TEST(MemoryLimit, LargeWeightsAreRefused) {
  if (KHEYA_SANITIZED) GTEST_SKIP() << "sanitizers reserve address space";
  const test::TempFolder folder;
  const std::string path = folder.Write("m.onnx", LargeWeights(folder));
  EXPECT_EQ(CodeWithin(160 * kMebibyte, path), StatusCode::kResourceExhausted);
}

// Whatever step memory ends at.
TEST(MemoryLimit, EveryLimitGivesAnAnswerOrAnError) {
  if (KHEYA_SANITIZED) GTEST_SKIP() << "sanitizers reserve address space";
  const test::TempFolder folder;
  std::vector<std::string> models = test::SeedModels();
  models.push_back(test::FirstCase("ml/TreeEnsembleClassifier.json"));
  models.push_back(test::FirstCase("Loop.json"));
  std::vector<std::string> nodes;
  for (int i = 0; i < 10'000; ++i) {
    nodes.push_back(N(fmt::format("Neg({}) -> {}", i == 0 ? "x" : fmt::format("v{}", i - 1),
                                  fmt::format("v{}", i))));
  }
  models.push_back(test::ModelMessage(
      test::GraphMessage({.nodes = nodes,
                          .inputs = {test::ValueMessage("x", DType::kFloat32, {2})},
                          .outputs = {test::UntypedValueMessage("v9999")}}),
      21));
  size_t refused = 0;
  for (const std::string& model : models) {
    const std::string path = folder.Write("m.onnx", model);
    const std::optional<StatusCode> without_limit = CodeWithin(2048 * kMebibyte, path);
    for (uint64_t kibibytes = 0; kibibytes < 60'000; kibibytes += 64 + kibibytes / 2) {
      const std::optional<StatusCode> code = CodeWithin(kibibytes << 10, path);
      ASSERT_TRUE(code.has_value()) << "ended by a signal with " << kibibytes << " KiB";
      if (code == without_limit) continue;
      ++refused;
      EXPECT_EQ(GetStatusCodeInfo(*code).id, std::string("RESOURCE_EXHAUSTED"));
    }
  }
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace kheya
