// Which device a name asks for.
#ifndef KHEYA_ENGINE_DEVICES_H_
#define KHEYA_ENGINE_DEVICES_H_

#include <string>

#include "base/status.h"

namespace kheya {

// NotFound, saying what was looked for, unless models can run on this device.
Status CheckDevice(const std::string& name);

}  // namespace kheya

#endif  // KHEYA_ENGINE_DEVICES_H_
