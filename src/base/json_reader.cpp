#include "base/json_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/string_util.h"

namespace kheya {
namespace {

// Powers of ten that a double holds exactly.
constexpr double kPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr int64_t kMaxExactPower = 22;
constexpr uint64_t kMaxExactMantissa = uint64_t{1} << 53;
constexpr int kMaxMantissaDigits = 19;  // 19 nines fit in 64 bits
constexpr int64_t kExponentCap = 1000000000;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    out->push_back(static_cast<char>(code));
    return;
  }
  if (code < 0x800) {
    out->push_back(static_cast<char>(0xC0 | code >> 6));
  } else {
    if (code < 0x10000) {
      out->push_back(static_cast<char>(0xE0 | code >> 12));
    } else {
      out->push_back(static_cast<char>(0xF0 | code >> 18));
      out->push_back(static_cast<char>(0x80 | (code >> 12 & 0x3F)));
    }
    out->push_back(static_cast<char>(0x80 | (code >> 6 & 0x3F)));
  }
  out->push_back(static_cast<char>(0x80 | (code & 0x3F)));
}

template <typename T>
constexpr const char* TypeText() {
  if constexpr (std::is_same_v<T, float>) return "float32";
  if constexpr (std::is_same_v<T, double>) return "float64";
  if constexpr (std::is_same_v<T, bool>) return "bool";
  if constexpr (std::is_signed_v<T>) {
    return sizeof(T) == 1 ? "int8" : sizeof(T) == 2 ? "int16" : sizeof(T) == 4 ? "int32" : "int64";
  }
  return sizeof(T) == 1   ? "uint8"
         : sizeof(T) == 2 ? "uint16"
         : sizeof(T) == 4 ? "uint32"
                          : "uint64";
}

// The shape of nested arrays, learned while they are walked. The first element, or the first empty
// array, fixes the rank; the first array that ends at a level fixes that dimension.
class ShapeTracker {
 public:
  bool Open() {
    counts_.push_back(0);
    return !rank_known_ || counts_.size() <= dims_.size();
  }
  bool Element() {
    FixRank();
    return counts_.size() == dims_.size();
  }
  bool Close() {
    FixRank();
    int64_t& dim = dims_[counts_.size() - 1];
    if (dim < 0) dim = counts_.back();
    const bool ok = dim == counts_.back();
    counts_.pop_back();
    return ok;
  }
  void CountOne() {
    if (!counts_.empty()) ++counts_.back();
  }
  bool AtTop() const { return counts_.empty(); }
  bool InsideEmpty() const { return counts_.back() == 0; }
  std::vector<int64_t> Take() { return std::move(dims_); }

 private:
  void FixRank() {
    if (rank_known_) return;
    rank_known_ = true;
    dims_.assign(counts_.size(), -1);
  }
  std::vector<int64_t> counts_;  // of the open arrays
  std::vector<int64_t> dims_;    // -1: not known yet
  bool rank_known_ = false;
};

}  // namespace

// A scanned number: mantissa times ten to the exponent, and its text.
struct JsonReader::Number {
  const char* begin = nullptr;
  const char* end = nullptr;
  bool negative = false;
  bool integer = true;
  uint64_t mantissa = 0;
  int64_t digits = 0;  // significant ones; above kMaxMantissaDigits the mantissa has overflowed
  int64_t exponent = 0;

  const char* ScanDigits(const char* at, const char* stop) {
    const char* first = at;
    for (; at < stop && IsDigit(*at); ++at)
      mantissa = mantissa * 10 + static_cast<uint64_t>(*at - '0');
    digits += at - first;
    return at;
  }

  // Zeros in front say nothing; they are counted out only where it matters.
  void DropLeadingZeros() {
    if (digits <= kMaxMantissaDigits) return;
    for (const char* at = begin; at < end && digits > 0; ++at) {
      if (*at == '0') --digits;
      if (*at >= '1' && *at <= '9') return;
    }
  }

  // False when the number is too large.
  bool ToDouble(double* out) const {
    const int64_t power = exponent < 0 ? -exponent : exponent;
    if (digits <= kMaxMantissaDigits && mantissa <= kMaxExactMantissa && power <= kMaxExactPower) {
      const auto whole = static_cast<double>(mantissa);
      const double size = exponent < 0 ? whole / kPowersOfTen[power] : whole * kPowersOfTen[power];
      *out = negative ? -size : size;
      return true;
    }
    if (std::from_chars(begin, end, *out).ec != std::errc::result_out_of_range) return true;
    *out = negative ? -0.0 : 0.0;
    return digits + exponent <= 0;
  }
};

JsonReader::JsonReader(std::string_view text, const Options& options)
    : begin_(text.data()), at_(begin_), end_(begin_ + text.size()), options_(options) {}

