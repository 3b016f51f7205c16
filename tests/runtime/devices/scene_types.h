// A project's own structs, which know nothing of kernels. The Slang structs are in host_structs.slang.
#pragma once

#include <array>
#include <cstdint>

namespace app {

/// A vector as GLM has it: each component has several names.
template <int n, class T>
struct vec;
template <class T>
struct vec<3, T> {
    union {
        T x, r;
    };
    union {
        T y, g;
    };
    union {
        T z, b;
    };
};
using vec3 = vec<3, float>;

/// A matrix as GLM has it: column by column.
template <int columns, int rows, class T>
class mat {
public:
    using col_type = vec<rows, T>;
    col_type& operator[](int i) { return value_[i]; }
    const col_type& operator[](int i) const { return value_[i]; }

private:
    col_type value_[columns]{};
};

/// A vector whose elements have no names, only an operator.
class Direction {
public:
    float& operator[](int i) { return e_[i]; }
    float operator[](int i) const { return e_[i]; }

private:
    float e_[3]{};
};

struct alignas(16) Point {
    float x = 0, y = 0, z = 0;
};

struct Surface {
    float roughness = 0;
    std::array<float, 3> albedo{};
    int texture = -1;  ///< no kernel knows of it
};

enum class Shape : std::uint8_t { sphere, plane };

struct Half {
    std::uint16_t bits = 0;
};

struct Named {
    int id = 0;
};

/// A struct with another order than Slang's, other names, gaps and more than kernels know.
struct Ray : Named {
    Half weight;
    bool hit = false;
    Shape shape = Shape::sphere;
    vec3 origin{};
    Direction direction;
    double cost = 0;
    struct {
        float max = 0;
    } t;
    float rows[3][2]{};
    mat<2, 3, float> columns;
    std::array<Surface, 2> materials{};
    Point points[2];
};

/// A struct that kernels lay out alike.
template <class T, class U>
struct Pair {
    T first{};
    U second{};
};

struct View {
    Pair<std::int32_t, std::uint32_t> size;
    float near = 0;
    float far = 0;
};

}  // namespace app
