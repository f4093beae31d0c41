// Values in JSON: numbers go from the text straight into the tensor, and back.
#ifndef KHEYA_SERVE_API_TENSOR_JSON_H_
#define KHEYA_SERVE_API_TENSOR_JSON_H_

#include <string>

#include "base/json_reader.h"
#include "base/status.h"
#include "serve/api/answer_body.h"
#include "tensor/value.h"

namespace kheya {

// Reads nested arrays as an instance of `type`, a tensor; the nesting is the shape. Integers may
// stand for floats, and 0 and 1 for booleans; a complex number is a pair [real, imaginary].
// InvalidArgument with the shape that was found and the one that was expected; OutOfRange for
// numbers that the type cannot hold.
Result<Tensor> ReadJsonTensor(JsonReader& reader, const ValueType& type);

// The most items that sequences and maps of one value may have together.
inline constexpr int64_t kMaxJsonItems = int64_t{1} << 18;

// Reads an instance of `type`: a sequence is an array, a map an object whose keys stand for whole
// numbers where the type says so, an optional without a value null, a tensor as above.
// ResourceExhausted for more than kMaxJsonItems.
Result<Value> ReadJsonValue(JsonReader& reader, const ValueType& type);

// Reads the elements of a tensor of known type and shape, in row-major order, nested in any way
// that has that many. InvalidArgument when the count differs.
Result<Tensor> ReadJsonElements(JsonReader& reader, DType dtype, const Shape& shape);

// Appends the elements as one flat array, or nested as the shape says (a scalar: a bare value).
// Floats have the fewest digits that give the same bits back; NaN and infinities, which JSON lacks,
// are null. InvalidArgument for strings that are not UTF-8, which only the binary form can carry;
// and what stops the body.
Status AppendJsonElements(const Tensor& tensor, AnswerBody* out);
Status AppendJsonTensor(const Tensor& tensor, AnswerBody* out);

// Any value, as ReadJsonValue reads it.
Status AppendJsonValue(const Value& value, AnswerBody* out);

void AppendJsonFloat(float value, std::string* out);

// `text` as a JSON string, with its quotes.
void AppendJsonString(std::string_view text, std::string* out);

}  // namespace kheya

#endif  // KHEYA_SERVE_API_TENSOR_JSON_H_
