// The wire reader on any bytes: every field as everything it could be.
#include <cstdint>

#include "formats/onnx/value_file.h"
#include "formats/wire/protobuf_reader.h"

namespace {

void Walk(kheya::ProtobufReader reader, uint64_t& sum) {
  kheya::WireField field;
  while (reader.Next(field)) {
    (void)reader.Int64(field);
    (void)reader.Float(field);
    (void)reader.String(field);
    auto add = [&](uint64_t value) { sum += value; };
    (void)reader.VisitVarints(field, add);
    (void)reader.VisitFixed32(field, add);
    (void)reader.VisitFixed64(field, add);
    if (kheya::Result<kheya::ProtobufReader> inner = reader.Message(field); inner.ok()) {
      Walk(std::move(inner).value(), sum);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const kheya::ByteSpan bytes(reinterpret_cast<const std::byte*>(data), size);
  uint64_t sum = 0;
  Walk(kheya::ProtobufReader(bytes), sum);
  using kheya::ValueType;
  const ValueType tensor = ValueType::OfTensor(kheya::DType::kFloat32);
  for (const ValueType& type : {tensor, ValueType::OfSequence(ValueType::OfOptional(tensor)),
                                ValueType::OfMap(kheya::DType::kInt64, tensor)}) {
    (void)kheya::ReadValueProto(bytes, type);
  }
  return 0;
}
