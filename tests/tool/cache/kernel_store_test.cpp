// Compiled kernels kept in a folder between runs.
#include "cache/kernel_store.h"

#include <gtest/gtest.h>

#include "tool/output/fake_file_system.h"

namespace kf::gen {
namespace {

CompiledKernel sample() {
    CompiledKernel kernel;
    kernel.code = std::string("\x03\x02#\x07\0\xFF", 6);
    kernel.block_size = 48;
    kernel.block = {{"x", 0, 8}, {"count", 40, 8}};
    kernel.features = {"float16", "int64"};
    kernel.constants = {0, 7};
    return kernel;
}

void expect_same(const CompiledKernel& a, const CompiledKernel& b) {
    EXPECT_EQ(a.code, b.code);
    EXPECT_EQ(a.block_size, b.block_size);
    EXPECT_EQ(a.features, b.features);
    EXPECT_EQ(a.constants, b.constants);
    ASSERT_EQ(a.block.size(), b.block.size());
    for (std::size_t i = 0; i < a.block.size(); ++i) {
        EXPECT_EQ(a.block[i].name, b.block[i].name);
        EXPECT_EQ(a.block[i].offset, b.block[i].offset);
        EXPECT_EQ(a.block[i].size, b.block[i].size);
    }
}

TEST(KernelStore, FindsWhatItKept) {
    FakeFileSystem disk;
    ContentCache cache(disk, "cache");
    CachedKernelStore store(cache);
    EXPECT_FALSE(store.find("any key, not only hexadecimal"));
    store.keep("any key, not only hexadecimal", sample());
    const auto found = CachedKernelStore(cache).find("any key, not only hexadecimal");
    ASSERT_TRUE(found);
    expect_same(*found, sample());
    EXPECT_FALSE(store.find("another key"));
}

TEST(KernelStore, TakesForeignBytesForNone) {
    const std::string bytes = kernel_to_bytes(sample());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        EXPECT_FALSE(kernel_from_bytes(bytes.substr(0, i))) << i;
    }
    EXPECT_FALSE(kernel_from_bytes("\x80"));  // an empty array
    expect_same(kernel_from_bytes(bytes).value(), sample());
}

}  // namespace
}  // namespace kf::gen
