// For programs run under the leak sanitizer: drivers and layers stay loaded, so that what they leak has a
// name that tests/lsan.supp can match. The Vulkan loader finds this dlclose before libc's.
extern "C" __attribute__((visibility("default"))) int dlclose(void*) noexcept { return 0; }
