// Convolutions by oneDNN in channels-last layout. The work is cut into groups of whole images where
// there are many, else into images and bands of rows (of the first spatial axis); both are dense
// memory, so each is a convolution of its own with the padding that falls to it.
#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "kernels/kernel.h"
#include "kernels/onednn/library.h"
#include "kernels/slicing.h"

namespace kheya {
namespace {

using dnnl::memory;

constexpr int kSrc = 0;
constexpr int kWeights = 1;
constexpr int kBias = 2;
constexpr int kResidual = 3;

constexpr int64_t kManyImages = 8;
constexpr int64_t kMostBands = 8;  // of an image

memory::dims DimsOf(const Shape& shape) { return {shape.begin(), shape.end()}; }

memory::format_tag ChannelsLastTag(int rank) {
  return rank == 3   ? memory::format_tag::nwc
         : rank == 4 ? memory::format_tag::nhwc
                     : memory::format_tag::ndhwc;
}

// The last `rank` entries, which are those of the tensor's axes.
memory::dims AxesOf(const kernels::Spatial& spatial, int rank) {
  return {spatial.end() - rank, spatial.end()};
}

// The geometry of one band: what its primitive is made for.
struct Band {
  int64_t images = 1;
  int64_t rows_in = 0;
  int64_t rows_out = 0;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;
  auto Key() const { return std::tie(images, rows_in, rows_out, pad_begin, pad_end); }
  bool operator<(const Band& other) const { return Key() < other.Key(); }
};

struct BandPrimitive {
  dnnl::convolution_forward primitive;
  memory::desc src;
  memory::desc dst;
  memory::desc scratchpad;
};

struct ConvSlice {
  const BandPrimitive* band = nullptr;
  size_t src_offset = 0;
  size_t dst_offset = 0;
  size_t dst_bytes = 0;
};

// A convolution that reads each pixel once is one over a line of all pixels of all images, which
// can be cut anywhere.
KernelCall AsLine(KernelCall call) {
  kernels::Window& window = std::get<FusedConvParams>(call.params).conv.window;
  if (!window.is_pointwise()) return call;
  window = kernels::Window();
  window.rank = 1;
  for (TensorDesc* desc : {&call.inputs[kSrc], &call.outputs[0]}) {
    const Shape& shape = desc->shape;
    desc->shape = Shape{1, shape[1], shape[0] * shape.Product(2, shape.rank())};
  }
  const Shape& weights = call.inputs[kWeights].shape;
  call.inputs[kWeights].shape = Shape{weights[0], weights[1], 1};
  return call;
}

class OneDnnConv : public PreparedKernel {
 public:
  explicit OneDnnConv(const KernelCall& call) : call_(AsLine(call)) {}

  Status Prepare(const PrepareContext& context) {
    const Tensor* weights = context.constant(kWeights);
    if (weights == nullptr || context.cache == nullptr) {
      return UnimplementedError("weights are not constant");
    }
    if (call_.has_input(kBias)) {
      if (context.constant(kBias) == nullptr) return UnimplementedError("bias is not constant");
      bias_ = *context.constant(kBias);
    }
    // Some forms refuse bands that are lower than their padding.
    Status status = onednn::Guard([&] { Cut(kMostBands); });
    if (status.code() == StatusCode::kUnimplemented) status = onednn::Guard([&] { Cut(1); });
    KHEYA_RETURN_IF_ERROR(std::move(status));
    KHEYA_ASSIGN_OR_RETURN(weights_,
                           onednn::Pack(context.cache, *weights, plain_weights_, weights_desc_));
    for (const auto& [key, band] : bands_) {
      scratchpad_bytes_ = std::max(scratchpad_bytes_, band.scratchpad.get_size());
    }
    scratchpad_bytes_ = (scratchpad_bytes_ + kAlignment - 1) / kAlignment * kAlignment;
    return OkStatus();
  }

  int64_t slices() const override { return static_cast<int64_t>(slices_.size()); }
  size_t workspace_bytes() const override { return scratchpad_bytes_ * slices_.size(); }
  bool CanRunInPlace(int input) const override { return input == kResidual; }
  bool ReadsConstant(int input) const override { return input == kSrc || input == kResidual; }

