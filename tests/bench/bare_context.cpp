// What everybody pays before the first kernel, by hand: a Vulkan instance and device, or CUDA's primary
// context. Timed from outside, by run.py, beside first_result.
#include <dlfcn.h>
#include <vulkan/vulkan.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "bare_context: %s failed\n", what);
    std::exit(1);
}

void* open_library(const char* name) {
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) fail(name);
    return library;
}

template <class Function>
Function function(void* library, const char* name) {
    const auto found = reinterpret_cast<Function>(dlsym(library, name));
    if (found == nullptr) fail(name);
    return found;
}

void open_vulkan(std::size_t index) {
    void* library = open_library("libvulkan.so.1");
    const auto get = function<PFN_vkGetInstanceProcAddr>(library, "vkGetInstanceProcAddr");
    VkApplicationInfo application{};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = VK_API_VERSION_1_3;
    VkInstanceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &application;
    VkInstance instance = VK_NULL_HANDLE;
    const auto create = reinterpret_cast<PFN_vkCreateInstance>(get(nullptr, "vkCreateInstance"));
    if (create(&info, nullptr, &instance) != VK_SUCCESS) fail("vkCreateInstance");

    const auto enumerate =
        reinterpret_cast<PFN_vkEnumeratePhysicalDevices>(get(instance, "vkEnumeratePhysicalDevices"));
    std::uint32_t count = 0;
    if (enumerate(instance, &count, nullptr) != VK_SUCCESS) fail("vkEnumeratePhysicalDevices");
    std::vector<VkPhysicalDevice> devices(count);
    if (enumerate(instance, &count, devices.data()) != VK_SUCCESS || index >= count)
        fail("vkEnumeratePhysicalDevices");
    const float priority = 1;
    VkDeviceQueueCreateInfo queue{};
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkDeviceCreateInfo wanted{};
    wanted.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    wanted.queueCreateInfoCount = 1;
    wanted.pQueueCreateInfos = &queue;
    VkDevice device = VK_NULL_HANDLE;
    const auto open = reinterpret_cast<PFN_vkCreateDevice>(get(instance, "vkCreateDevice"));
    if (open(devices[index], &wanted, nullptr, &device) != VK_SUCCESS) fail("vkCreateDevice");
}

void open_cuda(int index) {
    void* library = open_library("libcuda.so.1");
    int device = 0;
    void* context = nullptr;
    if (function<int (*)(unsigned)>(library, "cuInit")(0) != 0) fail("cuInit");
    if (function<int (*)(int*, int)>(library, "cuDeviceGet")(&device, index) != 0) fail("cuDeviceGet");
    const auto retain = function<int (*)(void**, int)>(library, "cuDevicePrimaryCtxRetain");
    if (retain(&context, device) != 0) fail("cuDevicePrimaryCtxRetain");
}

}  // namespace

int main(int argc, char** argv) {
    const char* name = argc > 1 ? argv[1] : "vulkan:0";  // as kf::Device::open() takes it, with a number
    const char* colon = std::strchr(name, ':');
    const int index = colon == nullptr ? 0 : std::atoi(colon + 1);
    if (std::strncmp(name, "cuda", 4) == 0) {
        open_cuda(index);
    } else {
        open_vulkan(static_cast<std::size_t>(index));
    }
    std::puts("open");
    std::fflush(stdout);
}
