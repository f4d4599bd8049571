#pragma once
#include <initializer_list>
#include <string>
#include <tl/expected.hpp>

namespace tbdsim::calibrate {

/// A library opened when the program runs, so that the program starts, and fits, on machines that lack it. Never closed:
/// CUDA libraries do not survive that.
class DynamicLibrary {
 public:
  /// Opens the first name that a folder of TBDSIM_CUDA_LIBRARIES (colon separated), the loader, or a folder of the toolkit has.
  /// Error: "no libcudnn.so.9 found (TBDSIM_CUDA_LIBRARIES may name its folder)".
  [[nodiscard]] static tl::expected<DynamicLibrary, std::string> open(std::initializer_list<const char*> names);

  /// Sets `function` to the symbol; false if the library is too old to have it.
  template <class F>
  [[nodiscard]] bool get(F& function, const char* symbol) const {
    function = reinterpret_cast<F>(find(symbol));
    return function != nullptr;
  }

 private:
  explicit DynamicLibrary(void* handle) : handle_(handle) {}
  [[nodiscard]] void* find(const char* symbol) const;
  void* handle_;
};

}  // namespace tbdsim::calibrate
