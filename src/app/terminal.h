// What a person at a terminal sees: coloured errors, progress bars, aligned tables.
#ifndef KHEYA_APP_TERMINAL_H_
#define KHEYA_APP_TERMINAL_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kheya {

// "error: ..." and "hint: ..." on stderr, coloured on a terminal unless NO_COLOR is set.
void PrintError(std::string_view message);
void PrintHint(std::string_view message);
void PrintWarning(std::string_view message);

// Rows of "name   value" with the values in one column, on stdout.
void PrintFacts(const std::vector<std::pair<std::string, std::string>>& facts);

// "1,234,567".
std::string WithCommas(int64_t value);
// "1.2 MB" (powers of 1000).
std::string HumanBytes(uint64_t bytes);

// A bar on stderr for work of over two seconds, when stderr is a terminal; erased at the end.
class ProgressBar {
 public:
  ProgressBar(std::string what, int64_t total);
  ~ProgressBar();
  void Update(int64_t done);

 private:
  const std::string what_;
  const int64_t total_;
  const bool terminal_;
  const std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point drawn_at_;
  bool drawn_ = false;
};

}  // namespace kheya

#endif  // KHEYA_APP_TERMINAL_H_
