#include "base/build_id.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdint>
#include <cstring>

namespace kheya {
namespace {

// Looks through the notes of one segment.
std::string FindId(const char* notes, size_t size) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof(note));
    const auto padded = [](uint64_t bytes) { return (bytes + 3) / 4 * 4; };
    const uint64_t whole = sizeof(note) + padded(note.n_namesz) + padded(note.n_descsz);
    if (whole > size) return "";
    const char* name = notes + sizeof(note);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      std::string id;
      const char* bytes = name + padded(note.n_namesz);
      for (uint32_t i = 0; i < note.n_descsz; ++i) {
        id += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i]));
      }
      return id;
    }
    notes += whole;
    size -= whole;
  }
  return "";
}

struct Search {
  ElfW(Addr) address;  // in the object that is looked for
  std::string found;
};

int LookAt(dl_phdr_info* info, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  std::string id;
  bool ours = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const ElfW(Addr) begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD) {
      ours = ours || (search.address >= begin && search.address - begin < header.p_memsz);
    } else if (header.p_type == PT_NOTE && id.empty()) {
      id = FindId(reinterpret_cast<const char*>(begin), header.p_memsz);
    }
  }
  if (!ours) return 0;
  search.found = std::move(id);
  return 1;
}

}  // namespace

const std::string& BuildId() {
  static const auto* id = [] {
    Search search{reinterpret_cast<ElfW(Addr)>(&LookAt), ""};
    dl_iterate_phdr(LookAt, &search);
    return new std::string(std::move(search.found));
  }();
  return *id;
}

}  // namespace kheya
