// TensorReader: tensors of a model file, borrowing its memory where the layout allows.
#ifndef KHEYA_FORMATS_ONNX_TENSOR_READER_H_
#define KHEYA_FORMATS_ONNX_TENSOR_READER_H_

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/status.h"
#include "formats/onnx/proto.h"
#include "tensor/tensor.h"

namespace kheya::onnx {

// The files beside a model that hold its external data, each opened once.
class ExternalFiles {
 public:
  ExternalFiles(std::string folder, MappedFile::Options options)
      : folder_(std::move(folder)), options_(options) {}

  // `location` is relative to the model's folder, and must stay in it.
  Result<MappedFile> Open(std::string_view location);
  // Of all that were opened.
  std::vector<std::string> Paths() const;

 private:
  std::string folder_;
  MappedFile::Options options_;
  std::map<std::string, MappedFile, std::less<>> files_;
};

class TensorReader {
 public:
  // Tensors borrow the bytes of the message and keep `owner` alive; without an owner they are
  // copied. `external` null: external data is refused. It must outlive the reader.
  explicit TensorReader(std::shared_ptr<const void> owner, ExternalFiles* external = nullptr)
      : owner_(std::move(owner)), external_(external) {}

  // Raw, typed or external data. InvalidArgument when its size is not what type and dimensions
  // need, with the tensor's name. Raw and external data are borrowed and may be unaligned. Bools
  // are 0 or 1 whatever the file holds.
  Result<Tensor> Read(const TensorProto& proto) const;
  // A sparse tensor made dense, of at most limits::kDenseBytes.
  Result<Tensor> Read(const SparseTensorProto& proto) const;

 private:
  Result<Tensor> ReadUnnamed(const TensorProto& proto) const;
  Result<Tensor> ReadUnnamed(const SparseTensorProto& proto) const;
  Result<Tensor> ReadBytes(DType dtype, const Shape& shape, ByteSpan bytes,
                           const std::shared_ptr<const void>& owner) const;
  Result<Tensor> ReadExternal(const TensorProto& proto, DType dtype, const Shape& shape) const;

  std::shared_ptr<const void> owner_;
  ExternalFiles* external_;
};

}  // namespace kheya::onnx

#endif  // KHEYA_FORMATS_ONNX_TENSOR_READER_H_
