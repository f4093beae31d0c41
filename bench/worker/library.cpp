#include <dlfcn.h>

#include "worker/engine.h"

namespace kheya {

Result<void*> OpenLibrary(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return NotFoundError("{}", dlerror());
  return library;
}

Result<void*> FindSymbol(void* library, const char* name) {
  void* symbol = dlsym(library, name);
  if (symbol == nullptr) return NotFoundError("{}", dlerror());
  return symbol;
}

}  // namespace kheya
