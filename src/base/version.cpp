#include "base/version.h"

namespace kheya {

const char* const kVersion = KHEYA_VERSION;

}  // namespace kheya
