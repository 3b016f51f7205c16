// Images that the fake driver takes.
#include "runtime/fake_driver/cuda.h"

namespace kf::test {
namespace {

std::vector<std::byte> image(const std::string& head, const std::string& architecture,
                             const std::string& entries, int version) {
    const std::string text = head + "arch=" + architecture + ";version=" + std::to_string(version) +
                             ";entries=" + entries + ";" + std::string(1, '\0');
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    return {bytes, bytes + text.size()};
}

}  // namespace

std::vector<std::byte> FakeCuda::cubin(const std::string& architecture, const std::string& entries,
                                       int version) {
    return image(
        "\x7F"
        "ELF" +
            std::string(60, ' '),
        architecture, entries, version);
}

std::vector<std::byte> FakeCuda::ptx(const std::string& architecture, const std::string& entries,
                                     int version) {
    return image("// ", architecture, entries, version);
}

}  // namespace kf::test