  Status Run(const KernelArgs& args) const override {
    const ConvSlice& slice = slices_[args.slice];
    const BandPrimitive& band = *slice.band;
    std::byte* dst = args.outputs[0] + slice.dst_offset;
    if (call_.has_input(kResidual)) {
      const std::byte* residual = args.inputs[kResidual] + slice.dst_offset;
      if (residual != dst) std::memcpy(dst, residual, slice.dst_bytes);
    }
    void* bias = bias_.defined() ? const_cast<float*>(bias_.data<float>().data()) : nullptr;
    void* scratchpad =
        scratchpad_bytes_ > 0 ? args.workspace + scratchpad_bytes_ * args.slice : nullptr;
    KHEYA_RETURN_IF_ERROR(onednn::Execute(
        band.primitive,
        {{DNNL_ARG_SRC, &band.src, const_cast<std::byte*>(args.inputs[kSrc]) + slice.src_offset},
         {DNNL_ARG_WEIGHTS, &weights_desc_, const_cast<std::byte*>(weights_->data())},
         {DNNL_ARG_BIAS, &bias_desc_, bias},
         {DNNL_ARG_DST, &band.dst, dst},
         {DNNL_ARG_SCRATCHPAD, &band.scratchpad, scratchpad}}));
    onednn::Activate(left_, call_.outputs[0].dtype, dst, slice.dst_bytes);
    return OkStatus();
  }

 private:
  int rank() const { return call_.outputs[0].shape.rank(); }
  const kernels::Window& window() const { return params_.conv.window; }
  memory::data_type src_type() const { return onednn::TypeOf(call_.inputs[kSrc].dtype); }
  memory::data_type dst_type() const { return onednn::TypeOf(call_.outputs[0].dtype); }
  int first_axis() const { return kernels::kSpatialAxes - (rank() - 2); }

  memory::dims WeightDims() const {
    memory::dims dims = DimsOf(call_.inputs[kWeights].shape);
    if (params_.conv.groups > 1) {
      dims[0] /= params_.conv.groups;
      dims.insert(dims.begin(), params_.conv.groups);
    }
    return dims;
  }

