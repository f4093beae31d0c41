#include "app/terminal.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace kheya {
namespace {

bool Colours() {
  static const bool colours = [] {
    const char* no_color = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    return isatty(STDERR_FILENO) != 0 && (no_color == nullptr || *no_color == '\0') &&
           (term == nullptr || std::string_view(term) != "dumb");
  }();
  return colours;
}

// Whether anybody reads what is said here changes nothing: errors are let go.
void Say(const std::string& text) { (void)std::fwrite(text.data(), 1, text.size(), stderr); }

void PrintTagged(std::string_view tag, const char* colour, std::string_view message) {
  if (Colours()) {
    Say(fmt::format("\033[{}m{}:\033[0m {}\n", colour, tag, message));
  } else {
    Say(fmt::format("{}: {}\n", tag, message));
  }
}

constexpr int kBarWidth = 30;
constexpr std::chrono::milliseconds kShowAfter{2000};
constexpr std::chrono::milliseconds kRedrawAfter{100};

}  // namespace

void PrintError(std::string_view message) { PrintTagged("error", "1;31", message); }
void PrintHint(std::string_view message) { PrintTagged("hint", "1;36", message); }
void PrintWarning(std::string_view message) { PrintTagged("warning", "1;33", message); }

void PrintFacts(const std::vector<std::pair<std::string, std::string>>& facts) {
  size_t width = 0;
  for (const auto& [name, value] : facts) width = std::max(width, name.size());
  for (const auto& [name, value] : facts) fmt::print("{:<{}}  {}\n", name, width, value);
}

std::string WithCommas(int64_t value) {
  std::string text = fmt::format("{}", value);
  const size_t first = value < 0 ? 1 : 0;
  for (size_t at = text.size(); at > first + 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string HumanBytes(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1000 && unit < 4) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

ProgressBar::ProgressBar(std::string what, int64_t total)
    : what_(std::move(what)),
      total_(total),
      terminal_(isatty(STDERR_FILENO) != 0),
      start_(std::chrono::steady_clock::now()) {}

ProgressBar::~ProgressBar() {
  if (drawn_) Say("\r\033[K");
}

void ProgressBar::Update(int64_t done) {
  if (!terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - start_ < kShowAfter || (drawn_ && now - drawn_at_ < kRedrawAfter)) return;
  const double part = total_ > 0 ? std::min(1.0, static_cast<double>(done) / total_) : 0;
  const int filled = static_cast<int>(part * kBarWidth);
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double left = part > 0 ? elapsed * (1 - part) / part : 0;
  Say(fmt::format("\r{} [{}{}] {}/{} {:.0f} s left\033[K", what_, std::string(filled, '#'),
                  std::string(kBarWidth - filled, '.'), done, total_, left));
  std::fflush(stderr);
  drawn_ = true;
  drawn_at_ = now;
}

}  // namespace kheya
