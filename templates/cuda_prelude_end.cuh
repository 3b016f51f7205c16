// Goes behind Slang's CUDA prelude: what kernels' code calls.

// A number that operators wrap, functions of it, what parts of vectors are, and comparisons of matrices.
template <class T>
struct kf_small {
    T value;
    kf_small() = default;
    template <class U>
    __host__ __device__ constexpr kf_small(U other) : value(static_cast<T>(other)) {}
    __host__ __device__ constexpr operator T() const { return value; }
#define KF_OPERATOR(op) \
    __host__ __device__ constexpr friend kf_small operator op(kf_small a, kf_small b) { return T(a.value op b.value); } \
    __host__ __device__ constexpr friend kf_small operator op(kf_small a, int b) { return T(a.value op b); } \
    __host__ __device__ constexpr friend kf_small operator op(int a, kf_small b) { return T(a op b.value); }
    KF_OPERATOR(+) KF_OPERATOR(-) KF_OPERATOR(*) KF_OPERATOR(/) KF_OPERATOR(%)
    KF_OPERATOR(&) KF_OPERATOR(|) KF_OPERATOR(^)
#undef KF_OPERATOR
    __host__ __device__ constexpr friend kf_small operator<<(kf_small a, int b) { return T(a.value << b); }
    __host__ __device__ constexpr friend kf_small operator<<(kf_small a, kf_small b) { return T(a.value << b.value); }
    __host__ __device__ constexpr friend kf_small operator>>(kf_small a, int b) { return T(a.value >> b); }
    __host__ __device__ constexpr friend kf_small operator>>(kf_small a, kf_small b) { return T(a.value >> b.value); }
    __host__ __device__ constexpr friend kf_small operator-(kf_small a) { return T(-a.value); }
    __host__ __device__ constexpr friend kf_small operator+(kf_small a) { return a; }
    __host__ __device__ constexpr friend kf_small operator~(kf_small a) { return T(~a.value); }
};
template <class T>
__device__ __forceinline__ kf_small<T> __ldg(const kf_small<T>* from) { return __ldg(&from->value); }
typedef kf_small<signed char> kf_char;
typedef kf_small<unsigned char> kf_uchar;
typedef kf_small<short> kf_short;
typedef kf_small<unsigned short> kf_ushort;
template <class T>
__device__ __forceinline__ T& kf_part(T& part) { return part; }
template <class T>
__device__ __forceinline__ T kf_part(T&& part) { return part; }
#define KF_PART(type) \
    __device__ __forceinline__ kf_small<type>& kf_part(type& part) { return reinterpret_cast<kf_small<type>&>(part); } \
    __device__ __forceinline__ kf_small<type> kf_part(const type& part) { return part; } \
    __device__ __forceinline__ kf_small<type> kf_part(type&& part) { return part; }
KF_PART(signed char) KF_PART(unsigned char) KF_PART(short) KF_PART(unsigned short)
#undef KF_PART
#define KF_COMPARISON(op) \
    template <class T, int R, int C> \
    __device__ __forceinline__ Matrix<bool, R, C> operator op(const Matrix<T, R, C>& a, const Matrix<T, R, C>& b) { \
        Matrix<bool, R, C> result; \
        for (int i = 0; i < R; ++i) \
            for (int j = 0; j < C; ++j) \
                *_slang_vector_get_element_ptr(result.rows + i, j) = \
                    _slang_vector_get_element(a.rows[i], j) op _slang_vector_get_element(b.rows[i], j); \
        return result; \
    }
KF_COMPARISON(==) KF_COMPARISON(!=) KF_COMPARISON(<) KF_COMPARISON(<=) KF_COMPARISON(>) KF_COMPARISON(>=)
#undef KF_COMPARISON
template <class V, class I>
__device__ __forceinline__ auto kf_element(V v, I i) { return kf_part(_slang_vector_get_element(v, i)); }

// An element of a buffer is assigned to by its name: CUDA 13's compilers get halves wrong otherwise.
template <class T, class U>
__device__ __forceinline__ void kf_store(T& element, const U& value) { element = value; }

// Slang makes buffers of words of byte addresses whose words are changed atomically, and the host counts their bytes.
#ifdef KF_CHECKS_BUFFERS
template <class B>
__device__ __forceinline__ B kf_words_of(B buffer) {
    return buffer;
}
template <class T>
__device__ __forceinline__ RWStructuredBuffer<T> kf_words_of(RWStructuredBuffer<T> buffer) {
    buffer.count /= sizeof(T);
    return buffer;
}
template <class T>
__device__ __forceinline__ StructuredBuffer<T> kf_words_of(StructuredBuffer<T> buffer) {
    buffer.count /= sizeof(T);
    return buffer;
}
#endif