Result<JsonReader> JsonReader::Open(std::string_view text, const Options& options) {
  if (text.size() > options.max_bytes) {
    return ResourceExhaustedError("found {} bytes of json, expected at most {}", text.size(),
                                  options.max_bytes);
  }
  if (!IsValidUtf8(text)) return InvalidArgumentError("json text is not valid utf-8");
  return JsonReader(text, options);
}

void JsonReader::SkipBlanks() {
  while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
}

bool JsonReader::Consume(char c) {
  SkipBlanks();
  if (at_ == end_ || *at_ != c) return false;
  ++at_;
  return true;
}

bool JsonReader::ConsumeWord(std::string_view word) {
  if (!StartsWith({at_, static_cast<size_t>(end_ - at_)}, word)) return false;
  at_ += word.size();
  return true;
}

Status JsonReader::Unexpected(const char* expected) const {
  if (at_ == end_) {
    return InvalidArgumentError("json: found the end at byte {}, expected {}", position(),
                                expected);
  }
  const char* stop = std::find_if(at_, std::min(end_, at_ + 24), [](char c) {
    return c == ',' || c == ']' || c == '}' || c == '\n';
  });
  const std::string_view found(at_, static_cast<size_t>(std::max(stop, at_ + 1) - at_));
  return InvalidArgumentError("json: found '{}' at byte {}, expected {}", Abbreviate(found, 20),
                              position(), expected);
}

Status JsonReader::OutOfRange(const char* begin, const char* kind) const {
  const std::string_view found(begin, static_cast<size_t>(at_ - begin));
  return OutOfRangeError("json: found {} at byte {}, expected a number that fits in {}",
                         Abbreviate(found, 40), begin - begin_, kind);
}

Status JsonReader::Enter() {
  if (depth_ >= options_.max_depth) {
    return ResourceExhaustedError("json: nested deeper than {} levels at byte {}",
                                  options_.max_depth, position());
  }
  ++depth_;
  return OkStatus();
}

JsonReader::Type JsonReader::Peek() {
  SkipBlanks();
  if (at_ == end_) return Type::kNothing;
  switch (*at_) {
    case 'n':
      return Type::kNull;
    case 't':
    case 'f':
      return Type::kBool;
    case '"':
      return Type::kString;
    case '[':
      return Type::kArray;
    case '{':
      return Type::kObject;
    case '-':
      return Type::kNumber;
    case 'N':
    case 'I':
      return options_.allow_nan ? Type::kNumber : Type::kNothing;
    default:
      return IsDigit(*at_) ? Type::kNumber : Type::kNothing;
  }
}

Status JsonReader::ReadObject(FunctionRef<Status(std::string_view)> member) {
  if (!Consume('{')) return Unexpected("an object");
  KHEYA_RETURN_IF_ERROR(Enter());
  if (!Consume('}')) {
    do {
      SkipBlanks();
      KHEYA_ASSIGN_OR_RETURN(const std::string key, ReadString());
      if (!Consume(':')) return Unexpected("':'");
      KHEYA_RETURN_IF_ERROR(member(key));
    } while (Consume(','));
    if (!Consume('}')) return Unexpected("',' or '}'");
  }
  --depth_;
  return OkStatus();
}

Status JsonReader::ReadArray(FunctionRef<Status(int64_t)> item) {
  if (!Consume('[')) return Unexpected("an array");
  KHEYA_RETURN_IF_ERROR(Enter());
  if (!Consume(']')) {
    int64_t index = 0;
    do {
      KHEYA_RETURN_IF_ERROR(item(index++));
    } while (Consume(','));
    if (!Consume(']')) return Unexpected("',' or ']'");
  }
  --depth_;
  return OkStatus();
}

Result<bool> JsonReader::ReadBool() {
  SkipBlanks();
  if (ConsumeWord("true")) return true;
  if (ConsumeWord("false")) return false;
  return Unexpected("true or false");
}

const char* JsonReader::ScanExponent(const char* at, Number* number) const {
  const bool minus = at < end_ && *at == '-';
  if (at < end_ && (*at == '-' || *at == '+')) ++at;
  int64_t exponent = 0;
  const char* first = at;
  for (; at < end_ && IsDigit(*at); ++at) {
    exponent = std::min(exponent * 10 + (*at - '0'), kExponentCap);
  }
  number->exponent += minus ? -exponent : exponent;
  return at == first ? nullptr : at;
}

