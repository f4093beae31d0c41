#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "app/command.h"
#include "app/model_options.h"
#include "app/validators.h"
#include "base/file.h"
#include "base/log.h"
#include "serve/http/server.h"

namespace kheya {
namespace {

struct ServeOptions {
  ModelOptions model;
  std::string name;
  std::string port_file;
  double max_body_mib = 64;
  double request_timeout = 0;
  ServerOptions server;
};

std::string NameFor(const ServeOptions& options) {
  if (!options.name.empty()) return options.name;
  return std::filesystem::path(options.model.model).stem().string();
}

// Makes the plan for one row before the first request, when the other dimensions are known.
Status WarmUp(CompiledModel& model) {
  std::map<std::string, Shape> shapes;
  for (const TensorInfo& info : model.inputs()) {
    if (!info.type.shape) return OkStatus();
    std::vector<int64_t> dims;
    for (const Dim& dim : *info.type.shape) {
      if (!dim.known() && !dims.empty()) return OkStatus();
      dims.push_back(dim.known() ? dim.value() : 1);
    }
    KHEYA_ASSIGN_OR_RETURN(const Shape shape, Shape::Create(dims));
    shapes.emplace(info.name, shape);
  }
  return model.Prepare(shapes);
}

// Runs still use the server and its models, so that nothing may be destroyed.
[[noreturn]] void EndAtOnce(const ServedModel& model, const Status& busy) {
  LogError("serve", "model '{}': {}; the process ends without it", model.name(), busy.message());
  _exit(GetStatusCodeInfo(busy.code()).exit_code);
}

Status Serve(const ServeOptions& options) {
  KHEYA_ASSIGN_OR_RETURN(std::shared_ptr<CompiledModel> compiled, options.model.Compile());
  KHEYA_RETURN_IF_ERROR(WarmUp(*compiled));
  KHEYA_ASSIGN_OR_RETURN(std::shared_ptr<ServedModel> model,
                         ServedModel::Create(NameFor(options), "1", std::move(compiled)));
  ModelRepository repository;
  KHEYA_RETURN_IF_ERROR(repository.Add(model));
  ServerOptions server_options = options.server;
  server_options.handle_signals = true;
  server_options.max_body_bytes = static_cast<uint64_t>(options.max_body_mib * 1024 * 1024);
  server_options.request_timeout =
      std::chrono::milliseconds(static_cast<int64_t>(options.request_timeout * 1000));
  KHEYA_ASSIGN_OR_RETURN(std::unique_ptr<Server> server,
                         Server::Start(server_options, &repository));
  if (!options.port_file.empty()) {
    KHEYA_RETURN_IF_ERROR(WriteFileAtomic(options.port_file, fmt::format("{}\n", server->port())));
  }
  LogInfo("serve", "model '{}' is served at http://{}", model->name(), server->address());
  if (const Status status = server->Wait(); !status.ok()) EndAtOnce(*model, status);
  LogInfo("serve", "stopped");
  return OkStatus();
}

}  // namespace

CommandBody DefineServe(CLI::App& app) {
  auto options = std::make_shared<ServeOptions>();
  ServerOptions& server = options->server;
  options->model.AddTo(app);
  app.add_option("--name", options->name, "The model's name in URLs (default: of its file)");
  app.add_option("--host", server.host, "Address to listen on")
      ->envname("KHEYA_HOST")
      ->capture_default_str();
  app.add_option("--port,--http-port", server.port, "Port to listen on; 0: any that is free")
      ->envname("KHEYA_PORT")
      ->check(WholeNumber(0, 65535))
      ->capture_default_str();
  app.add_option("--port-file", options->port_file, "Write the port to this file once listening");
  app.add_option("--workers", server.workers, "Requests at work at once; 0: one a CPU")
      ->check(WholeNumber(0));
  app.add_option("--max-queue", server.max_queue, "Requests that may wait; further ones get 503")
      ->check(WholeNumber(1))
      ->capture_default_str();
  app.add_option("--max-connections", server.max_connections, "Connections at once")
      ->check(WholeNumber(1))
      ->capture_default_str();
  app.add_option("--max-body-mib", options->max_body_mib, "Largest request body, in MiB")
      ->check(CLI::Range(0.001, 1048576.0))
      ->capture_default_str();
  app.add_option("--request-timeout", options->request_timeout,
                 "Seconds until a request is given up; 0: none")
      ->check(CLI::Range(0.0, 86400.0));
  app.add_flag("!--no-access-log", server.access_log, "Do not log each request");
  return [options] { return Serve(*options); };
}

}  // namespace kheya
