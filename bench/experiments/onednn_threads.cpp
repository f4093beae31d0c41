// How should an OpenMP build of oneDNN run under the CPU ledger? Times one step (a convolution or a
// matrix product) whole and cut into slices, on one thread, on two OpenMP threads and on two
// threads of the Runtime, in both activation layouts, and counts the threads that eight concurrent
// callers bring to life. Prints two Markdown tables.
//
//   onednn_threads [repetitions]
#include <fmt/core.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/cpu_ledger.h"
#include "base/random.h"

namespace kheya {
namespace {

using dnnl::memory;
using Dims = memory::dims;
using Tag = memory::format_tag;

constexpr int kInARow = 5;

const dnnl::engine& Engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

// The number of OpenMP threads of the calling thread, put back at the end.
class ScopedOmpThreads {
 public:
  explicit ScopedOmpThreads(int threads) : saved_(omp_get_max_threads()) {
    omp_set_num_threads(threads);
  }
  ~ScopedOmpThreads() { omp_set_num_threads(saved_); }

 private:
  const int saved_;
};

struct Conv {
  const char* name;
  int64_t in, out, groups, size, kernel, stride;
  int64_t pad() const { return kernel / 2; }
  int64_t out_size() const { return (size + 2 * pad() - kernel) / stride + 1; }
  double flops() const {
    return 2.0 *
           static_cast<double>(out_size() * out_size() * out * (in / groups) * kernel * kernel);
  }
};

struct Matmul {
  const char* name;
  int64_t m, k, n;
  double flops() const { return 2.0 * static_cast<double>(m * k * n); }
};

// One way to do a step: primitives that together write the whole output.
struct Way {
  std::string name;
  std::string implementation;
  struct Slice {
    dnnl::primitive primitive;
    std::unordered_map<int, memory> args;
  };
  std::vector<Slice> slices;
  enum class Run { kOneThread, kOpenMp, kLedger } run = Run::kOneThread;
  double best_seconds = 1e9;
};

memory Random(const memory::desc& desc, uint64_t seed) {
  memory result(desc, Engine());
  kheya::Random random(seed);
  auto* values = static_cast<float*>(result.get_data_handle());
  for (size_t i = 0; i < desc.get_size() / sizeof(float); ++i) values[i] = random.Uniform(-1, 1);
  return result;
}

// A part of `whole` along one dimension that lies in one piece: a dense memory with a moved start.
// (oneDNN has no fast implementation for views with larger strides.)
memory Part(const memory& whole, int axis, int64_t begin, int64_t count, Tag tag) {
  Dims dims = whole.get_desc().dims();
  Dims offsets(dims.size(), 0);
  dims[static_cast<size_t>(axis)] = count;
  offsets[static_cast<size_t>(axis)] = begin;
  const int64_t offset = whole.get_desc().submemory_desc(dims, offsets).data.offset0;
  return memory({dims, memory::data_type::f32, tag}, Engine(),
                static_cast<float*>(whole.get_data_handle()) + offset);
}

// Packs `plain` as the primitive wants it, once for each layout that slices ask for.
class Packer {
 public:
  memory Pack(const memory& plain, const memory::desc& wanted) {
    for (const auto& [source, packed] : done_) {
      if (source.get_data_handle() == plain.get_data_handle() && packed.get_desc() == wanted) {
        return packed;
      }
    }
    memory from = plain;
    memory packed(wanted, Engine());
    dnnl::stream stream(Engine());
    dnnl::reorder(from, packed).execute(stream, from, packed);
    stream.wait();
    done_.emplace_back(plain, packed);
    return packed;
  }

