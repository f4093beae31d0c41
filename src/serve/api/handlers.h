// The handlers that endpoints.inc names. Each has the contract of EndpointHandler.
#ifndef KHEYA_SERVE_API_HANDLERS_H_
#define KHEYA_SERVE_API_HANDLERS_H_

#include "serve/api/endpoints.h"

namespace kheya {

#define KHEYA_HANDLER(name) \
  Status name(const ApiContext&, const PathCaptures&, const HttpRequest&, HttpResponse*)
KHEYA_HANDLER(HandlePredict);
KHEYA_HANDLER(HandleServerMetadata);
KHEYA_HANDLER(HandleServerLive);
KHEYA_HANDLER(HandleServerReady);
KHEYA_HANDLER(HandleModelMetadata);
KHEYA_HANDLER(HandleModelReady);
KHEYA_HANDLER(HandleInfer);
#undef KHEYA_HANDLER

}  // namespace kheya

#endif  // KHEYA_SERVE_API_HANDLERS_H_
