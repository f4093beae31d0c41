// Kheya's C++ API: the C API (kheya.h) with ownership and exceptions, header only, so that it works
// with any C++17 compiler against any library of the same ABI version.
//
//   kheya::Model model("mlp.onnx");
//   kheya::Session session(model);
//   session.SetInput<float>(0, {1, 3}, {1.0f, 2.0f, 3.0f});
//   session.Invoke();
//   kheya::TensorView<float> y = session.Output<float>(0);
//
// Errors: kheya::Error, with the code and a message of what was found and expected.
// Threads: a Model may be used by many threads at once, a Session by one at a time.
#ifndef KHEYA_KHEYA_HPP_
#define KHEYA_KHEYA_HPP_

#include <kheya/kheya.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace kheya {

class Error : public std::runtime_error {
 public:
  explicit Error(kheya_code code) : std::runtime_error(kheya_error_message()), code_(code) {}
  kheya_code code() const { return code_; }

 private:
  kheya_code code_;
};

namespace detail {

inline void Check(kheya_code code) {
  if (code != 0) throw Error(code);
}

template <typename T>
constexpr int32_t TypeNumber() = delete;
template <>
constexpr int32_t TypeNumber<float>() {
  return KHEYA_FLOAT32;
}
template <>
constexpr int32_t TypeNumber<double>() {
  return KHEYA_FLOAT64;
}
template <>
constexpr int32_t TypeNumber<bool>() {
  return KHEYA_BOOL;
}
template <>
constexpr int32_t TypeNumber<int8_t>() {
  return KHEYA_INT8;
}
template <>
constexpr int32_t TypeNumber<int16_t>() {
  return KHEYA_INT16;
}
template <>
constexpr int32_t TypeNumber<int32_t>() {
  return KHEYA_INT32;
}
template <>
constexpr int32_t TypeNumber<int64_t>() {
  return KHEYA_INT64;
}
template <>
constexpr int32_t TypeNumber<uint8_t>() {
  return KHEYA_UINT8;
}
template <>
constexpr int32_t TypeNumber<uint16_t>() {
  return KHEYA_UINT16;
}
template <>
constexpr int32_t TypeNumber<uint32_t>() {
  return KHEYA_UINT32;
}
template <>
constexpr int32_t TypeNumber<uint64_t>() {
  return KHEYA_UINT64;
}

}  // namespace detail

// Name, element type and dimensions of an input or output; -1: not known before a run.
struct TensorInfo {
  std::string name;
  int32_t dtype = 0;
  bool rank_known = false;
  std::vector<int64_t> dims;
};

// Elements that the session owns, until its next Invoke.
template <typename T>
struct TensorView {
  std::vector<int64_t> dims;
  const T* data = nullptr;
  size_t size = 0;
  const T* begin() const { return data; }
  const T* end() const { return data + size; }
  const T& operator[](size_t i) const { return data[i]; }
};

class Model {
 public:
  // `precision` and `tolerance` as in kheya_options.
  explicit Model(const std::string& path, int threads = 0, const std::string& device = "auto",
                 const std::string& precision = "fp32", double tolerance = 0) {
    kheya_options options = {sizeof(options), device.c_str(), threads, precision.c_str(),
                             tolerance};
    kheya_model* model = nullptr;
    detail::Check(kheya_model_load(path.c_str(), &options, &model));
    model_.reset(model);
  }

  std::vector<TensorInfo> inputs() const {
    return Infos(kheya_model_input_count(get()), kheya_model_input);
  }
  std::vector<TensorInfo> outputs() const {
    return Infos(kheya_model_output_count(get()), kheya_model_output);
  }
  // Empty when the file has no such key.
  std::string metadata(const std::string& key) const {
    const char* value = kheya_model_metadata(get(), key.c_str());
    return value == nullptr ? std::string() : std::string(value);
  }
  const kheya_model* get() const { return model_.get(); }

 private:
  struct Destroy {
    void operator()(kheya_model* model) const { kheya_model_destroy(model); }
  };
  using Getter = kheya_code (*)(const kheya_model*, int32_t, kheya_tensor*);
  std::vector<TensorInfo> Infos(int32_t count, Getter getter) const {
    std::vector<TensorInfo> infos;
    for (int32_t i = 0; i < count; ++i) {
      kheya_tensor t = {};
      t.struct_size = sizeof(t);
      detail::Check(getter(get(), i, &t));
      TensorInfo info;
      info.name = t.name;
      info.dtype = t.dtype;
      info.rank_known = t.rank >= 0;
      if (t.rank > 0) info.dims.assign(t.dims, t.dims + t.rank);
      infos.push_back(std::move(info));
    }
    return infos;
  }
  std::unique_ptr<kheya_model, Destroy> model_;
};

class Session {
 public:
  explicit Session(const Model& model) {
    kheya_session* session = nullptr;
    detail::Check(kheya_session_create(model.get(), &session));
    session_.reset(session);
  }

  // Copies `count` elements from `data`; count must be the product of `dims`.
  template <typename T>
  void SetInput(int index, const std::vector<int64_t>& dims, const T* data, size_t count) {
    kheya_tensor t = {};
    t.struct_size = sizeof(t);
    t.dtype = detail::TypeNumber<T>();
    t.rank = static_cast<int32_t>(dims.size());
    t.dims = dims.data();
    t.data = data;
    t.data_bytes = count * sizeof(T);
    detail::Check(kheya_session_set_input(session_.get(), index, &t));
  }
  template <typename T>
  void SetInput(int index, const std::vector<int64_t>& dims, const std::vector<T>& values) {
    SetInput<T>(index, dims, values.data(), values.size());
  }

  void Invoke() { detail::Check(kheya_session_invoke(session_.get())); }

  // Throws std::invalid_argument when T is not the output's element type.
  template <typename T>
  TensorView<T> Output(int index) const {
    kheya_tensor t = {};
    t.struct_size = sizeof(t);
    detail::Check(kheya_session_get_output(session_.get(), index, &t));
    if (t.dtype != detail::TypeNumber<T>()) {
      throw std::invalid_argument("the output has another element type");
    }
    TensorView<T> view;
    if (t.rank > 0) view.dims.assign(t.dims, t.dims + t.rank);
    view.data = static_cast<const T*>(t.data);
    view.size = t.data_bytes / sizeof(T);
    return view;
  }

 private:
  struct Destroy {
    void operator()(kheya_session* session) const { kheya_session_destroy(session); }
  };
  std::unique_ptr<kheya_session, Destroy> session_;
};

}  // namespace kheya

#endif  // KHEYA_KHEYA_HPP_
