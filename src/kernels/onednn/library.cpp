#include "kernels/onednn/library.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/hash.h"

// Of the OpenMP runtime that oneDNN uses; its header would need the compiler's OpenMP mode.
extern "C" int omp_get_max_threads();
extern "C" void omp_set_num_threads(int threads);

namespace kheya {

std::string OneDnnVersion();
std::string OneDnnVersion() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

}  // namespace kheya

namespace kheya::onednn {
namespace {

struct MemoryDeleter {
  void operator()(dnnl_memory_t memory) const { dnnl_memory_destroy(memory); }
};
using MemoryHandle = std::unique_ptr<dnnl_memory, MemoryDeleter>;

// Null when oneDNN has no memory for it.
dnnl_stream_t ThreadStream() {
  struct StreamDeleter {
    void operator()(dnnl_stream_t stream) const { dnnl_stream_destroy(stream); }
  };
  thread_local std::unique_ptr<dnnl_stream, StreamDeleter> stream;
  if (stream == nullptr) {
    dnnl_stream_t made = nullptr;
    dnnl_stream_create(&made, Engine().get(), dnnl_stream_default_flags);
    stream.reset(made);
  }
  return stream.get();
}

struct PostOp {
  dnnl::algorithm algorithm;
  float alpha;
  float beta;
};

std::optional<PostOp> PostOpOf(const Elementwise& function) {
  using dnnl::algorithm;
  switch (function.op) {
    case ElementwiseOp::kLeakyRelu:
      return PostOp{algorithm::eltwise_relu, function.alpha, 0};
    case ElementwiseOp::kElu:
      return PostOp{algorithm::eltwise_elu, function.alpha, 0};
    case ElementwiseOp::kSigmoid:
      return PostOp{algorithm::eltwise_logistic, 0, 0};
    case ElementwiseOp::kTanh:
      return PostOp{algorithm::eltwise_tanh, 0, 0};
    case ElementwiseOp::kGelu:
      return PostOp{algorithm::eltwise_gelu_erf, 0, 0};
    case ElementwiseOp::kGeluTanh:
      return PostOp{algorithm::eltwise_gelu_tanh, 0, 0};
    case ElementwiseOp::kSilu:
      return PostOp{algorithm::eltwise_swish, function.alpha, 0};
    case ElementwiseOp::kHardSwish:
      return PostOp{algorithm::eltwise_hardswish, 0, 0};
    default:  // Relu and Clip of oneDNN make numbers of NaNs
      return std::nullopt;
  }
}

}  // namespace

OneThread::OneThread() : saved_(omp_get_max_threads()) {
  if (saved_ != 1) omp_set_num_threads(1);
}

OneThread::~OneThread() {
  if (saved_ != 1) omp_set_num_threads(saved_);
}

const dnnl::engine& Engine() {
  static const auto* engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

void RequireRoom() {
  constexpr size_t kBytes = size_t{8} << 20;
  void* room = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) throw dnnl::error(dnnl_out_of_memory, "no memory for a primitive");
  munmap(room, kBytes);
}

void RefuseReference(std::string_view implementation) {
  RequireRoom();
  if (implementation.starts_with("ref")) {
    throw dnnl::error(dnnl_unimplemented, "only its reference code computes this");
  }
}

Status Execute(const dnnl::primitive& primitive, std::initializer_list<Argument> arguments) {
  constexpr size_t kMostArguments = 8;
  std::array<dnnl_exec_arg_t, kMostArguments> args;
  std::array<MemoryHandle, kMostArguments> handles;
  size_t count = 0;
  const OneThread one_thread;
  for (const Argument& argument : arguments) {
    if (argument.data == nullptr) continue;
    dnnl_memory_t memory = nullptr;
    if (dnnl_memory_create(&memory, &argument.desc->data, Engine().get(), argument.data) !=
        dnnl_success) {
      return ResourceExhaustedError("oneDNN: cannot describe an argument");
    }
    handles[count].reset(memory);
    args[count++] = {argument.id, memory};
  }
  const dnnl_status_t status =
      dnnl_primitive_execute(primitive.get(), ThreadStream(), static_cast<int>(count), args.data());
  if (status != dnnl_success) return InternalError("oneDNN: execution failed ({})", int{status});
  return OkStatus();
}

bool SizesFit(const KernelCall& call) {
  const auto fits = [](const TensorDesc& desc) {
    return desc.shape.num_elements() <= std::numeric_limits<int32_t>::max() / 4;
  };
  return std::all_of(call.inputs.begin(), call.inputs.end(), fits) &&
         std::all_of(call.outputs.begin(), call.outputs.end(), fits);
}

Elementwise AppendPostOp(const Elementwise& function, dnnl::post_ops* post_ops) {
  const std::optional<PostOp> op = PostOpOf(function);
  if (!op) return function;
  post_ops->append_eltwise(1.0f, op->algorithm, op->alpha, op->beta);
  return Elementwise();
}

Result<std::shared_ptr<const Buffer>> Pack(PackCache* cache, const Tensor& weights,
                                           const dnnl::memory::desc& from,
                                           const dnnl::memory::desc& to, size_t first) {
  const auto key_of = [](const dnnl::memory::desc& desc) {
    return HashBytes(std::as_bytes(std::span(&desc.data, 1))).ToHex();
  };
  const auto pack = [&]() -> Result<Buffer> {
    KHEYA_ASSIGN_OR_RETURN(Buffer buffer, Buffer::AllocateZeroed(to.get_size(), cache->budget()));
    KHEYA_RETURN_IF_ERROR(Guard([&] {
      dnnl::memory source(from, Engine(),
                          const_cast<std::byte*>(weights.bytes().data()) + 4 * first);
      dnnl::memory target(to, Engine(), buffer.data());
      dnnl::stream stream(Engine());
      dnnl::reorder(source, target).execute(stream, source, target);
      stream.wait();
    }));
    return buffer;
  };
  const std::string layout = fmt::format("onednn:{}:{}:{}", key_of(from), key_of(to), first);
  return cache->Get(weights, layout, to.get_size(), pack);
}

}  // namespace kheya::onednn
