#include "calibrate/cuda/activity_records.hpp"

namespace tbdsim::calibrate {
namespace {

const char* direction(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "HtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "DtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "DtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return "PtoP";
    default:
      return "other";
  }
}

template <class Record>
Activity common(const Record& record, ActivityKind kind) {
  Activity a;
  a.kind = kind;
  a.correlation = record.correlationId;
  a.stream = record.streamId;
  a.start_ns = static_cast<std::int64_t>(record.start);
  a.end_ns = static_cast<std::int64_t>(record.end);
  return a;
}

Activity kernel(const KernelRecord& record) {
  Activity a = common(record, ActivityKind::kernel);
  a.grid = {record.gridX, record.gridY, record.gridZ};
  a.block = {record.blockX, record.blockY, record.blockZ};
  a.registers = record.registersPerThread;
  a.shared_bytes = record.staticSharedMemory + record.dynamicSharedMemory;
  a.name = record.name != nullptr && *record.name != '\0' ? record.name : "unnamed";
  return a;
}

template <class Record>
Activity copy(const Record& record) {
  Activity a = common(record, ActivityKind::copy);
  a.bytes = static_cast<std::int64_t>(record.bytes);
  a.name = direction(record.copyKind);
  return a;
}

Activity fill(const FillRecord& record) {
  Activity a = common(record, ActivityKind::fill);
  a.bytes = static_cast<std::int64_t>(record.bytes);
  return a;
}

}  // namespace

tl::expected<Cupti, std::string> start_recording(CUpti_BuffersCallbackRequestFunc request,
                                                 CUpti_BuffersCallbackCompleteFunc complete) {
  std::string refused, missing;
  for (const char* name : Cupti::names()) {
    const auto cupti = Cupti::load(name);
    if (!cupti) {
      if (missing.empty()) missing = cupti.error();
      continue;
    }
    CUptiResult status = cupti->cuptiActivityRegisterCallbacks(request, complete);
    for (const CUpti_ActivityKind kind : kRecorded) {
      if (status == CUPTI_SUCCESS) status = cupti->cuptiActivityEnable(kind);
    }
    if (status == CUPTI_SUCCESS) return *cupti;
    stop_recording(*cupti);
    const char* text = nullptr;
    cupti->cuptiGetResultString(status, &text);
    if (refused.empty()) refused = text != nullptr ? text : "CUPTI refuses";
  }
  return tl::make_unexpected(refused.empty() ? missing : refused);
}

void stop_recording(const Cupti& cupti) {
  for (const CUpti_ActivityKind kind : kRecorded) (void)cupti.cuptiActivityDisable(kind);
}

void decode_buffer(const Cupti& cupti, std::uint8_t* buffer, std::size_t size, const std::function<void(const Activity&)>& take) {
  CUpti_Activity* record = nullptr;
  while (cupti.cuptiActivityGetNextRecord(buffer, size, &record) == CUPTI_SUCCESS) {
    switch (record->kind) {
      case CUPTI_ACTIVITY_KIND_KERNEL:
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        take(kernel(*reinterpret_cast<const KernelRecord*>(record)));
        break;
      case CUPTI_ACTIVITY_KIND_MEMCPY:
        take(copy(*reinterpret_cast<const CopyRecord*>(record)));
        break;
      case CUPTI_ACTIVITY_KIND_MEMCPY2:
        take(copy(*reinterpret_cast<const PeerCopyRecord*>(record)));
        break;
      case CUPTI_ACTIVITY_KIND_MEMSET:
        take(fill(*reinterpret_cast<const FillRecord*>(record)));
        break;
      default:
        break;
    }
  }
}

}  // namespace tbdsim::calibrate
