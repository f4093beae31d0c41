// FunctionRef<R(Args...)>: a borrowed callable, two words, no allocation. The callable must outlive
// the call it is passed to.
#ifndef KHEYA_BASE_FUNCTION_REF_H_
#define KHEYA_BASE_FUNCTION_REF_H_

#include <memory>
#include <type_traits>
#include <utility>

namespace kheya {

template <typename Signature>
class FunctionRef;

template <typename R, typename... Args>
class FunctionRef<R(Args...)> {
 public:
  template <typename F,
            typename = std::enable_if_t<!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> &&
                                        std::is_invocable_r_v<R, F&, Args...>>>
  FunctionRef(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
        }) {}
  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

}  // namespace kheya

#endif  // KHEYA_BASE_FUNCTION_REF_H_
