#include "engine/package.h"

#include <algorithm>
#include <set>

#include "base/byte_stream.h"
#include "base/string_util.h"
#include "formats/package/graph_io.h"
#include "formats/package/package.h"
#include "ops/infer.h"
#include "ops/verify_model.h"

namespace kheya {
namespace {

void PutInfos(const std::vector<TensorInfo>& infos, ByteWriter* writer) {
  writer->Put<uint64_t>(infos.size());
  for (const TensorInfo& info : infos) {
    writer->PutText(info.name);
    writer->PutText(info.type.ToString());
  }
}

Status GetInfos(ByteReader& reader, std::vector<TensorInfo>* infos) {
  for (size_t count = reader.GetCount(16); count > 0; --count) {
    std::string name(reader.GetText());
    KHEYA_ASSIGN_OR_RETURN(ValueType type, ValueType::Parse(reader.GetText()));
    infos->push_back({std::move(name), std::move(type)});
  }
  return OkStatus();
}

std::string WriteInfo(const PackageInfo& info) {
  ByteWriter writer;
  writer.PutText(info.options);
  writer.PutText(info.name);
  PutInfos(info.inputs, &writer);
  PutInfos(info.outputs, &writer);
  writer.Put<uint64_t>(info.metadata.size());
  for (const auto& [key, value] : info.metadata) {
    writer.PutText(key);
    writer.PutText(value);
  }
  writer.Put<uint8_t>(info.macs.has_value());
  writer.Put<int64_t>(info.macs.value_or(0));
  writer.Put<uint64_t>(info.warnings.size());
  for (const std::string& warning : info.warnings) writer.PutText(warning);
  return writer.bytes();
}

Status Damaged(const PackageFile& file, Status status) {
  return std::move(status).WithContext("file '{}': a damaged package", file.file().path());
}

std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string PlanOptionsKey(const CompileOptions& options) {
  std::vector<std::string> disabled = options.disabled_passes;
  std::sort(disabled.begin(), disabled.end());
  const std::string precision = options.precision == "fp32"
                                    ? "fp32"
                                    : fmt::format("{} {}", options.precision, options.tolerance);
  return fmt::format("{} {} {} {} {} -{}", precision,
                     options.device == "auto" ? "cpu" : options.device, options.tactics,
                     options.simplify, options.lower, Join(disabled, ","));
}

Status Package::ReadInfo() {
  KHEYA_ASSIGN_OR_RETURN(const auto bytes, file_.Checked(SectionKind::kModel));
  ByteReader reader(bytes);
  info_.options = reader.GetText();
  info_.name = reader.GetText();
  KHEYA_RETURN_IF_ERROR(GetInfos(reader, &info_.inputs));
  KHEYA_RETURN_IF_ERROR(GetInfos(reader, &info_.outputs));
  info_.metadata.resize(reader.GetCount(16));
  for (auto& [key, value] : info_.metadata) {
    key = reader.GetText();
    value = reader.GetText();
  }
  const bool has_macs = reader.Get<uint8_t>() != 0;
  const auto macs = reader.Get<int64_t>();
  if (has_macs) info_.macs = macs;
  info_.warnings.resize(reader.GetCount(8));
  for (std::string& warning : info_.warnings) warning = reader.GetText();
  return reader.Finish();
}

void Package::FindPlans() {
  const std::string machine = PlanMachine();
  why_none_ = "it was compiled for no machine";
  for (const PackageSection& section : file_.sections()) {
    if (section.kind != SectionKind::kPlans) continue;
    const auto bytes = file_.Checked(SectionKind::kPlans, section.target);
    if (!bytes.ok()) {
      why_none_ = "its plans are damaged";
      continue;
    }
    const Result<std::string> found = ReadPlansMachine(*bytes);
    if (!found.ok() || *found != machine) {
      why_none_ = fmt::format("it was compiled for '{}', this is '{}'",
                              found.ok() ? *found : "nothing", machine);
      continue;
    }
    Result<PlansRecord> plans = ReadPlans(*bytes);
    if (plans.ok() && file_.Find(SectionKind::kPacked, section.target) != nullptr) {
      plans_ = std::move(plans).value();
      target_ = section.target;
      return;
    }
    why_none_ = "its plans are damaged";
  }
}

Result<std::shared_ptr<const Package>> Package::Open(const MappedFile& file) {
  auto package = std::make_shared<Package>();
  KHEYA_ASSIGN_OR_RETURN(package->file_, PackageFile::Open(file));
  if (Status status = package->ReadInfo(); !status.ok()) {
    return Damaged(package->file_, std::move(status));
  }
  KHEYA_ASSIGN_OR_RETURN(package->constants_, ReadConstants(package->file_));
  package->FindPlans();
  return std::shared_ptr<const Package>(std::move(package));
}

const PlanRecord* Package::FindPlan(const PlanShapes& shapes) const {
  if (!plans_) return nullptr;
  const auto found = std::find_if(plans_->plans.begin(), plans_->plans.end(),
                                  [&](const PlanRecord& plan) { return plan.shapes == shapes; });
  return found == plans_->plans.end() ? nullptr : &*found;
}

Result<Graph> Package::PlanGraph(const PlanRecord& plan) const {
  Result<Graph> graph = ReadGraph(std::as_bytes(std::span(plan.graph)), constants_);
  if (!graph.ok()) return Damaged(file_, std::move(graph).status());
  KHEYA_RETURN_IF_ERROR(VerifyModel(*graph));
  KHEYA_RETURN_IF_ERROR(InferTypes(*graph));
  return graph;
}

Result<Graph> Package::SimplifiedGraph() const {
  KHEYA_ASSIGN_OR_RETURN(Graph graph, ReadSimplifiedGraph(file_, constants_));
  KHEYA_RETURN_IF_ERROR(InferTypes(graph));
  return graph;
}

Status Package::Feed(PackCache* cache) const {
  for (const PackageConstant& constant : constants_) {
    if (constant.tensor.dtype() != DType::kString) cache->AddHash(constant.tensor, constant.hash);
  }
  if (!plans_) return OkStatus();
  const PackageSection* packed = file_.Find(SectionKind::kPacked, target_);
  const Status status =
      AddPacked(plans_->packed, file_.Bytes(*packed), file_.file().owner(), cache);
  return status.ok() ? status : Damaged(file_, status);
}

Result<std::unique_ptr<PackageBuilder>> PackageBuilder::Start(
    const PackageInfo& info, const Graph& graph, std::shared_ptr<const Package> others) {
  std::unique_ptr<PackageBuilder> builder(new PackageBuilder());
  if (others != nullptr) {  // their plans name constants by number
    for (const PackageConstant& constant : others->constants()) builder->constants_.Add(constant);
  }
  builder->others_ = std::move(others);
  builder->info_ = WriteInfo(info);
  KHEYA_ASSIGN_OR_RETURN(builder->graph_, WriteGraph(graph, &builder->constants_));
  return builder;
}

std::unique_ptr<PackageBuilder> PackageBuilder::GoOn(std::shared_ptr<const Package> package) {
  std::unique_ptr<PackageBuilder> builder(new PackageBuilder());
  builder->info_ = WriteInfo(package->info());
  if (const PackageSection* graph = package->file().Find(SectionKind::kGraph)) {
    builder->graph_ = AsText(package->file().Bytes(*graph));
  }
  for (const PackageConstant& constant : package->constants()) builder->constants_.Add(constant);
  builder->plans_ = package->plans()->plans;
  builder->others_ = package;
  builder->base_ = std::move(package);
  return builder;
}

Status PackageBuilder::AddPlan(const PlanShapes& shapes, const Graph& lowered) {
  KHEYA_ASSIGN_OR_RETURN(std::string graph, WriteGraph(lowered, &constants_));
  std::erase_if(plans_, [&](const PlanRecord& plan) { return plan.shapes == shapes; });
  plans_.push_back({shapes, std::move(graph)});
  return OkStatus();
}

// Packed weights of the package before that nothing uses now.
Status PackageBuilder::AddStored(std::vector<PackCache::Entry>* entries) const {
  PackCache cache;
  KHEYA_RETURN_IF_ERROR(base_->Feed(&cache));
  std::set<std::pair<Hash128, std::string>> there;
  for (const PackCache::Entry& entry : *entries) there.emplace(entry.content, entry.layout);
  for (PackCache::Entry& entry : cache.TakeStored()) {
    if (!there.contains({entry.content, entry.layout})) entries->push_back(std::move(entry));
  }
  return OkStatus();
}

// The plans for all machines but `machine`.
void PackageBuilder::AppendOthers(const PackageFile& file, const std::string& machine,
                                  std::vector<SectionContent>* sections) {
  uint32_t target = 0;
  for (const PackageSection& section : file.sections()) {
    if (section.kind != SectionKind::kPlans) continue;
    const auto plans = file.Checked(SectionKind::kPlans, section.target);
    const PackageSection* packed = file.Find(SectionKind::kPacked, section.target);
    if (!plans.ok() || packed == nullptr) continue;
    const Result<std::string> theirs = ReadPlansMachine(*plans);
    if (!theirs.ok() || *theirs == machine) continue;
    ++target;
    sections->push_back({SectionKind::kPlans, target, {AsText(*plans)}});
    sections->push_back({SectionKind::kPacked, target, {AsText(file.Bytes(*packed))}});
  }
}

Status PackageBuilder::Write(const std::string& path, const PackCache& cache,
                             const TacticChoices& choices, bool tuned, bool sync) const {
  std::vector<PackCache::Entry> entries = cache.Entries();
  if (base_ != nullptr) KHEYA_RETURN_IF_ERROR(AddStored(&entries));
  PlansRecord record{PlanMachine(), tuned, choices, plans_, {}};
  SectionContent packed{SectionKind::kPacked, 0, {}};
  record.packed = PlacePacked(entries, &packed.pieces);
  const std::string plans = WritePlans(record);
  const std::string table = constants_.Table();
  // What is read at every load lies together, in front.
  std::vector<SectionContent> sections = {{SectionKind::kModel, 0, {info_}},
                                          {SectionKind::kConstants, 0, {table}},
                                          {SectionKind::kPlans, 0, {plans}},
                                          {SectionKind::kGraph, 0, {graph_}},
                                          {SectionKind::kData, 0, constants_.Pieces()},
                                          std::move(packed)};
  if (others_ != nullptr) AppendOthers(others_->file(), record.machine, &sections);
  return WritePackageFile(path, sections, sync);
}

}  // namespace kheya
