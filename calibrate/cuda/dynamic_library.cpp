#include "calibrate/cuda/dynamic_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

namespace tbdsim::calibrate {

tl::expected<DynamicLibrary, std::string> DynamicLibrary::open(std::initializer_list<const char*> names) {
  const char* const folders = std::getenv("TBDSIM_CUDA_LIBRARIES");
  for (const char* name : names) {
    std::string_view rest = folders != nullptr ? folders : "";
    while (!rest.empty()) {
      const std::string_view folder = rest.substr(0, rest.find(':'));
      rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
      if (void* handle = dlopen((std::string(folder) + "/" + name).c_str(), RTLD_NOW | RTLD_GLOBAL))
        return DynamicLibrary(handle);
    }
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_GLOBAL)) return DynamicLibrary(handle);
  }
  return tl::make_unexpected("no " + std::string(*names.begin()) + " found");
}

void* DynamicLibrary::find(const char* symbol) const { return dlsym(handle_, symbol); }

}  // namespace tbdsim::calibrate
