// A Python object as what is given for an argument: see core/given.h.
#pragma once

#include <kf/pass_kind.h>

#include <memory>
#include <memory_resource>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/given.h"
#include "python/described_tensors.h"
#include "python/host_argument.h"
#include "python/struct_views.h"
#include "python/structs.h"
#include "python/torch_tensors.h"

namespace kf::python {

/// What all objects of a call are read for.
struct Reader {
    StructViews& views;
    const StructClasses& classes;
    detail::PassKind pass;
    bool recorded;
    /// Whether tensors of PyTorch's are described only, since something watches the call.
    bool described = false;
    bool casts = false;  ///< of those, whether torch.autocast() casts them
    mutable TorchCall torch{pass};
};

/// Reads a number, a list or a NumPy array. Returns false where it is none, and, where it looked like one,
/// why not.
bool read_value(py::handle value, detail::ArgShape& shape, std::optional<py::array>& array,
                std::optional<Nested>& nested, detail::Refusal& fault);

/// "expected Ray tensor[1], as a float32 torch.Tensor of shape [*, 6]": what is wanted for structs.
std::string scalars_text(const manifest::ParameterTree& structure, const manifest::StructScalars& scalars,
                         std::size_t rank);

/// Holds the object. It is looked at only as far as somebody asks.
class GivenObject final : public detail::Given {
public:
    using ArgShape = detail::ArgShape;

    GivenObject(const Reader& reader, py::handle value, std::pmr::memory_resource* memory);
    GivenObject(const GivenObject&) = delete;
    GivenObject& operator=(const GivenObject&) = delete;
    ~GivenObject() override;

    [[nodiscard]] const py::object& given() const { return given_; }
    /// What is given, or what is inside of a kf.differentiable().
    [[nodiscard]] const py::object& content() const { return content_; }

    const ArgShape* as_elements(const manifest::Call& call, const manifest::Argument& argument, bool by_value,
                                detail::Refusal* why) override;
    bool holds(ScalarType scalar, detail::Refusal* why) override;
    bool is_nothing() override { return given_.is_none(); }
    bool is_object(bool part) override;
    GivenObject& as_struct(const manifest::ParameterTree& structure, bool tangent) override;
    GivenObject* field(const manifest::ParameterTree& structure, std::size_t field) override;
    /// Returns a field, or its default value; null where there is neither.
    GivenObject* field_or_default(const manifest::ParameterTree& structure, std::size_t field) {
        GivenObject* const found = this->field(structure, field);
        return found != nullptr ? found : default_field(structure, field);
    }
    GivenObject* default_field(const manifest::ParameterTree& structure, std::size_t field) override;
    std::string other_field(const manifest::ParameterTree& structure) override;
    bool lists_fields() override { return PyDict_Check(content_.ptr()) != 0; }
    bool is_of_other_class(const manifest::ParameterTree& structure) override;
    bool has_bytes_of(const manifest::Call& call, const manifest::ParameterTree& structure) override;
    std::optional<std::size_t> length(bool or_array, bool part) override;
    GivenObject& element(std::size_t i) override;
    void each_element(const std::function<bool(Given&)>& visit) override;
    const Dims* as_structs(const manifest::Call& call, const manifest::ParameterTree& structure,
                           bool& is_list, detail::Refusal* why) override;
    [[nodiscard]] int structs_cost() const override;
    [[nodiscard]] std::string text() const override;
    [[nodiscard]] std::string type_text() const override;

    /// Moves what as_elements() or as_structs() found to where the call has it. `as_struct`: as an object.
    void move_to(Host& host, bool as_struct);
    /// Returns its numbers or array, as as_elements() found them.
    [[nodiscard]] const Nested* nested() const { return read_->nested ? &*read_->nested : nullptr; }
    [[nodiscard]] const py::array& array() const { return *read_->array; }
    /// The device of the kf.Tensors in a list that was read as one array; null for anything else.
    [[nodiscard]] const ContextPtr& list_context() const { return list_context_; }

private:
    /// Which struct of Slang's own a value stands for.
    struct OwnForm {
        manifest::OwnStruct own;
        bool tangent;
        bool operator==(const OwnForm&) const = default;
    };

    /// What it was read as.
    struct Read {
        Read() {}  // NOLINT(modernize-use-equals-default): as Host has it

        bool is_read = false;
        bool is_elements = false;
        ArgShape shape;
        std::optional<py::array> array;
        std::optional<Nested> nested;
        const StructType* structure = nullptr;  ///< of an array of structs
        Dims structs;                           ///< the shape of those whose scalars a torch.Tensor holds
        detail::Refusal fault;  ///< why it is no elements; empty where it is just no such thing
    };

    Read& read();
    Read& elements();
    /// Has members' names replaced where an enum's are given, and those given otherwise.
    bool take_names(const manifest::Argument& argument, detail::Refusal* why);
    void see_torch();
    const Dims* as_torch_structs(const manifest::Call& call, const manifest::ParameterTree& structure,
                                 detail::Refusal* why);
    bool take_stand_in(detail::Refusal& fault);
    void see_texture();
    const ArgShape* as_given(const manifest::Call& call, const manifest::Argument& argument, bool by_value,
                             detail::Refusal* why);
    const ArgShape* as_value(detail::Refusal* why);
    DescribedTensor& described();
    const ArgShape* as_cast(const manifest::Argument& argument);
    const ArgShape* as_any_generator(const manifest::Argument& argument);
    bool is_right_resource(const manifest::Argument& argument, detail::Refusal* why);
    py::object find(const manifest::ParameterTree& structure, std::size_t field);
    py::dict own_form(const manifest::ParameterTree& structure, bool tangent) const;
    [[nodiscard]] bool is_own_class(const manifest::ParameterTree& structure) const;

    const Reader& reader_;
    std::pmr::memory_resource* memory_;
    py::object given_;
    py::object content_;     ///< that, or the value inside a Differentiable, which may get another meanwhile
    bool is_batch_ = false;  ///< a kf.Batchable is given: one element for each call
    bool is_stand_in_ = false;  ///< whether something was looked for that stands for `content_`
    ContextPtr list_context_;
    py::object named_;  ///< what `content_` was before names in it became numbers; null: there were none
    Differentiable* differentiable_ = nullptr;
    const Tensor* tensor_ = nullptr;
    const Generator* generator_ = nullptr;
    const Texture* texture_ = nullptr;
    const Sampler* sampler_ = nullptr;    ///< beside a texture: the other one of a pair
    std::unique_ptr<TorchTensor> torch_;  ///< null where `content_` isn't PyTorch's
    bool is_described_ = false;           ///< one of PyTorch's tensors, where these are only described
    std::unique_ptr<DescribedTensor> description_;  ///< of that, once asked for
    Read* read_ = nullptr;
    /// By the field's name; null for one that isn't there.
    std::vector<std::pair<std::string_view, std::unique_ptr<GivenObject>>> fields_;
    std::vector<std::unique_ptr<GivenObject>> elements_;
    /// What stands for it as a struct of Slang's own, by how it does.
    std::vector<std::pair<OwnForm, std::unique_ptr<GivenObject>>> own_forms_;
};

}  // namespace kf::python
