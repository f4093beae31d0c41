#include "graph/text_reader.h"

#include "base/string_util.h"
#include "graph/text_tokens.h"

namespace kheya::text {
namespace {

constexpr size_t kMaxTypeBytes = 4096;
constexpr int kMaxTypeDepth = 32;

}  // namespace

Status TextReader::FailAt(std::string_view message) const {
  const std::string_view before = text_.substr(0, pos_);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t start = before.rfind('\n');
  const size_t column = start == std::string_view::npos ? pos_ + 1 : pos_ - start;
  return InvalidArgumentError("line {}, column {}: {}", line, column, message);
}

bool TextReader::Sees(std::string_view prefix) {
  SkipSpace();
  return text_.substr(pos_).starts_with(prefix);
}

bool TextReader::AtEnd() {
  SkipSpace();
  return pos_ >= text_.size();
}

Status TextReader::Expected(std::string_view what) {
  SkipSpace();
  if (pos_ >= text_.size()) return Fail("found the end, expected {}", what);
  const size_t end = text_.find_first_of(" \n", pos_ + 1);
  return Fail("found '{}', expected {}", Abbreviate(text_.substr(pos_, end - pos_), 24), what);
}

void TextReader::SkipSpace() {
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (c == '#') {
      pos_ = std::min(text_.find('\n', pos_), text_.size());
    } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++pos_;
    } else {
      return;
    }
  }
}

char TextReader::Peek() {
  SkipSpace();
  return pos_ < text_.size() ? text_[pos_] : '\0';
}

bool TextReader::Accept(std::string_view token) {
  SkipSpace();
  if (!text_.substr(pos_).starts_with(token)) return false;
  const size_t end = pos_ + token.size();
  if (IsNameChar(token.back()) && end < text_.size() && IsNameChar(text_[end])) {
    return false;
  }
  pos_ = end;
  return true;
}

Status TextReader::Expect(std::string_view token) {
  return Accept(token) ? OkStatus() : Expected(fmt::format("'{}'", token));
}

Result<std::string> TextReader::ParseName(bool* quoted) {
  const bool in_quotes = Peek() == '"';
  if (quoted != nullptr) *quoted = in_quotes;
  if (in_quotes) return ParseString();
  const size_t start = pos_;
  while (pos_ < text_.size() && IsNameChar(text_[pos_])) ++pos_;
  if (pos_ == start) return Expected("a name");
  return std::string(text_.substr(start, pos_ - start));
}

Result<char> TextReader::ParseEscape() {
  if (pos_ >= text_.size()) return Fail("found the end inside a string");
  const char c = text_[pos_++];
  if (c == 'n') return '\n';
  if (c == '"' || c == '\\') return c;
  if (c != 'x') return Fail("found escape '\\{}', expected one of \\n \\\" \\\\ \\x00", c);
  const auto bytes = ParseBlobText(fmt::format("0x{}", text_.substr(pos_, 2)));
  if (!bytes || bytes->size() != 1) return Fail("found no two hexadecimal digits behind '\\x'");
  pos_ += 2;
  return static_cast<char>((*bytes)[0]);
}

Result<std::string> TextReader::ParseString() {
  KHEYA_RETURN_IF_ERROR(Expect("\""));
  std::string value;
  while (pos_ < text_.size()) {
    const char c = text_[pos_++];
    if (c == '"') return value;
    if (c == '\\') {
      KHEYA_ASSIGN_OR_RETURN(const char escaped, ParseEscape());
      value += escaped;
    } else {
      value += c;
    }
  }
  return Fail("found the end inside a string");
}

Result<std::string_view> TextReader::ParseNumberToken() {
  SkipSpace();
  const size_t start = pos_;
  while (pos_ < text_.size() &&
         (IsNameChar(text_[pos_]) || text_[pos_] == '-' || text_[pos_] == '+')) {
    ++pos_;
  }
  if (pos_ == start) return Expected("a number");
  return text_.substr(start, pos_ - start);
}