Status JsonReader::ScanNumber(Number* number) {
  SkipBlanks();
  const char* at = number->begin = at_;
  number->negative = at < end_ && *at == '-';
  if (number->negative) ++at;
  const char* stop = number->ScanDigits(at, end_);
  if (stop == at || (*at == '0' && stop - at > 1)) return Unexpected("a number");
  at = stop;
  if (at < end_ && *at == '.') {
    stop = number->ScanDigits(at + 1, end_);
    if (stop == at + 1) return Unexpected("a number");
    number->integer = false;
    number->exponent = -(stop - at - 1);
    at = stop;
  }
  number->end = at;
  number->DropLeadingZeros();
  if (at < end_ && (*at == 'e' || *at == 'E')) {
    number->integer = false;
    number->end = at = ScanExponent(at + 1, number);
    if (at == nullptr) return Unexpected("a number");
  }
  at_ = at;
  return OkStatus();
}

Result<uint64_t> JsonReader::ReadMagnitude(bool* negative) {
  SkipBlanks();
  const char* begin = at_;
  Number number;
  KHEYA_RETURN_IF_ERROR(ScanNumber(&number));
  if (!number.integer) {
    at_ = begin;
    return Unexpected("an integer");
  }
  *negative = number.negative;
  if (number.digits <= kMaxMantissaDigits) return number.mantissa;
  uint64_t magnitude = 0;
  if (std::from_chars(begin + (*negative ? 1 : 0), number.end, magnitude).ec != std::errc()) {
    return OutOfRange(begin, "64 bits");
  }
  return magnitude;
}

Result<int64_t> JsonReader::ReadInt64() {
  int64_t value = 0;
  KHEYA_RETURN_IF_ERROR(ReadElement(&value));
  return value;
}

Result<uint64_t> JsonReader::ReadUint64() {
  uint64_t value = 0;
  KHEYA_RETURN_IF_ERROR(ReadElement(&value));
  return value;
}

Result<double> JsonReader::ReadDouble() {
  double value = 0;
  KHEYA_RETURN_IF_ERROR(ReadElement(&value));
  return value;
}

template <typename T>
Status JsonReader::ReadElement(T* out) {
  SkipBlanks();
  const char* begin = at_;
  if constexpr (std::is_same_v<T, bool>) {
    if (ConsumeWord("true") || ConsumeWord("1")) {
      *out = true;
    } else if (ConsumeWord("false") || ConsumeWord("0")) {
      *out = false;
    } else {
      return Unexpected("true or false");
    }
  } else if constexpr (std::is_floating_point_v<T>) {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    if (options_.allow_nan && at_ < end_ && (*at_ == 'N' || *at_ == 'I' || *at_ == '-')) {
      *out = std::numeric_limits<T>::quiet_NaN();
      if (ConsumeWord("NaN")) return OkStatus();
      *out = *at_ == '-' ? -kInfinity : kInfinity;
      if (ConsumeWord("Infinity") || ConsumeWord("-Infinity")) return OkStatus();
    }
    Number number;
    KHEYA_RETURN_IF_ERROR(ScanNumber(&number));
    double value = 0;
    if (!number.ToDouble(&value)) return OutOfRange(begin, TypeText<T>());
    *out = static_cast<T>(value);
    if (std::isinf(*out)) return OutOfRange(begin, TypeText<T>());
  } else {
    bool negative = false;
    KHEYA_ASSIGN_OR_RETURN(const uint64_t magnitude, ReadMagnitude(&negative));
    const auto max = static_cast<uint64_t>(std::numeric_limits<T>::max());
    const uint64_t limit = !negative ? max : std::is_signed_v<T> ? max + 1 : 0;
    if (magnitude > limit) return OutOfRange(begin, TypeText<T>());
    *out = static_cast<T>(negative ? uint64_t{0} - magnitude : magnitude);
  }
  return OkStatus();
}

Result<uint32_t> JsonReader::ReadHex4() {
  uint32_t code = 0;
  if (end_ - at_ < 4) return Unexpected("four hex digits");
  const auto [stop, error] = std::from_chars(at_, at_ + 4, code, 16);
  if (error != std::errc() || stop != at_ + 4) return Unexpected("four hex digits");
  at_ += 4;
  return code;
}

