// Text: case, splitting, and regular expressions. Strings are UTF-8; bytes that are not pass
// through unchanged.
#ifndef KHEYA_KERNELS_REFERENCE_TEXT_H_
#define KHEYA_KERNELS_REFERENCE_TEXT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "base/status.h"

namespace kheya::kernels {

// Each code point in its lower or upper case by Unicode's simple mappings, whatever the locale.
std::string LowerCase(std::string_view text);
std::string UpperCase(std::string_view text);

// Gives `part` the parts of `text` between delimiters, after at most `most` cuts (negative: all);
// what is left is the last part. An empty delimiter stands for runs of white space, and white space
// at both ends is dropped. As Python's str.split.
void SplitText(std::string_view text, std::string_view delimiter, int64_t most,
               FunctionRef<void(std::string_view)> part);

// A regular expression of RE2's syntax, whose matching takes time linear in the text. Thread-safe.
class RegularExpression {
 public:
  // InvalidArgument when the pattern is none, ResourceExhausted when it is too large.
  static Result<RegularExpression> Compile(const std::string& pattern);
  bool MatchesAll(std::string_view text) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace kheya::kernels

#endif  // KHEYA_KERNELS_REFERENCE_TEXT_H_