 private:
  std::vector<std::pair<memory, memory>> done_;
};

dnnl::primitive_attr Attributes(bool relu) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (relu) {
    dnnl::post_ops ops;
    ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
    attr.set_post_ops(ops);
  }
  return attr;
}

class ConvBench {
 public:
  ConvBench(const Conv& conv, bool nhwc)
      : conv_(conv),
        src_tag_(nhwc           ? Tag::nhwc
                 : conv.in < 16 ? Tag::nchw
                                : Tag::nChw16c),
        dst_tag_(nhwc ? Tag::nhwc : Tag::nChw16c) {
    const Dims src = {1, conv.in, conv.size, conv.size};
    const Dims dst = {1, conv.out, conv.out_size(), conv.out_size()};
    src_ = Random({src, memory::data_type::f32, src_tag_}, 1);
    dst_ = memory({dst, memory::data_type::f32, dst_tag_}, Engine());
    const Dims weights = conv.groups == 1 ? Dims{conv.out, conv.in, conv.kernel, conv.kernel}
                                          : Dims{conv.groups, 1, 1, conv.kernel, conv.kernel};
    weights_ =
        Random({weights, memory::data_type::f32, conv.groups == 1 ? Tag::oihw : Tag::goihw}, 2);
    bias_ = Random({{conv.out}, memory::data_type::f32, Tag::x}, 3);
  }

  const memory& dst() const { return dst_; }

  Way Whole(const char* name, Way::Run run, int threads) {
    ScopedOmpThreads scoped(threads);
    Way way{name, "", {}, run};
    AddSlice(&way, src_, dst_, weights_, bias_, conv_.groups, conv_.pad(), conv_.pad());
    return way;
  }

  // Slices of output channels; of whole groups in a depthwise convolution.
  Way ByChannels(const std::string& name, Way::Run run, int64_t parts) {
    ScopedOmpThreads one(1);
    Way way{name, "", {}, run};
    const int64_t step = (conv_.out / parts + 15) / 16 * 16;
    for (int64_t begin = 0; begin < conv_.out; begin += step) {
      const int64_t count = std::min(step, conv_.out - begin);
      const bool depthwise = conv_.groups > 1;
      AddSlice(&way, depthwise ? Part(src_, 1, begin, count, src_tag_) : src_,
               Part(dst_, 1, begin, count, dst_tag_),
               Part(weights_, 0, begin, count, depthwise ? Tag::goihw : Tag::oihw),
               Part(bias_, 0, begin, count, Tag::x), depthwise ? count : 1, conv_.pad(),
               conv_.pad());
    }
    return way;
  }

  // Slices of output rows, with the input rows that each needs.
  Way ByRows(const std::string& name, Way::Run run, int64_t parts) {
    ScopedOmpThreads one(1);
    Way way{name, "", {}, run};
    const int64_t rows = conv_.out_size();
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t begin = rows * part / parts;
      const int64_t end = rows * (part + 1) / parts;
      const int64_t first = begin * conv_.stride - conv_.pad();
      const int64_t last = (end - 1) * conv_.stride - conv_.pad() + conv_.kernel;
      const int64_t from = std::max<int64_t>(first, 0);
      const int64_t to = std::min(last, conv_.size);
      AddSlice(&way, Part(src_, 2, from, to - from, src_tag_),
               Part(dst_, 2, begin, end - begin, dst_tag_), weights_, bias_, conv_.groups,
               from - first, last - to);
    }
    return way;
  }

 private:
  using Descriptor = dnnl::convolution_forward::primitive_desc;

  Descriptor Describe(const memory::desc& src, const memory::desc& dst, int64_t out, int64_t groups,
                      int64_t top, int64_t bottom) {
    const Dims weights = groups == 1 ? Dims{out, conv_.in, conv_.kernel, conv_.kernel}
                                     : Dims{groups, 1, 1, conv_.kernel, conv_.kernel};
    const dnnl::convolution_forward::desc desc(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, src,
        {weights, memory::data_type::f32, Tag::any}, {{out}, memory::data_type::f32, Tag::x}, dst,
        {conv_.stride, conv_.stride}, {top, conv_.pad()}, {bottom, conv_.pad()});
    return Descriptor(desc, Attributes(true), Engine());
  }

  void AddSlice(Way* way, const memory& src, const memory& dst, const memory& weights,
                const memory& bias, int64_t groups, int64_t top, int64_t bottom) {
    const int64_t out = dst.get_desc().dims()[1];
    const Descriptor pd = Describe(src.get_desc(), dst.get_desc(), out, groups, top, bottom);
    const memory packed = packer_.Pack(weights, pd.weights_desc());
    way->implementation = pd.impl_info_str();
    way->slices.push_back({dnnl::convolution_forward(pd),
                           {{DNNL_ARG_SRC, src},
                            {DNNL_ARG_WEIGHTS, packed},
                            {DNNL_ARG_BIAS, bias},
                            {DNNL_ARG_DST, dst},
                            {DNNL_ARG_SCRATCHPAD, memory(pd.scratchpad_desc(), Engine())}}});
  }

