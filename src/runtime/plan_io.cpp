#include "runtime/plan_io.h"

#include <utility>

#include "base/build_id.h"
#include "base/byte_stream.h"
#include "base/cpu_features.h"
#include "base/version.h"
#include "kernels/kernel.h"

namespace kheya {
namespace {

std::string_view Zeros(size_t count) {
  static const std::string zeros(kAlignment + kReadableTail, '\0');
  return std::string_view(zeros).substr(0, count);
}

uint64_t Aligned(uint64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

Result<PlanRecord> ReadPlan(ByteReader& reader) {
  PlanRecord plan;
  for (size_t inputs = reader.GetCount(16); inputs > 0; --inputs) {
    std::string name(reader.GetText());
    std::vector<int64_t> dims(reader.GetCount(8));
    for (int64_t& dim : dims) dim = reader.Get<int64_t>();
    KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
    plan.shapes.emplace(std::move(name), shape);
  }
  plan.graph = reader.GetText();
  return plan;
}

}  // namespace

std::string PlanMachine() {
  return fmt::format("{} {} {} {}", GetCpuFeatures().Key(), kVersion, BuildId(), KernelLibraries());
}

std::string WritePlans(const PlansRecord& record) {
  ByteWriter writer;
  writer.PutText(record.machine);
  writer.Put<uint8_t>(record.tuned);
  writer.Put<uint64_t>(record.choices.size());
  for (const auto& [key, tactic] : record.choices) {
    writer.PutText(key);
    writer.PutText(tactic);
  }
  writer.Put<uint64_t>(record.plans.size());
  for (const PlanRecord& plan : record.plans) {
    writer.Put<uint64_t>(plan.shapes.size());
    for (const auto& [name, shape] : plan.shapes) {
      writer.PutText(name);
      writer.Put<uint64_t>(static_cast<uint64_t>(shape.rank()));
      for (const int64_t dim : shape) writer.Put(dim);
    }
    writer.PutText(plan.graph);
  }
  writer.Put<uint64_t>(record.packed.size());
  for (const PackedRecord& packed : record.packed) {
    writer.PutHash(packed.content);
    writer.PutText(packed.layout);
    writer.Put(packed.offset);
    writer.Put(packed.bytes);
    writer.PutHash(packed.hash);
  }
  return writer.bytes();
}

Result<std::string> ReadPlansMachine(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  std::string machine(reader.GetText());
  if (!reader.ok()) return InvalidArgumentError("the plans are cut");
  return machine;
}

Result<PlansRecord> ReadPlans(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  PlansRecord record;
  record.machine = reader.GetText();
  record.tuned = reader.Get<uint8_t>() != 0;
  for (size_t count = reader.GetCount(16); count > 0; --count) {
    std::string key(reader.GetText());
    record.choices.insert_or_assign(std::move(key), std::string(reader.GetText()));
  }
  for (size_t count = reader.GetCount(16); count > 0; --count) {
    KHEYA_ASSIGN_OR_RETURN(PlanRecord plan, ReadPlan(reader));
    record.plans.push_back(std::move(plan));
  }
  for (size_t count = reader.GetCount(56); count > 0; --count) {
    PackedRecord packed;
    packed.content = reader.GetHash();
    packed.layout = reader.GetText();
    packed.offset = reader.Get<uint64_t>();
    packed.bytes = reader.Get<uint64_t>();
    packed.hash = reader.GetHash();
    record.packed.push_back(std::move(packed));
  }
  KHEYA_RETURN_IF_ERROR(reader.Finish().WithContext("the plans"));
  return record;
}

std::vector<PackedRecord> PlacePacked(const std::vector<PackCache::Entry>& entries,
                                      std::vector<std::string_view>* pieces) {
  std::vector<PackedRecord> records;
  uint64_t end = 0;
  for (const PackCache::Entry& entry : entries) {
    const std::span<const std::byte> bytes = entry.packed->bytes();
    const uint64_t offset = Aligned(end);
    pieces->push_back(Zeros(offset - end));
    pieces->emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    pieces->push_back(Zeros(kReadableTail));
    records.push_back({entry.content, entry.layout, offset, bytes.size(), HashBytes(bytes)});
    end = offset + bytes.size() + kReadableTail;
  }
  return records;
}

Status AddPacked(const std::vector<PackedRecord>& records, std::span<const std::byte> section,
                 const std::shared_ptr<const void>& owner, PackCache* cache) {
  for (const PackedRecord& record : records) {
    if (record.offset % kAlignment != 0 || record.offset > section.size() ||
        section.size() - record.offset < kReadableTail ||
        record.bytes > section.size() - record.offset - kReadableTail) {
      return InvalidArgumentError("packed weights lie outside of their section");
    }
    cache->AddStored({record.content, record.layout, section.subspan(record.offset, record.bytes),
                      record.hash, owner});
  }
  return OkStatus();
}

}  // namespace kheya
