// Paths of endpoints: "/v2/models/{name}/infer" matched segment by segment.
#ifndef KHEYA_SERVE_API_PATH_PATTERN_H_
#define KHEYA_SERVE_API_PATH_PATTERN_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace kheya {

// What the places in braces stand for: {"name", "a b"}.
using PathCaptures = std::vector<std::pair<std::string, std::string>>;

// %41 resolved. InvalidArgument when a % lacks its two hexadecimal digits.
Result<std::string> PercentDecode(std::string_view text);

// The decoded segments of a request's target, without the query: "/a%20b/c?x" is {"a b", "c"},
// "/" is {""}. Proxies may put "http://host" before (RFC 9112, 3.2.2). InvalidArgument when the
// rest does not start with '/', or decodes to a NUL.
Result<std::vector<std::string>> SplitTarget(std::string_view target);

class PathPattern {
 public:
  // `pattern` is a literal of the endpoint table and lives as long as the program.
  explicit PathPattern(std::string_view pattern);

  // The captures when every segment matches. A place in braces matches one segment that is not
  // empty; an encoded '/' stays within its segment.
  std::optional<PathCaptures> Match(const std::vector<std::string>& segments) const;

 private:
  std::vector<std::string_view> segments_;
};

}  // namespace kheya

#endif  // KHEYA_SERVE_API_PATH_PATTERN_H_
