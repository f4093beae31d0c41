// The way of an HTTP request: bytes, Beast's parser, the endpoint table, the protocol adapters and
// a model; and that every answer is one that can be sent.
#include <boost/asio/buffer.hpp>
#include <cstdlib>

#include "base/json.h"
#include "serve/api/endpoints.h"
#include "serve/core/fake_model.h"
#include "serve/http/beast_message.h"

namespace {

constexpr uint64_t kMaxBody = 1 << 20;

void CheckAnswer(const kheya::HttpResponse& response) {
  if (response.status < 200 || response.status > 599) std::abort();
  if (response.status >= 400 && response.status != 503) {
    const kheya::Result<kheya::Json> json = kheya::Json::Parse(response.body);
    if (!json.ok() || json->Find("error") == nullptr) std::abort();
  }
  kheya::ToBeastResponse(response, 11, true, "id");
}

kheya::ModelRepository* Repository() {
  static kheya::ModelRepository* repository = [] {
    auto* made = new kheya::ModelRepository();
    const std::pair<const char*, std::shared_ptr<kheya::CompiledModel>> models[] = {
        {"m", kheya::MakeDoublingModel()},           {"pair", kheya::MakePairModel()},
        {"text", kheya::MakeEchoModel("string[n]")}, {"half", kheya::MakeEchoModel("float16?")},
        {"bool", kheya::MakeEchoModel("bool[n,m]")},
    };
    for (const auto& [name, model] : models) {
      if (!made->Add(kheya::ServedModel::Create(name, "1", model).value()).ok()) std::abort();
    }
    return made;
  }();
  return repository;
}

// /predict answers where there is one model.
kheya::ModelRepository* RepositoryOf(std::shared_ptr<kheya::CompiledModel> model) {
  auto* made = new kheya::ModelRepository();
  if (!made->Add(kheya::ServedModel::Create("p", "1", std::move(model)).value()).ok()) std::abort();
  return made;
}

void Answer(const kheya::RequestParser& parser, kheya::ModelRepository* repository) {
  kheya::ApiContext context;
  context.repository = repository;
  const kheya::Endpoints endpoints(&context);
  kheya::HttpRequest request = kheya::ToHttpRequest(parser.get());
  request.body = parser.get().body().view();
  const kheya::EndpointMatch match = endpoints.Match(request.verb, request.target);
  CheckAnswer(match.endpoint == nullptr ? match.refusal : endpoints.Call(match, request));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kheya::RequestParser parser;
  parser.header_limit(16 << 10);
  parser.body_limit(kMaxBody);
  parser.eager(true);
  boost::system::error_code error;
  size_t at = 0;
  while (at < size && !parser.is_done()) {
    const size_t used = parser.put(boost::asio::buffer(data + at, size - at), error);
    if (error || used == 0) break;
    at += used;
  }
  if (error) {
    CheckAnswer(kheya::RefuseUnreadable(error, kheya::ServerOptions()));
    return 0;
  }
  if (!parser.is_done()) return 0;
  if (std::optional<kheya::HttpResponse> refusal = kheya::RefuseHeader(parser.get())) {
    CheckAnswer(*refusal);
    return 0;
  }
  Answer(parser, Repository());
  static kheya::ModelRepository* picture = RepositoryOf(kheya::MakePictureModel());
  static kheya::ModelRepository* nested =
      RepositoryOf(kheya::MakeEchoModel("seq(map(int64,optional(float32[?])))"));
  Answer(parser, picture);
  Answer(parser, nested);
  return 0;
}
