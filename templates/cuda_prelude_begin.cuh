// Goes before Slang's CUDA prelude, whose buffers call SLANG_BOUND_CHECK(): an index outside is made one of memory that is
// nobody's, and the first of the group is kept, for kf.end_checks() of kf_reports.slang to report.
#ifdef KF_CHECKS_BUFFERS
struct kf_WrongIndex {
    unsigned int thread;  // its number from 1 on; 0: none
    unsigned int unit;
    unsigned long long address;
    unsigned long long index;
    unsigned long long count;
};
__shared__ kf_WrongIndex kf_wrong_index;
template <size_t size>
__device__ ulonglong2 kf_nowhere[(3 * size + 15) / 16];

__device__ __forceinline__ unsigned int kf_thread_number() {
    return 1 + threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
__device__ __forceinline__ void kf_begin_checks() {
    if (kf_thread_number() == 1) kf_wrong_index.thread = 0;
    __syncthreads();
}
__device__ __noinline__ void kf_keep_wrong_index(const void* data, size_t index, size_t count,
                                                 unsigned int unit) {
    if (atomicCAS(&kf_wrong_index.thread, 0u, kf_thread_number()) != 0u) return;
    kf_wrong_index.unit = unit;
    kf_wrong_index.address = (unsigned long long)data;
    kf_wrong_index.index = index;
    kf_wrong_index.count = count;
}
template <class T>
__device__ __forceinline__ size_t kf_element_within(T* data, size_t index, size_t count) {
    if (index < count) return index;
    kf_keep_wrong_index(data, index, count, sizeof(T));
    // In the middle, as what is divided is rounded.
    return (size_t)(((long long)kf_nowhere<sizeof(T)> + (long long)sizeof(T) - (long long)data) /
                    (long long)sizeof(T));
}
template <size_t size>
__device__ __forceinline__ size_t kf_byte_within(const void* data, size_t index, size_t count) {
    if (index < count && size <= count - index) return index;
    kf_keep_wrong_index(data, index < count ? count : index, count, 1);
    return (size_t)kf_nowhere<size> - (size_t)data;
}
#define SLANG_BOUND_CHECK(index, count) index = kf_element_within(this->data, index, count);
#define SLANG_BOUND_CHECK_BYTE_ADDRESS(index, elemSize, sizeInBytes) \
    index = kf_byte_within<elemSize>(this->data, index, sizeInBytes);
#endif