  const Conv conv_;
  const Tag src_tag_, dst_tag_;
  Packer packer_;
  memory src_, dst_, weights_, bias_;
};

// Columns of a matrix, copied.
memory Columns(const memory& whole, int64_t begin, int64_t count) {
  const Dims dims = whole.get_desc().dims();
  memory part({{dims[0], count}, memory::data_type::f32, Tag::ab}, Engine());
  const auto* from = static_cast<const float*>(whole.get_data_handle()) + begin;
  auto* to = static_cast<float*>(part.get_data_handle());
  for (int64_t r = 0; r < dims[0]; ++r) std::copy_n(from + r * dims[1], count, to + r * count);
  return part;
}

class MatmulBench {
 public:
  explicit MatmulBench(const Matmul& shape)
      : src_(Random({{shape.m, shape.k}, memory::data_type::f32, Tag::ab}, 1)),
        dst_({{shape.m, shape.n}, memory::data_type::f32, Tag::ab}, Engine()),
        weights_(Random({{shape.k, shape.n}, memory::data_type::f32, Tag::ab}, 2)),
        bias_(Random({{1, shape.n}, memory::data_type::f32, Tag::ab}, 3)) {}

  const memory& dst() const { return dst_; }

  Way Cut(const std::string& name, Way::Run run, int threads, int axis, int64_t parts) {
    ScopedOmpThreads scoped(threads);
    Way way{name, "", {}, run};
    const int64_t total = dst_.get_desc().dims()[static_cast<size_t>(axis)];
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t begin = total * part / parts;
      const int64_t count = total * (part + 1) / parts - begin;
      const bool rows = axis == 0;
      AddSlice(&way, rows ? Part(src_, 0, begin, count, Tag::ab) : src_,
               Part(dst_, axis, begin, count, Tag::ab),
               rows ? weights_ : Columns(weights_, begin, count),
               rows ? bias_ : Part(bias_, 1, begin, count, Tag::ab));
    }
    return way;
  }

 private:
  void AddSlice(Way* way, const memory& src, const memory& dst, const memory& weights,
                const memory& bias) {
    const memory::desc any(weights.get_desc().dims(), memory::data_type::f32, Tag::any);
    const dnnl::matmul::primitive_desc pd(
        dnnl::matmul::desc(src.get_desc(), any, bias.get_desc(), dst.get_desc()), Attributes(false),
        Engine());
    const memory packed = packer_.Pack(weights, pd.weights_desc());
    way->implementation = pd.impl_info_str();
    way->slices.push_back({dnnl::matmul(pd),
                           {{DNNL_ARG_SRC, src},
                            {DNNL_ARG_WEIGHTS, packed},
                            {DNNL_ARG_BIAS, bias},
                            {DNNL_ARG_DST, dst},
                            {DNNL_ARG_SCRATCHPAD, memory(pd.scratchpad_desc(), Engine())}}});
  }

  Packer packer_;
  memory src_, dst_, weights_, bias_;
};

void RunWay(const Way& way, int threads, Runtime* runtime, const CpuLease& lease) {
  const auto execute = [&](int64_t i) {
    ScopedOmpThreads scoped(threads);
    thread_local dnnl::stream stream(Engine());
    const Way::Slice& slice = way.slices[static_cast<size_t>(i)];
    slice.primitive.execute(stream, slice.args);
  };
  const auto count = static_cast<int64_t>(way.slices.size());
  if (way.run == Way::Run::kLedger) {
    runtime->ParallelFor(lease, count, execute);
  } else {
    for (int64_t i = 0; i < count; ++i) execute(i);
  }
}

void RunWay(const Way& way, Runtime* runtime, const CpuLease& lease) {
  RunWay(way, way.run == Way::Run::kOpenMp ? 2 : 1, runtime, lease);
}

std::vector<float> Content(const memory& m) {
  const auto* values = static_cast<const float*>(m.get_data_handle());
  return {values, values + m.get_desc().get_size() / sizeof(float)};
}

