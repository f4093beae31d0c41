#include "serve/api/path_pattern.h"

#include <algorithm>

#include "base/string_util.h"

namespace kheya {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool IsCapture(std::string_view segment) { return StartsWith(segment, "{"); }

}  // namespace

Result<std::string> PercentDecode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = high >= 0 ? HexDigit(text[i + 2]) : -1;
    if (low < 0) {
      return InvalidArgumentError("found '%' without two hexadecimal digits in '{}'",
                                  Abbreviate(text));
    }
    out.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return out;
}

Result<std::vector<std::string>> SplitTarget(std::string_view target) {
  std::string_view path = target.substr(0, target.find_first_of("?#"));
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!StartsWith(path, scheme)) continue;
    path.remove_prefix(std::min(path.find('/', scheme.size()), path.size()));
    if (path.empty()) path = "/";
    break;
  }
  if (!StartsWith(path, "/")) {
    return InvalidArgumentError("found target '{}', expected a path that starts with '/'",
                                Abbreviate(target));
  }
  std::vector<std::string> segments;
  for (const std::string_view part : Split(path.substr(1), '/')) {
    KHEYA_ASSIGN_OR_RETURN(std::string segment, PercentDecode(part));
    if (segment.find('\0') != std::string::npos) {
      return InvalidArgumentError("found a NUL in target '{}'", Abbreviate(target));
    }
    segments.push_back(std::move(segment));
  }
  return segments;
}

PathPattern::PathPattern(std::string_view pattern) : segments_(Split(pattern.substr(1), '/')) {}

std::optional<PathCaptures> PathPattern::Match(const std::vector<std::string>& segments) const {
  if (segments.size() != segments_.size()) return std::nullopt;
  PathCaptures captures;
  for (size_t i = 0; i < segments.size(); ++i) {
    if (!IsCapture(segments_[i])) {
      if (segments[i] != segments_[i]) return std::nullopt;
      continue;
    }
    if (segments[i].empty()) return std::nullopt;
    captures.emplace_back(segments_[i].substr(1, segments_[i].size() - 2), segments[i]);
  }
  return captures;
}

}  // namespace kheya
