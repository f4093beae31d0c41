// The one place that knows oneDNN: its engine, its threads, its exceptions.
//
// Debian's oneDNN is the OpenMP build: a primitive is made for, and run by, as many threads as
// OpenMP allows on the calling thread. OneThread makes that one, wherever a primitive is made or
// run, so that no team of OpenMP threads ever starts.
#ifndef KHEYA_KERNELS_ONEDNN_LIBRARY_H_
#define KHEYA_KERNELS_ONEDNN_LIBRARY_H_

#include <initializer_list>
#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>
#include <utility>

#include "base/allocator.h"
#include "base/status.h"
#include "kernels/call.h"
#include "kernels/pack_cache.h"

namespace kheya::onednn {

// One OpenMP thread on this thread while it lives.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const int saved_;
};

const dnnl::engine& Engine();

// Throws dnnl::error where there is no memory for a primitive: oneDNN does not look whether it got
// memory for its code and its descriptions.
void RequireRoom();

// Calls f under OneThread when there is room; what oneDNN throws becomes a Status.
template <typename F>
Status Guard(F&& f) {
  const OneThread one_thread;
  try {
    RequireRoom();
    f();
    return OkStatus();
  } catch (const dnnl::error& error) {
    return error.status == dnnl_out_of_memory ? ResourceExhaustedError("oneDNN: {}", error.message)
                                              : UnimplementedError("oneDNN: {}", error.message);
  } catch (const std::bad_alloc&) {
    return ResourceExhaustedError("oneDNN: out of memory");
  }
}

// Throws dnnl::error for oneDNN's reference code, which is slower than our own, and without room.
// Called before each primitive is made.
void RefuseReference(std::string_view implementation);

// An argument of a primitive: DNNL_ARG_*, its description and its memory.
struct Argument {
  int id;
  const dnnl::memory::desc* desc;
  void* data;
};
// Runs a primitive on the calling thread with one thread.
Status Execute(const dnnl::primitive& primitive, std::initializer_list<Argument> arguments);

// oneDNN counts in 32 bits here and there: false when a tensor has too many elements for that.
bool SizesFit(const KernelCall& call);

// float32 or bfloat16.
dnnl::memory::data_type TypeOf(DType dtype);

// A convolution or product of bfloat16 that this processor has instructions for: input 0 is
// bfloat16; constant weights and the bias come as float32; the residual is of the output's type.
bool ComputesBf16(const KernelCall& call);

// What the primitive left of an activation, on `bytes` of float32 or bfloat16.
void Activate(const Elementwise& function, DType dtype, std::byte* data, size_t bytes);

// Appends an activation as a post-op. Gives what is left to apply to the results: the activation
// where oneDNN has none that computes the same, else the identity.
Elementwise AppendPostOp(const Elementwise& function, dnnl::post_ops* post_ops);

// `weights` from element `first` on, whose memory `from` describes, in the form `to`, made once and
// shared. Elements of 4 bytes.
Result<std::shared_ptr<const Buffer>> Pack(PackCache* cache, const Tensor& weights,
                                           const dnnl::memory::desc& from,
                                           const dnnl::memory::desc& to, size_t first = 0);

}  // namespace kheya::onednn

#endif  // KHEYA_KERNELS_ONEDNN_LIBRARY_H_
