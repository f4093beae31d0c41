// The body of a request under Beast: bytes admitted by the memory budget as they come, so that a
// claimed length alone takes nothing.
#ifndef KHEYA_SERVE_HTTP_BODY_H_
#define KHEYA_SERVE_HTTP_BODY_H_

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional.hpp>
#include <cstring>
#include <string_view>

#include "base/allocator.h"

namespace kheya {

class BodyBytes {
 public:
  // ResourceExhausted when the process's budget refuses.
  Status Append(const void* data, size_t bytes) {
    if (bytes > buffer_.size() - size_) {
      const size_t room = std::max({size_ + bytes, 2 * buffer_.size(), size_t{4096}});
      KHEYA_ASSIGN_OR_RETURN(Buffer grown, Buffer::Allocate(room));
      if (size_ > 0) std::memcpy(grown.data(), buffer_.data(), size_);
      buffer_ = std::move(grown);
    }
    std::memcpy(buffer_.data() + size_, data, bytes);
    size_ += bytes;
    return OkStatus();
  }
  size_t size() const { return size_; }
  std::string_view view() const { return {reinterpret_cast<const char*>(buffer_.data()), size_}; }

 private:
  Buffer buffer_;
  size_t size_ = 0;
};

// A Body in the sense of Beast, for reading.
struct AdmittedBody {
  using value_type = BodyBytes;

  class reader {  // NOLINT(readability-identifier-naming): Beast's name
   public:
    template <bool is_request, class Fields>
    explicit reader(boost::beast::http::header<is_request, Fields>&, value_type& body)
        : body_(body) {}
    void init(const boost::optional<uint64_t>&, boost::system::error_code& error) { error = {}; }
    template <class Buffers>
    size_t put(const Buffers& buffers, boost::system::error_code& error) {
      error = {};
      size_t taken = 0;
      for (auto it = boost::asio::buffer_sequence_begin(buffers);
           it != boost::asio::buffer_sequence_end(buffers); ++it) {
        const boost::asio::const_buffer part = *it;
        if (!body_.Append(part.data(), part.size()).ok()) {
          error = boost::system::errc::make_error_code(boost::system::errc::not_enough_memory);
          return taken;
        }
        taken += part.size();
      }
      return taken;
    }
    void finish(boost::system::error_code& error) { error = {}; }

   private:
    value_type& body_;
  };
};

}  // namespace kheya

#endif  // KHEYA_SERVE_HTTP_BODY_H_
