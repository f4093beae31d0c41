#include "kernels/reference/text.h"

#include <re2/re2.h>
#include <utf8proc.h>

namespace kheya::kernels {
namespace {

// A pattern and its program may take so many bytes.
constexpr size_t kMaxPatternBytes = size_t{1} << 16;
constexpr int64_t kMaxProgramBytes = int64_t{8} << 20;

template <typename Map>
std::string MapCodePoints(std::string_view text, Map map) {
  std::string mapped;
  mapped.reserve(text.size());
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto size = static_cast<utf8proc_ssize_t>(text.size());
  for (utf8proc_ssize_t at = 0; at < size;) {
    utf8proc_int32_t code = 0;
    const utf8proc_ssize_t length = utf8proc_iterate(bytes + at, size - at, &code);
    if (length <= 0) {
      mapped += text[static_cast<size_t>(at++)];
      continue;
    }
    utf8proc_uint8_t encoded[4];
    const utf8proc_ssize_t count = utf8proc_encode_char(map(code), encoded);
    mapped.append(reinterpret_cast<const char*>(encoded), static_cast<size_t>(count));
    at += length;
  }
  return mapped;
}

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

void SplitSpaces(std::string_view text, int64_t most, FunctionRef<void(std::string_view)> part) {
  int64_t cuts = 0;
  size_t at = 0;
  const auto skip = [&] {
    while (at < text.size() && IsSpace(text[at])) ++at;
  };
  skip();
  while (at < text.size()) {
    if (most >= 0 && cuts++ == most) {
      size_t end = text.size();
      while (end > at && IsSpace(text[end - 1])) --end;
      part(text.substr(at, end - at));
      return;
    }
    const size_t start = at;
    while (at < text.size() && !IsSpace(text[at])) ++at;
    part(text.substr(start, at - start));
    skip();
  }
}

}  // namespace

std::string LowerCase(std::string_view text) { return MapCodePoints(text, utf8proc_tolower); }

std::string UpperCase(std::string_view text) {
  // The library gives sharp s its capital, which Unicode's simple mapping does not.
  constexpr utf8proc_int32_t kSharpS = 0xdf;
  return MapCodePoints(
      text, [](utf8proc_int32_t code) { return code == kSharpS ? code : utf8proc_toupper(code); });
}

void SplitText(std::string_view text, std::string_view delimiter, int64_t most,
               FunctionRef<void(std::string_view)> part) {
  if (delimiter.empty()) return SplitSpaces(text, most, part);
  for (int64_t cuts = 0; most < 0 || cuts < most; ++cuts) {
    const size_t end = text.find(delimiter);
    if (end == text.npos) break;
    part(text.substr(0, end));
    text.remove_prefix(end + delimiter.size());
  }
  part(text);
}

struct RegularExpression::Compiled {
  RE2 expression;
};

Result<RegularExpression> RegularExpression::Compile(const std::string& pattern) {
  if (pattern.size() > kMaxPatternBytes) {
    return ResourceExhaustedError("found a pattern of {} bytes, expected at most {}",
                                  pattern.size(), kMaxPatternBytes);
  }
  RE2::Options options(RE2::Quiet);
  options.set_max_mem(kMaxProgramBytes);
  RegularExpression made;
  made.compiled_ = std::shared_ptr<const Compiled>(new Compiled{RE2(pattern, options)});
  const RE2& expression = made.compiled_->expression;
  if (expression.ok()) return made;
  if (expression.error_code() == RE2::ErrorPatternTooLarge) {
    return ResourceExhaustedError("the pattern is too large: {}", expression.error());
  }
  return InvalidArgumentError("found the pattern '{}': {}", pattern.substr(0, 80),
                              expression.error());
}

bool RegularExpression::MatchesAll(std::string_view text) const {
  return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), compiled_->expression);
}

}  // namespace kheya::kernels
