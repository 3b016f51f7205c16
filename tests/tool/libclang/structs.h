// What users write: vectors of several libraries' ways, and structs made of them.
#pragma once

#ifdef KF_BROKEN
int broken = ;
#endif

#ifdef KF_BARE
namespace std {
using uint8_t = unsigned char;
using uint16_t = unsigned short;
template <class T, unsigned n>
struct array {
    T all[n];
};
using string = char*;
}  // namespace std
#else
#include <array>
#include <cstdint>
#include <string>
#endif

namespace glmlike {

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
    T& operator[](int i) { return (&x)[i]; }
};
using vec3 = vec<3, float>;

template <int columns, int rows, class T>
struct mat {
    typedef vec<rows, T> col_type;
    col_type& operator[](int i) { return value[i]; }

private:
    col_type value[columns];
};

}  // namespace glmlike

// Named as what the reader asks about types.
using kf_type_list = int;
enum kf_facts_ { kf_facts_more };

namespace app {

/// A vector whose elements have no names, only an operator.
class Indexed {
public:
    float& operator[](int i) { return e[i]; }

private:
    float e[3]{};
};

struct alignas(16) Aligned {
    float x, y, z;
};

struct Half {
    std::uint16_t bits;
};

enum class Shape : std::uint8_t { sphere = 0, plane = 4 };

template <class T>
struct Pair {
    T first, second;
};

struct Base {
    int id;
};

struct Everything : Base {
    glmlike::vec3 position;
    Indexed direction;
    Aligned aligned;
    std::array<float, 4> weights;
    double rows[2][3];
    Pair<bool> flags;
    Half half;
    Shape shape;
    glmlike::mat<2, 3, float> matrix;
    struct {
        int inner;
    } unnamed;
    struct {
        int beside;
    };

protected:
    int hidden;
};

using Alias = Pair<float>;

struct Pointing {
    const char* name;
    int& reference;
    unsigned small : 3;
    std::string text;
};

struct Virtual {
    virtual ~Virtual();
    float x;
};

template <class T>
struct Derived : T {
    float own;
};

/// A vector as Eigen has it: the numbers are in a base class that depends on the template's arguments, whose
/// own base class is a trait's, and copying is written out.
namespace eigenlike {

template <class Derived>
struct Traits;
template <class Derived>
struct MatrixBase {
    enum { IsRowMajor = Traits<Derived>::is_row_major };
};
template <class Derived>
class Storage : public Traits<Derived>::Base {
public:
    Storage() = default;
    Storage(const Storage& other) : Traits<Derived>::Base(other) {}

protected:
    typename Traits<Derived>::Scalar numbers[Traits<Derived>::count];
};
inline namespace v1 {
template <class Scalar, int rows, int columns, class = void>
class Matrix : public Storage<Matrix<Scalar, rows, columns>> {
public:
    enum { RowsAtCompileTime = rows, ColsAtCompileTime = columns };
};
}  // namespace v1
template <class T, int rows, int columns>
struct Traits<Matrix<T, rows, columns>> {
    using Base = MatrixBase<Matrix<T, rows, columns>>;
    using Scalar = T;
    enum { count = rows * columns, is_row_major = 0 };
};

}  // namespace eigenlike

/// Base classes that depend on a partial specialization's parameters, and on several arguments; and some that
/// C++ can't ask about.
template <class T, int n>
struct Some;
template <class T>
struct Some<T*, 2> : Pair<T> {
    T third;
};
template <class T, class U>
struct Two : T, U {
    int last;
};
template <class... Ts>
struct All : Ts... {
    int last;
};

struct Holder {
    template <class T>
    struct Inner : T {
        int own;
    };
};

/// Whose second base class lies in the first one's padding.
class Counter {
public:
    Counter() {}
    double value;
    char small;
};
class Mark {
public:
    Mark() {}
    char mark;
};
struct Marked : Counter, private Mark {};

struct Unmade {
    explicit Unmade(int);
    float x;
};

struct Left {
    double a;
    char b;
};
struct Right {
    int c;
};
struct Both : Left, private Right {
    float d;
};

}  // namespace app
