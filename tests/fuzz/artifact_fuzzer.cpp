// libFuzzer's entry point for the reader of artifacts.
#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzz/readers.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    kf::fuzz::read_artifact(std::as_bytes(std::span(data, size)));
    return 0;
}
