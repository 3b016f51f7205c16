// What classes of other libraries offer, asked for once each.
#include <string_view>
#include <unordered_map>

#include "python/attributes.h"
#include "python/buffer.h"
#include "python/foreign.h"
#include "python/tensor.h"

namespace kf::python {
namespace {

struct Offer {
    const dlpack::ExchangeApi* exchange = nullptr;
    bool is_foreign = false;
};

bool offers(PyTypeObject* type, const char* name) {
    return static_cast<bool>(attribute_or_null(reinterpret_cast<PyObject*>(type), py::str(name)));
}

/// Returns one of our major version; a library may have older and newer ones.
const dlpack::ExchangeApi* find_exchange(PyTypeObject* type) {
    const py::object capsule =
        attribute_or_null(reinterpret_cast<PyObject*>(type), py::str("__dlpack_c_exchange_api__"));
    if (!capsule || PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api") == 0) return nullptr;
    const auto* api =
        static_cast<const dlpack::ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    while (api != nullptr && api->version.major != dlpack::version.major) api = api->previous;
    return api != nullptr && api->dltensor_from_py_object_no_sync != nullptr ? api : nullptr;
}

Offer ask(PyTypeObject* type) {
    auto* const array = reinterpret_cast<PyTypeObject*>(py::detail::npy_api::get().PyArray_Type_);
    const auto is = [type](const py::handle& known) {
        return PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(known.ptr())) != 0;
    };
    if (PyType_IsSubtype(type, array) != 0 || is(py::type::of<Tensor>()) || is(py::type::of<Buffer>()))
        return {};
    Offer offer{find_exchange(type), false};
    offer.is_foreign =
        offer.exchange != nullptr || offers(type, "__dlpack__") || offers(type, "__cuda_array_interface__");
    return offer;
}

/// The classes that were asked, each until it is gone: another may then have its address. Guarded by the GIL.
class KnownTypes {
public:
    const Offer& of(PyTypeObject* type) {
        if (type == last_) return last_offer_;
        const auto found = types_.find(type);
        last_offer_ = found != types_.end() ? found->second.offer : learn(type);
        last_ = type;
        return last_offer_;
    }

    void forget(PyObject* reference) {
        last_ = nullptr;
        std::erase_if(types_, [reference](const auto& known) {
            if (known.second.reference != reference) return false;
            Py_DECREF(reference);
            return true;
        });
    }

private:
    struct Known {
        Offer offer;
        PyObject* reference = nullptr;  ///< a weak one to the class, which calls forget()
    };

    Offer learn(PyTypeObject* type);

    std::unordered_map<PyTypeObject*, Known> types_;
    PyTypeObject* last_ = nullptr;
    Offer last_offer_;
};

/// Kept past the interpreter's end: classes may go after a static's destructor has run.
KnownTypes& known_types() {
    static KnownTypes& types = *new KnownTypes;
    return types;
}

PyObject* forget_type(PyObject* /*module*/, PyObject* reference) {
    known_types().forget(reference);
    Py_RETURN_NONE;
}

Offer KnownTypes::learn(PyTypeObject* type) {
    static PyMethodDef definition{"forget_type", &forget_type, METH_O, nullptr};
    const Offer offer = ask(type);  // may run code of the class's own
    const auto callback = py::reinterpret_steal<py::object>(PyCFunction_New(&definition, nullptr));
    if (!callback) throw py::error_already_set();
    PyObject* const reference = PyWeakref_NewRef(reinterpret_cast<PyObject*>(type), callback.ptr());
    if (reference == nullptr) throw py::error_already_set();
    if (!types_.emplace(type, Known{offer, reference}).second) Py_DECREF(reference);
    return offer;
}

/// True of numbers, lists and the like, which most arguments are that are no tensors.
bool is_builtin(PyObject* value) {
    return PyLong_CheckExact(value) != 0 || PyFloat_CheckExact(value) != 0 || PyBool_Check(value) != 0 ||
           PyList_CheckExact(value) != 0 || PyTuple_CheckExact(value) != 0 || PyDict_CheckExact(value) != 0 ||
           value == Py_None;
}

}  // namespace

const dlpack::ExchangeApi* exchange_of(PyTypeObject* type) { return known_types().of(type).exchange; }

bool is_foreign(PyObject* value) { return !is_builtin(value) && known_types().of(Py_TYPE(value)).is_foreign; }

}  // namespace kf::python
