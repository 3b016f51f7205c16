// kf.Sampler: what it is made of, in words.
#include "python/sampler.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

#include "python/errors.h"
#include "python/scalars.h"

namespace kf::python {
namespace {

// In the order of their enums.
constexpr std::array<std::string_view, 2> filter_words{"nearest", "linear"};
constexpr std::array<std::string_view, 4> address_words{"repeat", "mirror", "clamp", "border"};
constexpr std::array<std::string_view, 9> compare_words{
    "none", "never", "less", "equal", "less_equal", "greater", "not_equal", "greater_equal", "always"};
constexpr std::array<std::string_view, 3> border_words{"transparent_black", "opaque_black", "opaque_white"};

template <class Enum>
Enum option_of(py::handle value, const char* argument, std::span<const std::string_view> words,
               const char* more = "") {
    std::string known;
    for (const std::string_view word : words)
        known += (known.empty() ? "'" : ", '") + std::string(word) + "'";
    const bool is_text = PyUnicode_Check(value.ptr()) != 0;
    const auto found = is_text ? std::ranges::find(words, std::string(utf8_of(value))) : words.end();
    if (found == words.end()) {
        refuse(is_text ? ErrorCode::value_range : ErrorCode::type_mismatch, {"Sampler", argument},
               "expected " + known + more + ", found " + shown(value));
    }
    return static_cast<Enum>(found - words.begin());
}

bool is_tuple(py::handle value) { return PyTuple_Check(value.ptr()) != 0 || PyList_Check(value.ptr()) != 0; }

Filters filters_of(py::handle filter, py::handle mip_filter) {
    const auto read = [](py::handle one) {
        return option_of<Filter>(one, "filter", filter_words,
                                 ", or two of them, of minifying and magnifying");
    };
    Filters filters(Filter::linear);
    if (is_tuple(filter) && py::len(filter) == 2) {
        const auto both = py::reinterpret_borrow<py::sequence>(filter);
        filters = Filters(read(both[0]), read(both[1]), read(both[0]));
    } else {
        filters = Filters(read(filter));
    }
    if (!mip_filter.is_none()) filters.mip = option_of<Filter>(mip_filter, "mip_filter", filter_words);
    return filters;
}

AddressModes addresses_of(py::handle address) {
    const auto read = [](py::handle one) {
        return option_of<AddressMode>(one, "address", address_words, ", or one for each of x, y and z");
    };
    if (!is_tuple(address) || py::len(address) < 1 || py::len(address) > 3) return {read(address)};
    const auto all = py::reinterpret_borrow<py::sequence>(address);
    AddressModes modes(read(all[0]));
    if (all.size() > 1) modes.y = read(all[1]);
    if (all.size() > 2) modes.z = read(all[2]);
    if (all.size() == 2) modes.z = AddressMode::clamp;
    return modes;
}

float float_of(py::handle value, const char* argument) {
    std::array<std::byte, 8> bytes{};
    pack_number(value, ScalarType::float32, bytes.data(), {"Sampler", argument});
    float number = 0;
    std::memcpy(&number, bytes.data(), sizeof number);
    return number;
}

SamplerObject make_sampler(py::handle filter, py::handle address, py::handle mip_filter, py::handle compare,
                           py::handle anisotropy, py::handle lod_min, py::handle lod_max, py::handle lod_bias,
                           py::handle border) {
    SamplerOptions options;
    options.filter = filters_of(filter, mip_filter);
    options.address = addresses_of(address);
    if (!compare.is_none()) {
        options.compare = option_of<Compare>(compare, "compare", compare_words,
                                             ", or None of a sampler that compares nothing");
    }
    options.anisotropy = float_of(anisotropy, "anisotropy");
    options.lod.min = float_of(lod_min, "lod_min");
    options.lod.max = float_of(lod_max, "lod_max");
    options.lod.bias = float_of(lod_bias, "lod_bias");
    options.border = option_of<Border>(border, "border", border_words);
    return {Sampler(options)};
}

template <std::size_t count, class Enum>
py::object word_text(const std::array<std::string_view, count>& words, Enum value) {
    return py::cast(words.at(static_cast<std::size_t>(value)));
}

py::object filter_text(const Filters& filters) {
    py::object minify = word_text(filter_words, filters.minify);
    if (filters.minify == filters.magnify) return minify;
    return py::make_tuple(minify, word_text(filter_words, filters.magnify));
}

py::object address_text(const AddressModes& modes) {
    py::object x = word_text(address_words, modes.x);
    if (modes == AddressModes(modes.x)) return x;
    return py::make_tuple(x, word_text(address_words, modes.y), word_text(address_words, modes.z));
}

py::object compare_text(Compare compare) {
    return compare == Compare::none ? py::none() : word_text(compare_words, compare);
}

/// What kf.Sampler() takes to make the same, without what it has anyway.
py::dict arguments_of(const SamplerOptions& options) {
    const SamplerOptions plain;
    py::dict given;
    given["filter"] = filter_text(options.filter);
    given["address"] = address_text(options.address);
    if (options.filter.mip != options.filter.minify)
        given["mip_filter"] = word_text(filter_words, options.filter.mip);
    if (options.compare != plain.compare) given["compare"] = compare_text(options.compare);
    if (options.anisotropy != plain.anisotropy) given["anisotropy"] = options.anisotropy;
    if (options.lod.min != plain.lod.min) given["lod_min"] = options.lod.min;
    if (options.lod.max != plain.lod.max) given["lod_max"] = options.lod.max;
    if (options.lod.bias != plain.lod.bias) given["lod_bias"] = options.lod.bias;
    if (options.border != plain.border) given["border"] = word_text(border_words, options.border);
    return given;
}

}  // namespace

const Sampler* as_sampler(py::handle value) {
    const SamplerObject* object = held<SamplerObject>(value);
    return object != nullptr ? &object->sampler : nullptr;
}

std::string sampler_text(const Sampler& sampler) {
    std::string text;
    for (const auto& [name, value] : arguments_of(sampler.options()))
        text += (text.empty() ? "" : ", ") + std::string(py::str(name)) + "=" + std::string(py::repr(value));
    return "Sampler(" + text + ")";
}

void bind_sampler(py::module_& module) {
    const auto options = [](auto member) {
        return [member](const SamplerObject& self) { return member(self.sampler.options()); };
    };
    py::class_<SamplerObject>(module, "Sampler",
                              "How a texture is read at a place between its texels. Belongs to no device.")
        .def(py::init(&make_sampler), py::arg("filter") = "linear", py::arg("address") = "clamp",
             py::kw_only(), py::arg("mip_filter") = py::none(), py::arg("compare") = py::none(),
             py::arg("anisotropy") = 1, py::arg("lod_min") = 0, py::arg("lod_max") = 1000,
             py::arg("lod_bias") = 0, py::arg("border") = "transparent_black",
             "`filter`: 'nearest' or 'linear', or one for minifying and one for magnifying; `mip_filter`, "
             "between mips, is\nthe first of them. `address`, what lies outside: 'repeat', 'mirror', 'clamp' "
             "or "
             "'border', or one for each of x, y, z.\n`compare` makes it what SamplerComparisonState takes: "
             "'less' is 1 where the value given is less than the texel.")
        .def_property_readonly("filter", options([](const auto& all) { return filter_text(all.filter); }))
        .def_property_readonly("address", options([](const auto& all) { return address_text(all.address); }))
        .def_property_readonly(
            "mip_filter", options([](const auto& all) { return word_text(filter_words, all.filter.mip); }))
        .def_property_readonly("compare", options([](const auto& all) { return compare_text(all.compare); }))
        .def_property_readonly("anisotropy", options([](const auto& all) { return all.anisotropy; }))
        .def_property_readonly("lod_min", options([](const auto& all) { return all.lod.min; }))
        .def_property_readonly("lod_max", options([](const auto& all) { return all.lod.max; }))
        .def_property_readonly("lod_bias", options([](const auto& all) { return all.lod.bias; }))
        .def_property_readonly("border",
                               options([](const auto& all) { return word_text(border_words, all.border); }))
        .def("__reduce__",
             [](const SamplerObject& self) {
                 const py::object partial = py::module_::import("functools").attr("partial");
                 return py::make_tuple(
                     partial(py::type::of<SamplerObject>(), **arguments_of(self.sampler.options())),
                     py::tuple());
             })
        .def("__eq__",
             [](const SamplerObject& self, py::handle other) -> py::object {
                 const Sampler* sampler = as_sampler(other);
                 if (sampler == nullptr) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
                 return py::bool_(self.sampler.options() == sampler->options());
             })
        .def("__hash__",
             [](const SamplerObject& self) { return py::hash(py::str(sampler_text(self.sampler))); })
        .def("__repr__", [](const SamplerObject& self) { return sampler_text(self.sampler); });
}

}  // namespace kf::python
