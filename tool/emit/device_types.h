// The C++ types that a device header's functions take: CUDA's own where it has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emit/view.h"
#include "plan/plan.h"

namespace kf::gen {

/// A value that Slang's code is given apart from others: a type without structs, at a place in a parameter.
struct DeviceLeaf {
    std::string slang_path;  ///< behind the parameter's name: ".spheres[1].center"
    std::string cpp_path;    ///< the same in C++, where a name may have another spelling
    Type type;
    bool differentiable = false;  ///< it is part of the parameter's differential, too
};

/// Why a type has no form in a device header, and what to write instead.
struct DeviceRefusal {
    std::string path;  ///< where in the parameter: ".inner.weights"; empty: the parameter itself
    std::string reason;
    std::string cure;
};

/// Returns nothing where a parameter of the type has a form.
std::optional<DeviceRefusal> refused_by_devices(const Type& type);

/// Whether a parameter of the type is one of the library's structs, which say where its elements are.
bool is_bound(const Type& type);

/// The type with what its name doesn't say: a view's rank.
Type of_rank(const Type& type, std::int64_t rank);

/// The type of a tensor's or pointer's elements; null where there are none.
const Type* elements_of(const Type& type);

/// The library's template that a parameter of the type, or such a result, takes: "Tensor"; empty for none.
std::string device_template(const Type& type);

/// The leaves of a type that has a form, in order.
std::vector<DeviceLeaf> device_leaves(const Type& type);

/// How Slang's code declares a leaf: "float3", "Array<float, 4>"; enums are the integers they are kept in.
std::string device_leaf_name(const DeviceLeaf& leaf);

/// "const Ray& ray", "float3 v", "float (&w)[4]".
std::string device_parameter(const Type& type, const std::string& name, manifest::Role role);
/// "Ray", of all types but arrays.
std::string device_type(const Type& type);
/// Returns the type of a function's result: "Array<float, 4>".
std::string device_result(const Type& type);

/// The structs and vectors that a header declares, each once and those that others are made of first.
class DeviceTypes {
public:
    explicit DeviceTypes(const std::vector<StructText>& texts) : texts_(texts) {}
    void add(const Type& type);
    /// Adds what a parameter, or the result, takes of the library.
    void add_parameter(const Type& type, bool is_result);

    /// Each with "name" and "type".
    [[nodiscard]] const View::List& aliases() const { return aliases_; }
    /// Each with "doc", "name" and "fields".
    [[nodiscard]] const View::List& structs() const { return structs_; }
    /// Names of the library's templates.
    [[nodiscard]] const View::List& given() const { return given_; }

private:
    bool is_new(const std::string& name);
    void add_struct(const Type& type);

    const std::vector<StructText>& texts_;
    std::vector<std::string> known_;
    View::List aliases_;
    View::List structs_;
    View::List given_;
};

}  // namespace kf::gen
