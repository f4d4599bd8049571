#include "calibrate/cuda/dynamic_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace tbdsim::calibrate {

namespace {

/// Where toolkits put their libraries, CUPTI in a folder of its own that the loader does not search.
constexpr std::string_view kToolkit =
    TBDSIM_CUDA_LIBRARY_DIR ":/usr/local/cuda/lib64:/usr/local/cuda/lib:/usr/local/cuda/extras/CUPTI/lib64";

/// Opens `name` in the first of the colon-separated `folders` that has it.
void* open_in(std::string_view folders, const char* name) {
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folder.size() + 1, folders.size()));
    if (void* handle = dlopen((std::string(folder) + "/" + name).c_str(), RTLD_NOW | RTLD_GLOBAL)) return handle;
  }
  return nullptr;
}

}  // namespace

tl::expected<DynamicLibrary, std::string> DynamicLibrary::open(std::initializer_list<const char*> names) {
  const char* const named = std::getenv("TBDSIM_CUDA_LIBRARIES");
  for (const char* name : names) {
    void* handle = open_in(named != nullptr ? named : "", name);
    if (handle == nullptr) handle = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    if (handle == nullptr) handle = open_in(kToolkit, name);
    if (handle != nullptr) return DynamicLibrary(handle);
  }
  return tl::make_unexpected("no " + std::string(*names.begin()) + " found (TBDSIM_CUDA_LIBRARIES may name its folder)");
}

void* DynamicLibrary::find(const char* symbol) const { return dlsym(handle_, symbol); }

}  // namespace tbdsim::calibrate
