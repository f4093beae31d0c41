#include "base/string_util.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>

namespace kheya {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";

char LowerChar(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

template <typename T>
Result<T> ParseNumber(std::string_view text, const char* kind) {
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  T value{};
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error == std::errc::result_out_of_range) {
    return OutOfRangeError("found '{}', expected {} that fits in {} bits", Abbreviate(text), kind,
                           8 * sizeof(T));
  }
  if (error != std::errc() || stop != end) {
    return InvalidArgumentError("found '{}', expected {}", Abbreviate(text), kind);
  }
  return value;
}

// Of the UTF-8 character that `text` begins with; 0 when it begins with none.
size_t CharacterBytes(std::string_view text) {
  for (size_t size = 1; size <= std::min<size_t>(4, text.size()); ++size) {
    if (IsValidUtf8(text.substr(0, size))) return size;
  }
  return 0;
}

}  // namespace

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::vector<std::string_view> SplitWords(std::string_view text) {
  std::vector<std::string_view> words;
  size_t begin = text.find_first_not_of(kBlanks);
  while (begin != std::string_view::npos) {
    const size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string ToLower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), LowerChar);
  return lower;
}

bool EqualsIgnoreCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return LowerChar(x) == LowerChar(y); });
}

Result<int64_t> ParseInt64(std::string_view text) {
  return ParseNumber<int64_t>(text, "an integer");
}

Result<uint64_t> ParseUint64(std::string_view text) {
  return ParseNumber<uint64_t>(text, "an unsigned integer");
}

Result<double> ParseDouble(std::string_view text) { return ParseNumber<double>(text, "a number"); }

std::string Abbreviate(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  while (max_bytes > 0 && (static_cast<unsigned char>(text[max_bytes]) & 0xC0) == 0x80) --max_bytes;
  return std::string(text.substr(0, max_bytes)) + "...";
}

std::string EscapeControls(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  const bool all_valid = IsValidUtf8(text);
  for (size_t i = 0; i < text.size();) {
    const size_t size = all_valid ? 1 : CharacterBytes(text.substr(i));
    const auto byte = static_cast<unsigned char>(text[i]);
    if (size == 0 || byte < 0x20 || byte == 0x7f) {
      escaped += fmt::format("\\x{:02x}", byte);
      ++i;
    } else {
      escaped += text.substr(i, size);
      i += size;
    }
  }
  return escaped;
}

bool IsValidUtf8(std::string_view text) {
  return simdjson::validate_utf8(text.data(), text.size());
}

}  // namespace kheya