  memory::desc PlainWeights() const {
    const memory::dims dims = WeightDims();
    memory::dims strides(dims.size(), 1);
    for (size_t i = dims.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * dims[i];
    return {dims, memory::data_type::f32, strides};
  }

  Band BandOf(SliceRange images, SliceRange rows) const {
    const int axis = first_axis();
    const int64_t height = call_.inputs[kSrc].shape[2];
    const int64_t begin = rows.begin * window().stride[axis] - window().pad_begin[axis];
    const int64_t end = (rows.end - 1) * window().stride[axis] - window().pad_begin[axis] +
                        DilatedKernel(window(), axis);
    const int64_t num_images = images.end - images.begin;
    // Images follow each other whole, with the rows that the stride leaves over at the end.
    const int64_t end_in = num_images > 1 ? height : std::min(end, height);
    return {num_images, end_in - std::max<int64_t>(begin, 0), rows.end - rows.begin,
            std::max<int64_t>(-begin, 0), std::max<int64_t>(end - height, 0)};
  }

  // The convolution of a band. Throws what oneDNN throws.
  BandPrimitive MakeBand(const Band& band) {
    const int axes = rank() - 2;
    memory::dims src_dims = DimsOf(call_.inputs[kSrc].shape);
    memory::dims dst_dims = DimsOf(call_.outputs[0].shape);
    src_dims[0] = dst_dims[0] = band.images;
    src_dims[2] = band.rows_in;
    dst_dims[2] = band.rows_out;
    memory::dims pads_begin = AxesOf(window().pad_begin, axes);
    memory::dims pads_end = AxesOf(window().pad_end, axes);
    pads_begin[0] = band.pad_begin;
    pads_end[0] = band.pad_end;
    memory::dims dilations = AxesOf(window().dilation, axes);
    for (auto& dilation : dilations) --dilation;
    const memory::desc src(src_dims, src_type(), ChannelsLastTag(rank()));
    const memory::desc dst(dst_dims, dst_type(), ChannelsLastTag(rank()));
    const dnnl::convolution_forward::desc desc(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, src, weights_desc_,
        bias_desc_, dst, AxesOf(window().stride, axes), dilations, pads_begin, pads_end);
    dnnl::post_ops post_ops;
    if (call_.has_input(kResidual)) post_ops.append_sum(1.0f);
    left_ = onednn::AppendPostOp(params_.activation, &post_ops);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(post_ops);
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::convolution_forward::primitive_desc chosen(desc, attributes, onednn::Engine());
    onednn::RefuseReference(chosen.impl_info_str());
    weights_desc_ = chosen.weights_desc();
    return {dnnl::convolution_forward(chosen), src, dst, chosen.scratchpad_desc()};
  }

  // How many groups of images, and bands of each.
  std::pair<int64_t, int64_t> NumSlices(int64_t most_bands) const {
    const Shape& out = call_.outputs[0].shape;
    const Shape& w = call_.inputs[kWeights].shape;
    const double flops = 2.0 * static_cast<double>(out.Product(1, out.rank())) *
                         static_cast<double>(w.Product(1, w.rank()));
    const auto bytes = static_cast<double>(BytesFor(call_.inputs[kSrc].dtype, w.num_elements()));
    const double least = LeastFlopsFor(bytes);
    if (out[0] < kManyImages) return {out[0], SlicesFor(flops, least, out[2], most_bands)};
    return {SlicesFor(flops * static_cast<double>(out[0]), least, out[0], 64), 1};
  }

  void Cut(int64_t most_bands) {
    bands_.clear();
    slices_.clear();
    const Shape& out = call_.outputs[0].shape;
    plain_weights_ = PlainWeights();
    weights_desc_ = memory::desc(WeightDims(), src_type(), memory::format_tag::any);
    if (bias_.defined()) {
      bias_desc_ = memory::desc({out[1]}, memory::data_type::f32, memory::format_tag::a);
    }
    const auto [groups, bands] = NumSlices(most_bands);
    for (int64_t group = 0; group < groups; ++group) {
      for (int64_t band = 0; band < bands; ++band) {
        AddSlice(RangeOf(group, groups, out[0]), RangeOf(band, bands, out[2]));
      }
    }
  }

  void AddSlice(SliceRange images, SliceRange rows) {
    const Shape& in = call_.inputs[kSrc].shape;
    const Shape& out = call_.outputs[0].shape;
    const size_t in_row = BytesFor(call_.inputs[kSrc].dtype, in.Product(3, in.rank()) * in[1]);
    const size_t out_row = BytesFor(call_.outputs[0].dtype, out.Product(3, out.rank()) * out[1]);
    const Band band = BandOf(images, rows);
    if (!bands_.contains(band)) bands_.emplace(band, MakeBand(band));
    const int axis = first_axis();
    const int64_t first_row =
        std::max<int64_t>(rows.begin * window().stride[axis] - window().pad_begin[axis], 0);
    slices_.push_back({&bands_.at(band), in_row * (images.begin * in[2] + first_row),
                       out_row * (images.begin * out[2] + rows.begin),
                       out_row * band.images * band.rows_out});
  }

  const KernelCall call_;
  const FusedConvParams& params_ = std::get<FusedConvParams>(call_.params);
  Elementwise left_;  // the activation, where the primitives do not apply it
  std::map<Band, BandPrimitive> bands_;
  std::vector<ConvSlice> slices_;
  memory::desc plain_weights_;
  memory::desc weights_desc_;
  memory::desc bias_desc_;
  std::shared_ptr<const Buffer> weights_;
  Tensor bias_;
  size_t scratchpad_bytes_ = 0;
};

// Apart from types.
bool FormFits(const KernelCall& call) {
  const Shape& out = call.outputs[0].shape;
  if (out.rank() < 3 || out.rank() > 5 || out.num_elements() == 0) return false;
  if (call.inputs[kSrc].shape.num_elements() == 0) return false;
  for (const TensorDesc* desc : {&call.inputs[kSrc], &call.outputs[0]}) {
    if (desc->layout != Layout::kChannelsLast) return false;
  }
  return onednn::SizesFit(call);
}

}  // namespace

bool OneDnnConvSupports(const KernelCall& call) {
  return std::holds_alternative<FusedConvParams>(call.params) && call.All(DType::kFloat32) &&
         FormFits(call);
}

bool OneDnnConvBf16Supports(const KernelCall& call) {
  const auto* params = std::get_if<FusedConvParams>(&call.params);
  if (params == nullptr || !onednn::ComputesBf16(call)) return false;
  // A group's channels are filled up with those of the next, by weights of 0: infinities would
  // become NaNs of another group.
  constexpr int64_t kBlock = 16;
  const int64_t channels = call.inputs[kWeights].shape[1];
  return FormFits(call) && (params->conv.groups == 1 || channels == 1 || channels % kBlock == 0);
}

Result<std::shared_ptr<const PreparedKernel>> PrepareOneDnnConv(const KernelCall& call,
                                                                const PrepareContext& context) {
  auto kernel = std::make_shared<OneDnnConv>(call);
  KHEYA_RETURN_IF_ERROR(kernel->Prepare(context));
  return std::shared_ptr<const PreparedKernel>(std::move(kernel));
}

}  // namespace kheya