// Minimum of many rounds; each round runs every way a few times in a row, as the steps of a model
// do, so that all meet the same disturbances and find their threads awake.
void Time(std::vector<Way>* ways, const memory& dst, int repetitions, Runtime* runtime) {
  Result<CpuLease> lease = runtime->ledger().Acquire(2);
  std::vector<float> expected;
  for (Way& way : *ways) {
    std::fill_n(static_cast<float*>(dst.get_data_handle()), dst.get_desc().get_size() / 4, -1.0f);
    RunWay(way, runtime, *lease);
    const std::vector<float> found = Content(dst);
    if (expected.empty()) expected = found;
    for (size_t i = 0; i < found.size(); ++i) {
      if (std::abs(found[i] - expected[i]) <= 1e-3f * (1 + std::abs(expected[i]))) continue;
      fmt::print("WRONG: '{}' at {}: {} against {}\n", way.name, i, found[i], expected[i]);
      std::exit(1);
    }
  }
  for (int round = 0; round < repetitions; ++round) {
    for (Way& way : *ways) {
      for (int i = 0; i < kInARow; ++i) {
        const auto begin = Clock::now();
        RunWay(way, runtime, *lease);
        const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        way.best_seconds = std::min(way.best_seconds, seconds);
      }
      // libgomp's threads spin for some milliseconds after their work and would disturb the next.
      if (way.run == Way::Run::kOpenMp) std::this_thread::sleep_for(std::chrono::milliseconds(8));
    }
  }
}

void PrintRows(const std::string& step, double flops, const std::vector<Way>& ways) {
  for (const Way& way : ways) {
    fmt::print("| {} | {} | {} | {:.3f} | {:.0f} |\n", step, way.name, way.implementation,
               way.best_seconds * 1e3, flops / way.best_seconds * 1e-9);
  }
  std::fflush(stdout);
}

void AddWay(std::vector<Way>* ways, const std::string& name, const std::function<Way()>& make) {
  try {
    ways->push_back(make());
  } catch (const dnnl::error& error) {
    fmt::print("| | {} | not possible: {} | | |\n", name, error.what());
  }
}

void TimeConv(const Conv& conv, bool nhwc, int repetitions, Runtime* runtime) {
  using Run = Way::Run;
  ConvBench bench(conv, nhwc);
  std::vector<Way> ways;
  const std::string layout = nhwc ? "nhwc" : "nChw16c";
  const auto add = [&](const std::string& name,
                       const std::function<Way(const std::string&)>& make) {
    AddWay(&ways, layout + ", " + name, [&] { return make(layout + ", " + name); });
  };
  add("whole, 1 thread", [&](const auto& n) { return bench.Whole(n.c_str(), Run::kOneThread, 1); });
  add("whole, 2 OpenMP", [&](const auto& n) { return bench.Whole(n.c_str(), Run::kOpenMp, 2); });
  for (const int64_t parts : {2, 4}) {
    for (const Run run : {Run::kOneThread, Run::kLedger}) {
      const std::string name = fmt::format("{} {} slices, {}", parts, nhwc ? "row" : "channel",
                                           run == Run::kLedger ? "2 ledger" : "1 thread");
      add(name, [&](const auto& n) {
        return nhwc ? bench.ByRows(n, run, parts) : bench.ByChannels(n, run, parts);
      });
    }
  }
  Time(&ways, bench.dst(), repetitions, runtime);
  PrintRows(conv.name, conv.flops(), ways);
}

void TimeMatmul(const Matmul& shape, int repetitions, Runtime* runtime) {
  using Run = Way::Run;
  MatmulBench bench(shape);
  std::vector<Way> ways;
  const auto add = [&](const std::string& name, Run run, int threads, int axis, int64_t parts) {
    AddWay(&ways, name, [&] { return bench.Cut(name, run, threads, axis, parts); });
  };
  add("whole, 1 thread", Run::kOneThread, 1, 1, 1);
  add("whole, 2 OpenMP", Run::kOpenMp, 2, 1, 1);
  for (const int64_t parts : {2, 4}) {
    for (const Run run : {Run::kOneThread, Run::kLedger}) {
      const char* who = run == Run::kLedger ? "2 ledger" : "1 thread";
      if (shape.m == 1) add(fmt::format("{} column slices, {}", parts, who), run, 1, 1, parts);
      if (shape.m >= parts) add(fmt::format("{} row slices, {}", parts, who), run, 1, 0, parts);
    }
  }
  Time(&ways, bench.dst(), repetitions, runtime);
  PrintRows(shape.name, shape.flops(), ways);
}

