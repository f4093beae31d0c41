// Small text helpers that the standard library lacks.
#ifndef KHEYA_BASE_STRING_UTIL_H_
#define KHEYA_BASE_STRING_UTIL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace kheya {

// The parts between separators, empty ones included: Split("a,,b", ',') is {"a", "", "b"}, and
// Split("", ',') is {""}. The parts are views into `text`.
std::vector<std::string_view> Split(std::string_view text, char separator);
// The words between runs of blanks, tabs and line ends.
std::vector<std::string_view> SplitWords(std::string_view text);
std::string Join(const std::vector<std::string>& parts, std::string_view separator);
// Without blanks, tabs and line ends at both ends.
std::string_view Trim(std::string_view text);

inline bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix);
}
inline bool EndsWith(std::string_view text, std::string_view suffix) {
  return text.ends_with(suffix);
}
// ASCII only; other bytes stay as they are.
std::string ToLower(std::string_view text);
bool EqualsIgnoreCase(std::string_view a, std::string_view b);

// The whole text as a number; InvalidArgument or OutOfRange otherwise. Decimal, with an optional
// sign; doubles also take exponents, inf and nan. Independent of the locale.
Result<int64_t> ParseInt64(std::string_view text);
Result<uint64_t> ParseUint64(std::string_view text);
Result<double> ParseDouble(std::string_view text);

// At most `max_bytes` of `text`, cut between UTF-8 characters, with "..." for what is left out:
// for quoting hostile text in an error.
std::string Abbreviate(std::string_view text, size_t max_bytes = 80);
// Control characters and bytes that are no UTF-8 as \x0a: hostile text stays one line of text.
std::string EscapeControls(std::string_view text);
// True when the whole text is valid UTF-8 (no surrogates, no overlong forms).
bool IsValidUtf8(std::string_view text);

}  // namespace kheya

#endif  // KHEYA_BASE_STRING_UTIL_H_
