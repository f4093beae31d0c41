#include "runtime/tactics_cache.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/cpu_features.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/string_util.h"
#include "base/version.h"
#include "kernels/kernel.h"

namespace kheya {
namespace {

constexpr uint64_t kMostBytes = uint64_t{32} << 20;
constexpr size_t kMostChoices = 65536;

// First line: format and machine. Last line: a hash of all before it.
std::string Header(const std::string& machine) {
  return fmt::format("kheya tactics 1\t{}\n", machine);
}

bool IsPlain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

// Takes one line with its end off the front of `text`; empty where there is no whole line.
std::string_view TakeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return {};
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

}  // namespace

std::string TuningMachine() {
  const CpuFeatures& cpu = GetCpuFeatures();
  std::string rows;
  for (const KernelRow& row : AllKernels()) rows += TacticName(row) + " ";
  return fmt::format("{} {} {} {} {}", cpu.brand, cpu.Key(), kVersion, KernelLibraries(),
                     HashString(rows).ToHex());
}

std::string TacticsCachePath(const std::string& folder, const std::string& machine) {
  return fmt::format("{}/tactics-{}.txt", folder, HashString(machine).ToHex());
}

TacticChoices ReadTactics(const std::string& path, const std::string& machine) {
  const Result<std::string> content = ReadFile(path, kMostBytes);
  if (!content.ok()) return {};
  const std::string header = Header(machine);
  std::string_view text = *content;
  const size_t last = text.rfind('\n', text.size() - 2);
  if (!StartsWith(text, header) || last == std::string_view::npos || text.back() != '\n') return {};
  const std::string_view body = text.substr(0, last + 1);
  if (text.substr(last + 1) != HashString(body).ToHex() + "\n") return {};
  text = body.substr(header.size());
  TacticChoices choices;
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos || choices.size() >= kMostChoices) return {};
    choices.emplace(line.substr(0, tab), line.substr(tab + 1));
  }
  return choices;
}

Status WriteTactics(const std::string& path, const std::string& machine, TacticChoices choices) {
  choices.merge(ReadTactics(path, machine));
  if (choices.size() > kMostChoices) {
    return ResourceExhaustedError("found {} choices, expected at most {}", choices.size(),
                                  kMostChoices);
  }
  std::string text = Header(machine);
  for (const auto& [key, tactic] : choices) {
    if (!IsPlain(key) || !IsPlain(tactic)) return InternalError("a choice cannot be written");
    text += fmt::format("{}\t{}\n", key, tactic);
  }
  text += HashString(text).ToHex() + "\n";
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  return WriteFileAtomic(path, text);
}

}  // namespace kheya
