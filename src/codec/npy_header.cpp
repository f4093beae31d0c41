// The header of .npy files: a magic, a length and a Python dictionary of three known keys.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "base/string_util.h"
#include "codec/byte_reader.h"
#include "codec/npy.h"

namespace kheya {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kLongestHeader = 1 << 16;

// Reads the dictionary's text from left to right. Only what numpy itself writes is taken:
// strings without escapes, True, False and tuples of integers.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool Take(char c) {
    SkipBlanks();
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool TakeWord(std::string_view word) {
    SkipBlanks();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::string_view> TakeString() {
    SkipBlanks();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) return std::nullopt;
    const size_t end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view value = text_.substr(1, end - 1);
    if (value.find('\\') != std::string_view::npos) return std::nullopt;
    text_.remove_prefix(end + 1);
    return value;
  }
  std::optional<int64_t> TakeInteger() {
    SkipBlanks();
    const size_t end = std::min(text_.find_first_not_of("0123456789"), text_.size());
    Result<int64_t> value = ParseInt64(text_.substr(0, end));
    if (!value.ok()) return std::nullopt;
    text_.remove_prefix(end);
    TakeWord("L");  // Python 2 wrote long integers so
    return *value;
  }
  bool AtEnd() {
    SkipBlanks();
    return text_.empty();
  }
  std::string Rest() const { return EscapeControls(Abbreviate(text_, 40)); }

 private:
  void SkipBlanks() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n')) text_.remove_prefix(1);
  }
  std::string_view text_;
};

Status ReadDescr(Scanner* scanner, NpyHeader* header) {
  const std::optional<std::string_view> descr = scanner->TakeString();
  if (!descr)
    return InvalidArgumentError("found a type near '{}', expected one like '<f4'", scanner->Rest());
  std::string little(*descr);
  if (little.size() < 3) {
    return InvalidArgumentError("found type '{}', expected one like '<f4'", EscapeControls(little));
  }
  if (little[0] == '>' || little[0] == '=') little[0] = '<';
  std::optional<DType> dtype = DTypeFromNumpy(little);
  if (!dtype) {  // one byte has no order, though some write one
    little[0] = '|';
    dtype = DTypeFromNumpy(little);
  }
  if (!dtype) {
    return UnimplementedError("found array type '{}', expected numbers or bools",
                              EscapeControls(Abbreviate(*descr)));
  }
  header->dtype = *dtype;
  header->big_endian = (*descr)[0] == '>' && GetDTypeInfo(*dtype).bits > 8;
  return OkStatus();
}

Status ReadOrder(Scanner* scanner, NpyHeader* header) {
  if (scanner->TakeWord("True")) {
    header->fortran_order = true;
  } else if (!scanner->TakeWord("False")) {
    return InvalidArgumentError("found '{}', expected True or False", scanner->Rest());
  }
  return OkStatus();
}

Status ReadShape(Scanner* scanner, NpyHeader* header) {
  std::vector<int64_t> dims;
  if (!scanner->Take('(')) {
    return InvalidArgumentError("found shape '{}', expected a tuple", scanner->Rest());
  }
  while (!scanner->Take(')')) {
    const std::optional<int64_t> dim = scanner->TakeInteger();
    if (!dim || dims.size() > static_cast<size_t>(kMaxRank)) {
      return InvalidArgumentError("found shape near '{}', expected up to {} dimensions",
                                  scanner->Rest(), kMaxRank);
    }
    dims.push_back(*dim);
    if (scanner->Take(',')) continue;
    if (!scanner->Take(')')) {
      return InvalidArgumentError("found shape near '{}', expected ',' or ')'", scanner->Rest());
    }
    break;
  }
  KHEYA_ASSIGN_OR_RETURN(header->shape, Shape::Create(dims));
  return OkStatus();
}

Status ReadMember(Scanner* scanner, NpyHeader* header, unsigned* seen) {
  static constexpr struct {
    std::string_view key;
    Status (*read)(Scanner*, NpyHeader*);
  } kMembers[] = {{"descr", ReadDescr}, {"fortran_order", ReadOrder}, {"shape", ReadShape}};
  const std::optional<std::string_view> key = scanner->TakeString();
  if (!key || !scanner->Take(':')) {
    return InvalidArgumentError("found '{}', expected a key of the header", scanner->Rest());
  }
  for (size_t i = 0; i < std::size(kMembers); ++i) {
    if (kMembers[i].key != *key) continue;
    if (*seen & 1u << i) return InvalidArgumentError("found '{}' twice", *key);
    *seen |= 1u << i;
    return kMembers[i].read(scanner, header);
  }
  return InvalidArgumentError("found key '{}', expected descr, fortran_order and shape",
                              EscapeControls(Abbreviate(*key)));
}

Status ParseDictionary(std::string_view text, NpyHeader* header) {
  Scanner scanner(text);
  unsigned seen = 0;
  if (!scanner.Take('{')) {
    return InvalidArgumentError("found '{}', expected a dictionary", scanner.Rest());
  }
  while (!scanner.Take('}')) {
    KHEYA_RETURN_IF_ERROR(ReadMember(&scanner, header, &seen));
    if (scanner.Take(',')) continue;
    if (scanner.Take('}')) break;
    return InvalidArgumentError("found '{}', expected ',' or '}}'", scanner.Rest());
  }
  if (!scanner.AtEnd()) {
    return InvalidArgumentError("found '{}' behind the dictionary", scanner.Rest());
  }
  if (seen != 7) return InvalidArgumentError("expected descr, fortran_order and shape");
  return OkStatus();
}

}  // namespace

bool IsNpy(std::span<const std::byte> bytes) { return AsText(bytes).starts_with(kMagic); }

Result<NpyHeader> ParseNpyHeader(std::span<const std::byte> bytes) {
  if (!IsNpy(bytes) || bytes.size() < 10) {
    return InvalidArgumentError("found no .npy header in {} bytes", bytes.size());
  }
  const int version = std::to_integer<int>(bytes[6]);
  if (version < 1 || version > 3) {
    return UnimplementedError(".npy version {} is not supported, only 1 to 3", version);
  }
  const size_t begin = version == 1 ? 10 : 12;
  if (bytes.size() < begin) return InvalidArgumentError(".npy header is cut off");
  const size_t size =
      version == 1 ? LoadLittle<uint16_t>(bytes, 8) : LoadLittle<uint32_t>(bytes, 8);
  if (size > kLongestHeader || size > bytes.size() - begin) {
    return InvalidArgumentError(".npy header of {} bytes is cut off or too long", size);
  }
  NpyHeader header;
  header.data_offset = begin + size;
  Status status = ParseDictionary(AsText(bytes.subspan(begin, size)), &header);
  if (!status.ok()) return std::move(status).WithContext(".npy header");
  return header;
}

Result<std::string> WriteNpy(const Tensor& tensor) {
  const std::string_view descr = GetDTypeInfo(tensor.dtype()).numpy;
  if (descr.empty()) {
    return UnimplementedError("numpy has no type for {}", DTypeName(tensor.dtype()));
  }
  const auto dims = tensor.shape().dims();
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                  fmt::join(dims.begin(), dims.end(), ", "), dims.size() == 1 ? "," : "");
  const size_t unpadded = kMagic.size() + 4 + header.size() + 1;
  header.append((64 - unpadded % 64) % 64, ' ').push_back('\n');
  std::string file(kMagic);
  file.append({1, 0});
  AppendLittle(&file, static_cast<uint16_t>(header.size()));
  file.append(header).append(AsText(tensor.bytes()));
  return file;
}

}  // namespace kheya