Result<int64_t> TextReader::ParseInt() {
  KHEYA_ASSIGN_OR_RETURN(const std::string_view token, ParseNumberToken());
  Result<int64_t> value = ParseInt64(token);
  if (!value.ok()) return Fail("{}", value.status().message());
  return value;
}

Result<ValueType> TextReader::ParseType() {
  SkipSpace();
  const size_t start = pos_;
  int open = 0;
  bool quoted = false;
  for (; pos_ < text_.size() && pos_ - start <= kMaxTypeBytes; ++pos_) {
    const char c = text_[pos_];
    if (quoted && c == '\\') {
      ++pos_;
    } else if (c == '"' && open > 0) {
      quoted = !quoted;
    } else if (quoted) {
      continue;
    } else if (c == '[' || c == '(') {
      if (++open > kMaxTypeDepth) return Fail("found a type nested too deep");
    } else if (c == ']' || c == ')') {
      if (open-- == 0) break;
    } else if (open == 0 && !IsNameChar(c) && c != '?') {
      break;
    }
  }
  pos_ = std::min(pos_, text_.size());
  Result<ValueType> type = ValueType::Parse(Trim(text_.substr(start, pos_ - start)));
  if (!type.ok()) return Fail("{}", type.status().message());
  return type;
}

Result<Tensor> TextReader::MakeTensor(DType dtype, const Shape& shape,
                                      const std::vector<std::byte>& bytes) {
  if (bytes.size() != BytesFor(dtype, shape.num_elements())) {
    return Fail("found {} bytes of elements, expected {} for {}{}", bytes.size(),
                BytesFor(dtype, shape.num_elements()), DTypeName(dtype), shape.ToString());
  }
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, shape));
  std::copy(bytes.begin(), bytes.end(), static_cast<std::byte*>(tensor.mutable_view().data));
  return tensor;
}

Result<Tensor> TextReader::ParseStrings(const Shape& shape) {
  KHEYA_RETURN_IF_ERROR(Expect("["));
  std::vector<std::string> values;
  KHEYA_RETURN_IF_ERROR(ParseSeparated("]", [&]() -> Status {
    KHEYA_ASSIGN_OR_RETURN(values.emplace_back(), ParseString());
    return OkStatus();
  }));
  if (static_cast<int64_t>(values.size()) != shape.num_elements()) {
    return Fail("found {} strings, expected {}", values.size(), shape.num_elements());
  }
  KHEYA_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(DType::kString, shape));
  std::move(values.begin(), values.end(), tensor.mutable_data<std::string>().begin());
  return tensor;
}

Result<Tensor> TextReader::ParseElements(DType dtype, const Shape& shape) {
  KHEYA_RETURN_IF_ERROR(Expect("["));
  std::vector<std::byte> bytes;
  KHEYA_RETURN_IF_ERROR(ParseSeparated("]", [&]() -> Status {
    KHEYA_ASSIGN_OR_RETURN(const std::string_view token, ParseNumberToken());
    if (AppendElement(dtype, token, bytes)) return OkStatus();
    return Fail("found '{}', expected an element of {}", Abbreviate(token), DTypeName(dtype));
  }));
  return MakeTensor(dtype, shape, bytes);
}

Result<Tensor> TextReader::ParseTensor(const ValueType& type) {
  const std::optional<Shape> shape = type.KnownShape();
  if (!type.is_tensor() || !shape) {
    return Fail("found {}, expected a tensor type with known dimensions", type.ToString());
  }
  if (Accept("...")) return Fail("the elements of this constant were left out of the text");
  if (type.dtype == DType::kString) return ParseStrings(*shape);
  if (Peek() != '0') return ParseElements(type.dtype, *shape);
  KHEYA_ASSIGN_OR_RETURN(const std::string_view token, ParseNumberToken());
  const std::optional<std::vector<std::byte>> bytes = ParseBlobText(token);
  if (!bytes) return Fail("found '{}', expected bytes as 0x...", Abbreviate(token));
  return MakeTensor(type.dtype, *shape, *bytes);
}

}  // namespace kheya::text
