// The small pieces of the text form of graphs, written and read: names, strings, numbers, elements
// of tensors.
#ifndef KHEYA_GRAPH_TEXT_TOKENS_H_
#define KHEYA_GRAPH_TEXT_TOKENS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace kheya::text {

// Letters, digits, '_', '.', '/': what names are made of that need no quotes.
bool IsNameChar(char c);
// The name as it is, or quoted when it is empty, "_" (which stands for a left-out value) or has
// other characters.
std::string QuoteName(std::string_view name);
// In double quotes; quotes, backslashes and control characters escaped, other bytes as they are.
std::string Quote(std::string_view text);

// The shortest text that reads back as the same bits: "1.0", "-0.0", "1e-05", "inf", "nan"; "0x"
// and the bits for other NaNs. Always recognizable as a float.
std::string FloatText(float value);
std::optional<float> ParseFloatText(std::string_view token);

// True when the elements of this type have a text of their own. Otherwise tensors are written as
// one blob of bytes, "0x0123".
bool HasElementText(DType dtype);
std::string ElementText(const Tensor& tensor, int64_t index);
// Appends the element that `token` means to `bytes`; false when it is not one, or out of range.
// Not for strings.
bool AppendElement(DType dtype, std::string_view token, std::vector<std::byte>& bytes);

std::string BlobText(std::span<const std::byte> bytes);
std::optional<std::vector<std::byte>> ParseBlobText(std::string_view token);

}  // namespace kheya::text

#endif  // KHEYA_GRAPH_TEXT_TOKENS_H_
