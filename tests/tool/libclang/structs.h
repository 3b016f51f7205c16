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
