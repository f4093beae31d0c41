// JsonReader: one forward walk over JSON text, without a tree, for request bodies that are mostly
// numbers. Nested arrays of numbers go straight into the caller's storage.
//
//   KHEYA_ASSIGN_OR_RETURN(JsonReader reader, JsonReader::Open(body, options));
//   KHEYA_RETURN_IF_ERROR(reader.ReadObject([&](std::string_view key) -> Status {
//     if (key != "input") return reader.Skip();
//     KHEYA_ASSIGN_OR_RETURN(shape, reader.ReadNumbers<float>(grow));
//     return OkStatus();
//   }));
//   KHEYA_RETURN_IF_ERROR(reader.Finish());
//
// Every member that is called consumes exactly one value, or fails with InvalidArgument (the text),
// OutOfRange (a number) or ResourceExhausted (a limit) and the byte where it happened; after a
// failure only Seek makes sense. The text is borrowed. Thread safety: none.
#ifndef KHEYA_BASE_JSON_READER_H_
#define KHEYA_BASE_JSON_READER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "base/status.h"

namespace kheya {

class JsonReader {
 public:
  struct Options {
    size_t max_bytes = size_t{1} << 30;
    int max_depth = 100;
    bool allow_nan = false;  // the tokens NaN, Infinity and -Infinity where a float may stand
  };
  enum class Type { kNull, kBool, kNumber, kString, kArray, kObject, kNothing };

  // Checks the size and that the text is UTF-8; syntax is checked on the way.
  static Result<JsonReader> Open(std::string_view text, const Options& options);
  static Result<JsonReader> Open(std::string_view text) { return Open(text, Options()); }

  // What the next value looks like; kNothing when none can begin here.
  Type Peek();

  // Calls `member` for each key, duplicates included; it must consume the member's value. The key
  // lives until it returns.
  Status ReadObject(FunctionRef<Status(std::string_view key)> member);
  // Calls `item` for each item; it must consume it.
  Status ReadArray(FunctionRef<Status(int64_t index)> item);
  Result<bool> ReadBool();
  // Only integers without a fraction and exponent, exact over the whole range.
  Result<int64_t> ReadInt64();
  Result<uint64_t> ReadUint64();
  Result<double> ReadDouble();
  // Escapes resolved; an unpaired surrogate is refused.
  Result<std::string> ReadString();
  Status Skip();

  // Room for at least `count` elements, those written so far kept in front. It is called first
  // with 1, and again whenever the room is full; failing ends the reading.
  template <typename T>
  using Grow = FunctionRef<Result<std::span<T>>(int64_t count)>;

  // Reads a number or nested arrays of numbers in row-major order and returns the shape: {} for a
  // number, {2, 3} for [[1,2,3],[4,5,6]], {0} for []. Ragged arrays are refused.
  // T: float, double, bool (true, false, 0 and 1) or a fixed-width integer; numbers that do not fit
  // are OutOfRange. Floats also take integers.
  template <typename T>
  Result<std::vector<int64_t>> ReadNumbers(Grow<T> grow);
  // The same for strings, which are appended to `out`.
  Result<std::vector<int64_t>> ReadStrings(std::vector<std::string>* out);

  // Ok when only blanks follow.
  Status Finish();

  // The byte offset now, to come back to a value that had to be skipped.
  size_t position() const { return static_cast<size_t>(at_ - begin_); }
  // `position` must come from position().
  void Seek(size_t position) { at_ = begin_ + position; }

 private:
  struct Number;
  JsonReader(std::string_view text, const Options& options);

  void SkipBlanks();
  bool Consume(char c);
  bool ConsumeWord(std::string_view word);
  Status Unexpected(const char* expected) const;
  Status OutOfRange(const char* begin, const char* kind) const;
  Status Enter();
  const char* ScanExponent(const char* at, Number* number) const;
  Status ScanNumber(Number* number);
  Status ReadEscape(std::string* out);
  Result<uint32_t> ReadHex4();
  template <typename T>
  Status ReadElement(T* out);
  Result<uint64_t> ReadMagnitude(bool* negative);
  template <typename Element>
  Result<std::vector<int64_t>> ReadNested(Element element);

  const char* begin_;
  const char* at_;
  const char* end_;
  Options options_;
  int depth_ = 0;
};

}  // namespace kheya

#endif  // KHEYA_BASE_JSON_READER_H_
