// TextReader: a cursor over the text form of graphs that reads its pieces and says where it failed.
#ifndef KHEYA_GRAPH_TEXT_READER_H_
#define KHEYA_GRAPH_TEXT_READER_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tensor/tensor.h"
#include "tensor/value.h"

namespace kheya::text {

// Borrows the text. Blanks, line ends and comments from '#' to the end of the line are skipped
// before each piece. Failures are InvalidArgument with line and column.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : text_(text) {}

  // The next character, '\0' at the end.
  char Peek();
  bool AtEnd();
  // True when the text goes on with `prefix`, whatever follows.
  bool Sees(std::string_view prefix);
  // Takes a mark, or a word that ends there.
  bool Accept(std::string_view token);
  Status Expect(std::string_view token);
  // The failure that names what is there instead of `what`.
  Status Expected(std::string_view what);
  template <typename... Args>
  Status Fail(fmt::format_string<Args...> format, Args&&... args) const {
    return FailAt(fmt::format(format, std::forward<Args>(args)...));
  }

  // Bare or quoted.
  Result<std::string> ParseName(bool* quoted = nullptr);
  Result<std::string> ParseString();
  // A run of the characters that numbers of any type are made of.
  Result<std::string_view> ParseNumberToken();
  Result<int64_t> ParseInt();
  Result<ValueType> ParseType();
  // The elements of a tensor of `type`, which must be fully known. Memory is taken only for
  // elements that are there.
  Result<Tensor> ParseTensor(const ValueType& type);
  // Elements by `parse_one()` with commas between, up to and with `close`.
  template <typename ParseOne>
  Status ParseSeparated(std::string_view close, ParseOne parse_one) {
    if (Accept(close)) return OkStatus();
    do {
      KHEYA_RETURN_IF_ERROR(parse_one());
    } while (Accept(","));
    return Expect(close);
  }

 private:
  void SkipSpace();
  Status FailAt(std::string_view message) const;
  Result<char> ParseEscape();
  Result<Tensor> ParseStrings(const Shape& shape);
  Result<Tensor> ParseElements(DType dtype, const Shape& shape);
  Result<Tensor> MakeTensor(DType dtype, const Shape& shape, const std::vector<std::byte>& bytes);

  std::string_view text_;
  size_t pos_ = 0;
};

}  // namespace kheya::text

#endif  // KHEYA_GRAPH_TEXT_READER_H_
