// A project's own structs, which know nothing of kernels. The Slang structs are in host_structs.slang.
#pragma once

#include <array>
#include <cstddef>
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

/// Vectors and matrices as Eigen has them: the numbers are in a base class that depends on the template's
/// arguments, in one array by columns, and copying is written out.
template <class Derived>
struct Traits;
template <class Derived>
class Numbers {
public:
    Numbers() = default;
    Numbers(const Numbers& other) : e_(other.e_) {}
    Numbers& operator=(const Numbers& other) {
        if (this != &other) e_ = other.e_;
        return *this;
    }
    float& operator[](std::size_t i) { return e_[i]; }
    float operator[](std::size_t i) const { return e_[i]; }

private:
    std::array<float, Traits<Derived>::count> e_{};
};
template <int rows, int columns>
class Matrix : public Numbers<Matrix<rows, columns>> {
public:
    enum { RowsAtCompileTime = rows, ColsAtCompileTime = columns, IsRowMajor = 0 };
};
template <int rows, int columns>
struct Traits<Matrix<rows, columns>> {
    static constexpr std::size_t count = rows * columns;
};
using Direction = Matrix<3, 1>;

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
    Matrix<3, 2> flat;
    float stated[6]{};
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