Status JsonReader::ReadEscape(std::string* out) {
  static constexpr std::string_view kNames = "\"\\/bfnrt";
  static constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
  if (at_ == end_) return Unexpected("an escape");
  const size_t simple = kNames.find(*at_);
  if (simple != kNames.npos) {
    out->push_back(kValues[simple]);
    ++at_;
    return OkStatus();
  }
  if (!ConsumeWord("u")) return Unexpected("an escape");
  KHEYA_ASSIGN_OR_RETURN(uint32_t code, ReadHex4());
  if (code >= 0xD800 && code < 0xDC00 && ConsumeWord("\\u")) {
    KHEYA_ASSIGN_OR_RETURN(const uint32_t low, ReadHex4());
    if (low < 0xDC00 || low > 0xDFFF) return Unexpected("the second half of a surrogate pair");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  if (code >= 0xD800 && code <= 0xDFFF) return Unexpected("the other half of a surrogate pair");
  AppendUtf8(code, out);
  return OkStatus();
}

Result<std::string> JsonReader::ReadString() {
  if (!Consume('"')) return Unexpected("a string");
  std::string text;
  while (true) {
    const char* stop = std::find_if(at_, end_, [](char c) {
      return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
    });
    text.append(at_, stop);
    at_ = stop;
    if (ConsumeWord("\"")) return text;
    if (!ConsumeWord("\\")) return Unexpected("the rest of a string");
    KHEYA_RETURN_IF_ERROR(ReadEscape(&text));
  }
}

Status JsonReader::Skip() {
  switch (Peek()) {
    case Type::kObject:
      return ReadObject([this](std::string_view) { return Skip(); });
    case Type::kArray:
      return ReadArray([this](int64_t) { return Skip(); });
    case Type::kString:
      return ReadString().status();
    case Type::kNumber: {
      if (options_.allow_nan &&
          (ConsumeWord("NaN") || ConsumeWord("Infinity") || ConsumeWord("-Infinity"))) {
        return OkStatus();
      }
      Number number;
      return ScanNumber(&number);
    }
    case Type::kBool:
      return ReadBool().status();
    case Type::kNull:
      return ConsumeWord("null") ? OkStatus() : Unexpected("null");
    case Type::kNothing:
      break;
  }
  return Unexpected("a value");
}

template <typename Element>
Result<std::vector<int64_t>> JsonReader::ReadNested(Element element) {
  const int outer_depth = depth_;
  ShapeTracker shape;
  const auto ragged = [this] {
    return InvalidArgumentError("json: ragged array at byte {}, expected rows of equal length",
                                position());
  };
  do {
    while (Consume('[')) {
      KHEYA_RETURN_IF_ERROR(Enter());
      if (!shape.Open()) return ragged();
    }
    SkipBlanks();
    const bool empty = !shape.AtTop() && shape.InsideEmpty() && at_ < end_ && *at_ == ']';
    if (!empty) {
      if (!shape.Element()) return ragged();
      KHEYA_RETURN_IF_ERROR(element());
      shape.CountOne();
    }
    while (!shape.AtTop() && Consume(']')) {
      if (!shape.Close()) return ragged();
      shape.CountOne();
      --depth_;
    }
  } while (!shape.AtTop() && Consume(','));
  if (!shape.AtTop()) return Unexpected("',' or ']'");
  depth_ = outer_depth;
  return shape.Take();
}

template <typename T>
Result<std::vector<int64_t>> JsonReader::ReadNumbers(Grow<T> grow) {
  std::span<T> room;
  size_t count = 0;
  return ReadNested([&]() -> Status {
    if (count == room.size()) {
      KHEYA_ASSIGN_OR_RETURN(room, grow(static_cast<int64_t>(count + 1)));
      if (room.size() <= count) return InternalError("no room for {} numbers", count + 1);
    }
    return ReadElement(&room[count++]);
  });
}

template Result<std::vector<int64_t>> JsonReader::ReadNumbers<float>(Grow<float>);
template Result<std::vector<int64_t>> JsonReader::ReadNumbers<double>(Grow<double>);
template Result<std::vector<int64_t>> JsonReader::ReadNumbers<bool>(Grow<bool>);
template Result<std::vector<int64_t>> JsonReader::ReadNumbers<int8_t>(Grow<int8_t>);
template Result<std::vector<int64_t>> JsonReader::ReadNumbers<int16_t>(Grow<int16_t>);
template Result<std::vector<int64_t>> JsonReader::ReadNumbers<int32_t>(Grow<int32_t>);
template Result<std::vector<int64_t>> JsonReader::ReadNumbers<int64_t>(Grow<int64_t>);
template Result<std::vector<int64_t>> JsonReader::ReadNumbers<uint8_t>(Grow<uint8_t>);
template Result<std::vector<int64_t>> JsonReader::ReadNumbers<uint16_t>(Grow<uint16_t>);
template Result<std::vector<int64_t>> JsonReader::ReadNumbers<uint32_t>(Grow<uint32_t>);
template Result<std::vector<int64_t>> JsonReader::ReadNumbers<uint64_t>(Grow<uint64_t>);

Result<std::vector<int64_t>> JsonReader::ReadStrings(std::vector<std::string>* out) {
  return ReadNested([&]() -> Status {
    KHEYA_ASSIGN_OR_RETURN(std::string text, ReadString());
    out->push_back(std::move(text));
    return OkStatus();
  });
}

Status JsonReader::Finish() {
  SkipBlanks();
  return at_ == end_ ? OkStatus() : Unexpected("the end");
}

}  // namespace kheya
