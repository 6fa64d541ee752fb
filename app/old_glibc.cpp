// SPDX-License-Identifier: Apache-2.0
// What the archives of GCC 12 on Debian 12 take from glibc 2.32 to 2.36, so that a program that
// has them can be linked against glibc 2.31 (tools/old_glibc.sh). Only mapsim_portable has it.
#include <dlfcn.h>
#include <link.h>
#include <sys/random.h>

#include <cstdint>

// NOLINTBEGIN(readability-identifier-naming): names of glibc
extern "C" {

// Not known: as if there were several threads, which is safe.
char __libc_single_threaded = 0;

// Behind std::random_device. Few bytes are never cut short.
std::uint32_t arc4random() noexcept {
  std::uint32_t value = 0;
  while (getrandom(&value, sizeof value, 0) != sizeof value) {
  }
  return value;
}

// For exceptions: the loaded object that has `address`, and where its unwind table is.
int _dl_find_object(void* address, dl_find_object* result) noexcept {
  struct Wanted {
    std::uintptr_t address;
    dl_find_object* result;
  } wanted{reinterpret_cast<std::uintptr_t>(address), result};
  const auto look = [](dl_phdr_info* object, std::size_t, void* data) {
    const Wanted& sought = *static_cast<Wanted*>(data);
    bool inside = false;
    void* table = nullptr;
    std::uintptr_t begin = UINTPTR_MAX;
    std::uintptr_t end = 0;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = object->dlpi_phdr[i];
      const std::uintptr_t at = object->dlpi_addr + part.p_vaddr;
      if (part.p_type == PT_LOAD) {
        inside = inside || (sought.address >= at && sought.address < at + part.p_memsz);
        begin = at < begin ? at : begin;
        end = at + part.p_memsz > end ? at + part.p_memsz : end;
      } else if (part.p_type == PT_GNU_EH_FRAME) {
        table = reinterpret_cast<void*>(at);
      }
    }
    if (!inside || table == nullptr) {
      return 0;
    }
    *sought.result = {};
    sought.result->dlfo_map_start = reinterpret_cast<void*>(begin);
    sought.result->dlfo_map_end = reinterpret_cast<void*>(end);
    sought.result->dlfo_eh_frame = table;
    return 1;
  };
  return dl_iterate_phdr(look, &wanted) == 1 ? 0 : -1;
}
}
// NOLINTEND(readability-identifier-naming)
