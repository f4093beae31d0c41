#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>

#include "app/command.h"
#include "app/terminal.h"
#include "base/string_util.h"
#include "base/version.h"

namespace kheya {
namespace {

constexpr int kExitOk = 0;
constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

constexpr Command kCommands[] = {
    {"inspect", "Show what a model file holds: inputs, outputs, operators, what is unsupported",
     "kheya inspect model.onnx\nkheya inspect model.onnx --dot | dot -Tsvg > model.svg",
     DefineInspect},
    {"run", "Run a model on inputs and print its answer",
     "kheya run model.onnx --input '[[1.0, 2.0, 3.0]]'\n"
     "kheya run model.onnx --input image=@cat.jpg --top 5",
     DefineRun},
    {"bench", "Measure how fast a model runs here",
     "kheya bench model.onnx --threads 1 --shape image=1x3x224x224 --json\n"
     "kheya bench model.onnx --threads 1 --profile --trace trace.json",
     DefineBench},
    {"compile", "Write a package: choices made, weights packed, ready at once when it is loaded",
     "kheya compile model.onnx -o model.kheya\n"
     "kheya compile text.onnx -o text.kheya --shape ids=1x128",
     DefineCompile},
    {"evaluate", "Measure how good a model is on labelled data",
     "kheya evaluate model.onnx --data pictures/ --metric accuracy", DefineEvaluate},
    {"serve", "Answer requests over HTTP",
     "kheya serve model.onnx --port 8000\n"
     "curl localhost:8000/predict -d '{\"input\": [[1.0, 2.0, 3.0]]}'",
     DefineServe},
    {"convert", "Write a model as ONNX of another opset, simplified, or with weights apart",
     "kheya convert model.onnx -o older.onnx --opset 17\n"
     "kheya convert model.onnx -o small.onnx --simplify --external-data",
     DefineConvert},
    {"optimize", "Show the graph that runs, and why optimizations did or did not apply",
     "kheya optimize model.onnx --explain", DefineOptimize},
    {"conformance", "Run the ONNX project's test cases and count what passes",
     "kheya conformance /usr/lib/python3/dist-packages/onnx/backend/test/data/node\n"
     "kheya conformance onnx/backend/test/data --filter 'test_(loop|scan)' --json",
     DefineConformance},
    {"devices", "List what models can run on here", "kheya devices --json", DefineDevices},
    {"completion", "Print a shell's completion script", "source <(kheya completion bash)",
     DefineCompletion},
};

std::string Footer(const char* example) {
  std::string footer = "Example:\n  ";
  for (const char* c = example; *c != '\0'; ++c) {
    footer += *c;
    if (*c == '\n') footer += "  ";
  }
  return footer;
}

int Report(const Status& status) {
  if (status.ok()) return kExitOk;
  PrintError(status.message());
  if (!status.hint().empty()) PrintHint(status.hint());
  return GetStatusCodeInfo(status.code()).exit_code == 0
             ? kExitFailed
             : GetStatusCodeInfo(status.code()).exit_code;
}

bool IsKnown(std::string_view name) {
  if (name == "-h" || name == "--help" || name == "--version") return true;
  return std::any_of(std::begin(kCommands), std::end(kCommands),
                     [&](const Command& command) { return name == command.name; });
}

int ReportUnknown(std::string_view name) {
  std::string known;
  for (const Command& command : kCommands) {
    known += (known.empty() ? "" : ", ") + std::string(command.name);
  }
  PrintError(fmt::format("found command '{}', expected one of {}", Abbreviate(name), known));
  PrintHint("see kheya --help");
  return kExitUsage;
}

// CLI11 begins its sentences with a capital.
std::string Uncapitalized(std::string text) {
  if (text.size() > 1 && text[1] >= 'a' && text[1] <= 'z' && text[0] >= 'A' && text[0] <= 'Z') {
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  }
  return text;
}

int ReportUsage(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  PrintError(Uncapitalized(error.what()));
  std::string name = "kheya";
  for (const CLI::App* sub : app.get_subcommands()) name += " " + sub->get_name();
  PrintHint("see " + name + " --help");
  return kExitUsage;
}

int ParseAndRun(int argc, char** argv) {
  CLI::App app("Kheya takes a trained model file to production.", "kheya");
  app.set_version_flag("--version", std::string("kheya ") + kVersion);
  app.require_subcommand(1);
  app.footer("Each command has a --help with an example. NO_COLOR is respected.");
  if (argc > 1 && !IsKnown(argv[1])) return ReportUnknown(argv[1]);
  CommandBody body;
  for (const Command& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    sub->footer(Footer(command.example));
    sub->final_callback([&body, work = command.define(*sub)] { body = work; });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ReportUsage(app, error);
  }
  const Status status = body();
  if (std::fflush(stdout) != 0 && status.ok()) {
    return Report(UnavailableError("could not write the output"));
  }
  return Report(status);
}

}  // namespace

int RunCli(int argc, char** argv) {
  try {
    return ParseAndRun(argc, argv);
  } catch (const std::bad_alloc&) {
    return Report(ResourceExhaustedError("out of memory"));
  } catch (const std::exception& error) {
    return Report(InternalError("unexpected exception: {}", error.what()));
  }
}

}  // namespace kheya