int ThreadsNow() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Eight callers run one step at once; prints how many threads the process has then, callers not
// counted, and how much CPU time it still burns from 1 to 21 ms after a single caller's step.
void CountThreads(const char* name, int omp_threads, bool ledger) {
  const Conv conv = {"", 128, 128, 1, 28, 3, 1};
  Runtime runtime;
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  const int before = ThreadsNow();
  std::vector<std::thread> callers;
  for (int c = 0; c < 8; ++c) {
    callers.emplace_back([&] {
      ConvBench bench(conv, false);
      const Way way = ledger ? bench.ByChannels("", Way::Run::kLedger, 4)
                             : bench.Whole("", Way::Run::kOneThread, omp_threads);
      running++;
      while (running < 8) std::this_thread::yield();
      for (int i = 0; i < 20; ++i) {
        Result<CpuLease> lease = ledger ? runtime.ledger().Acquire(2) : CpuLease();
        RunWay(way, omp_threads, &runtime, *lease);
        most = std::max(most.load(), ThreadsNow());
      }
      running--;
      while (running > 0) std::this_thread::yield();
    });
  }
  for (std::thread& caller : callers) caller.join();
  ConvBench bench(conv, false);
  const Way way = ledger ? bench.ByChannels("", Way::Run::kLedger, 4)
                         : bench.Whole("", Way::Run::kOneThread, omp_threads);
  Result<CpuLease> lease = runtime.ledger().Acquire(2);
  for (int i = 0; i < 20; ++i) RunWay(way, omp_threads, &runtime, *lease);
  // The kernel books the time of a thread that runs elsewhere only when it stops.
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const double begin = CpuSeconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  fmt::print("| {} | {} | {:.2f} |\n", name, most.load() - before - 8,
             (CpuSeconds() - begin) * 1e3);
}

int Main(int repetitions) {
  static constexpr Conv kConvs[] = {{"3x3 64 56x56", 64, 64, 1, 56, 3, 1},
                                    {"3x3 128 28x28", 128, 128, 1, 28, 3, 1},
                                    {"3x3 256 14x14", 256, 256, 1, 14, 3, 1},
                                    {"3x3 512 7x7", 512, 512, 1, 7, 3, 1},
                                    {"1x1 64>256 56x56", 64, 256, 1, 56, 1, 1},
                                    {"1x1 256>64 56x56", 256, 64, 1, 56, 1, 1},
                                    {"1x1 1024>256 14x14", 1024, 256, 1, 14, 1, 1},
                                    {"1x1 512>2048 7x7", 512, 2048, 1, 7, 1, 1},
                                    {"7x7/2 3>64 224x224", 3, 64, 1, 224, 7, 2},
                                    {"depthwise 3x3 192 28x28", 192, 192, 192, 28, 3, 1}};
  static constexpr Matmul kMatmuls[] = {{"128x768x3072", 128, 768, 3072},
                                        {"1x768x3072", 1, 768, 3072}};
  fmt::print(
      "| eight callers | threads besides the callers | CPU ms in 20 idle ms |\n|---|---|---|\n");
  CountThreads("one OpenMP thread each", 1, false);
  CountThreads("slices under the ledger", 1, true);
  CountThreads("two OpenMP threads each", 2, false);
  fmt::print("\n| step | way | implementation | ms | GFLOP/s |\n|---|---|---|---|---|\n");
  Runtime runtime;
  for (const Conv& conv : kConvs) {
    for (const bool nhwc : {false, true}) TimeConv(conv, nhwc, repetitions, &runtime);
  }
  for (const Matmul& shape : kMatmuls) TimeMatmul(shape, repetitions, &runtime);
  return 0;
}

}  // namespace
}  // namespace kheya

int main(int argc, char** argv) { return kheya::Main(argc > 1 ? std::atoi(argv[1]) : 200); }
