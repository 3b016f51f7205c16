// Walks Slang's declarations.
#include "slang/reflect.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "slang/com_ptr.h"
#include "slang/declaration.h"
#include "slang/entry_points.h"
#include "slang/flag_enums.h"
#include "slang/session.h"
#include "slang/types.h"
#include "slang/workarounds/module_text.h"

namespace kf::gen {

namespace {

namespace fs = std::filesystem;
using slang::DeclReflection;
using slang::Modifier;

Direction direction_of(slang::VariableReflection& parameter) {
    if (parameter.findModifier(Modifier::InOut) != nullptr) {
        return Direction::inout;
    }
    if (parameter.findModifier(Modifier::Out) == nullptr) {
        return Direction::in;
    }
    // "in out", as HLSL has it.
    return parameter.findModifier(Modifier::In) != nullptr ? Direction::inout : Direction::out;
}

class FunctionWalker {
public:
    FunctionWalker(slang::ISession& session, slang::IModule& module, Sources& sources,
                   std::vector<Function>& functions, std::vector<StructText>& structs,
                   std::vector<SharedMember>& shared, slang::ProgramLayout* sizes)
        : session_(&session),
          types_(*module.getLayout(), sizes),
          sources_(&sources),
          functions_(&functions),
          structs_(&structs),
          shared_(&shared) {}

    void walk_module(DeclReflection& module) {
        for (unsigned index = 0; index < module.getChildrenCount(); ++index) {
            DeclReflection& child = *module.getChild(index);
            if (is_included_file(child)) {
                walk_children(child, {});
            } else {
                walk(child, {});
            }
        }
    }

    /// Notes those whose attributes a macro writes. Of most Slang is given plain functions; those that it
    /// still takes for entry points can't be called.
    void note_entry_points(slang::IModule& module, const std::vector<MacroEntry>& entries) {
        for (SlangInt32 index = 0; index < module.getDefinedEntryPointCount(); ++index) {
            ComPtr<slang::IEntryPoint> entry;
            if (SLANG_FAILED(module.getDefinedEntryPoint(index, entry.out()))) continue;
            const std::string_view name = entry->getFunctionReflection()->getName();
            for (Function& function : *functions_) {
                if (function.name == name && function.entry != EntryPoint::other)
                    function.entry = EntryPoint::by_macros;
            }
        }
        for (const MacroEntry& entry : entries) {
            for (Function& function : *functions_) {
                if (function.location != entry.place || function.entry == EntryPoint::by_macros) continue;
                function.entry = entry.is_compute ? EntryPoint::compute : EntryPoint::other;
                function.group_size = entry.group_size;
            }
        }
    }

    void note_overloads(slang::ProgramLayout& program) {
        for (Function& function : *functions_) {
            const auto named = [&](const Function& other) { return other.name == function.name; };
            slang::FunctionReflection* found = function.member == Member::none && !function.is_overload
                                                   ? program.findFunctionByName(function.name.c_str())
                                                   : nullptr;
            function.is_overload =
                function.is_overload ||
                (found != nullptr && found->isOverloaded() &&
                 found->getOverloadCount() > std::count_if(functions_->begin(), functions_->end(), named));
        }
    }

    /// Entry points' parameters that are structs of system values. The structs may stand behind them, and in
    /// modules that this one imports.
    void note_system_structs(slang::IModule& module) {
        if (std::any_of(functions_->begin(), functions_->end(), [](const Function& function) {
                return function.entry == EntryPoint::compute && !function.parameters.empty();
            }))
            note_imported_semantics(module);
        for (Function& function : *functions_) {
            if (function.entry != EntryPoint::compute) continue;
            for (std::size_t i = 0; i < function.parameters.size();) {
                const Parameter& parameter = function.parameters[i];
                std::vector<SystemValue> fields = system_fields(parameter.type, function.location);
                if (fields.empty()) {
                    ++i;
                    continue;
                }
                auto& values = function.system_values;
                auto next = std::find_if(values.begin(), values.end(),
                                         [&](const SystemValue& value) { return value.before > i; });
                next = values.insert(
                    next, {parameter.name, {}, parameter.type, i, function.location, std::move(fields)});
                while (++next != values.end()) --next->before;
                function.parameters.erase(function.parameters.begin() + static_cast<std::ptrdiff_t>(i));
            }
        }
    }

    // [BackwardDerivativeOf(f)] makes f differentiable though nothing at f shows it.
    void apply_derivatives() {
        for (Function& function : *functions_) {
            const std::size_t dot = function.name.rfind('.');
            const std::string last = dot == std::string::npos ? function.name : function.name.substr(dot + 1);
            if (derivatives_of_.contains(function.name) || derivatives_of_.contains(last)) {
                function.backward_differentiable = true;
            }
        }
    }

private:
    struct Scope {
        std::string prefix;  // "ns." or "Type."
        bool in_type = false;
        std::vector<GenericParameter> generics = {};
        std::size_t depth = 0;  // how many names the prefix has
        std::string type = {};  // the struct's: "ns.Box<T>"
        bool open = false;      // whether that names generic parameters
        bool extends = false;   // an extension of it
        bool shared = false;    // `type` is a pattern, with the generic parameters so far
    };

    Type type_of(const Scope& scope) const {
        return scope.open ? named_only(scope.type) : types_.describe_named(scope.type);
    }

    Location location_of(DeclReflection& declaration) const { return place_of(*session_, declaration); }

    // Slang does not say which unsupported declaration is an __include'd file and which an extension, in the
    // module or in what it #includes, or of the compiler's own: the file says what module it implements.
    bool is_included_file(DeclReflection& declaration) {
        if (declaration.getKind() != DeclReflection::Kind::Unsupported) {
            return false;
        }
        for (unsigned index = 0; index < declaration.getChildrenCount(); ++index) {
            DeclReflection& child = *declaration.getChild(index);
            const Location place = location_of(child);
            if (child.getKind() == DeclReflection::Kind::Unsupported && !place.file.empty() &&
                source(place.file)->text_at(place.line, place.column).starts_with("implementing")) {
                return true;
            }
        }
        return false;
    }

    void walk_children(DeclReflection& declaration, const Scope& scope) {
        for (unsigned index = 0; index < declaration.getChildrenCount(); ++index) {
            walk(*declaration.getChild(index), scope);
        }
    }

    void walk(DeclReflection& declaration, const Scope& scope) {
        // Slang throws when an unsupported declaration is asked for its name.
        const DeclReflection::Kind kind = declaration.getKind();
        if (kind == DeclReflection::Kind::Func) {
            add_function(declaration, scope);
        } else if (kind == DeclReflection::Kind::Namespace) {
            const std::string name = scope.prefix + declaration.getName();
            walk_children(declaration, {name + ".", scope.in_type, scope.generics, scope.depth + 1, name});
        } else if (kind == DeclReflection::Kind::Struct && !location_of(declaration).file.empty()) {
            const std::string prefix = scope.prefix + declaration.getName();
            const std::string outer = scope.type.empty() ? "" : scope.type + ".";
            const std::string own = own_generics(scope);
            add_struct(declaration, prefix);
            walk_children(declaration, {prefix + ".", true, scope.generics, scope.depth + 1,
                                        outer + declaration.getName() + own, scope.open || !own.empty()});
        } else if (kind == DeclReflection::Kind::Generic) {
            slang::GenericReflection* generic = declaration.asGeneric();
            if (DeclReflection* inner = generic->getInnerDecl()) {
                Scope with_parameters = scope;
                add_generics(declaration, *generic, with_parameters);
                walk(*inner, with_parameters);
            }
        } else if (kind == DeclReflection::Kind::Unsupported && !add_subscript(declaration, scope)) {
            walk_extension(declaration, scope);
        }
    }

    // Reading an element is a method "operator[]", whose parameters are the subscript's. Slang names neither
    // it nor its place, only that of its accessors.
    bool add_subscript(DeclReflection& declaration, const Scope& scope) {
        if (!scope.in_type) {
            return false;
        }
        bool found = false;
        for (unsigned index = 0; index < declaration.getChildrenCount(); ++index) {
            DeclReflection& child = *declaration.getChild(index);
            const bool function = child.getKind() == DeclReflection::Kind::Func;
            const Location place = function ? location_of(child) : Location();
            if (place.file.empty() ||
                source(place.file)->type_around(place.line, place.column, "__subscript").empty()) {
                continue;
            }
            found = true;
            if (source(place.file)->text_at(place.line, place.column).starts_with("get")) {
                add_function(child, scope, &declaration);
            }
        }
        return found;
    }

    // Both "///" above and "///<" behind are a field's.
    void add_struct(DeclReflection& declaration, const std::string& name) {
        const Location place = location_of(declaration);
        StructText text{name, source(place.file)->declaration_at(place.line, place.column).doc, {}};
        for (unsigned index = 0; index < declaration.getChildrenCount(); ++index) {
            DeclReflection& child = *declaration.getChild(index);
            const Location at =
                child.getKind() == DeclReflection::Kind::Variable ? location_of(child) : Location();
            if (at.file.empty()) {
                continue;
            }
            SourceText& written = *source(at.file);
            std::string doc = written.declaration_at(at.line, at.column).doc;
            if (doc.empty()) {
                doc = written.comment_behind(at.line, at.column);
            }
            if (!doc.empty()) {
                text.fields.emplace_back(child.getName(), doc);
            }
        }
        if (!text.doc.empty() || !text.fields.empty()) {
            structs_->push_back(std::move(text));
        }
        note_semantics(declaration, name);
    }

    /// Notes which of a struct's fields a GPU fills, but for one whose name another has, nearer by.
    void note_semantics(DeclReflection& declaration, const std::string& name) {
        const auto [noted, is_new] = values_of_structs_.try_emplace(name);
        if (!is_new) return;
        for (unsigned index = 0; index < declaration.getChildrenCount(); ++index) {
            DeclReflection& child = *declaration.getChild(index);
            const Location at =
                child.getKind() == DeclReflection::Kind::Variable ? location_of(child) : Location();
            if (at.file.empty()) continue;
            std::string semantic = source(at.file)->semantic_of(at.line, at.column);
            if (semantic.starts_with("SV_"))
                noted->second.push_back({child.getName(), std::move(semantic), {}, 0, at});
        }
    }

    /// Does the same for all structs of the modules that `module` imports, once its own are noted.
    void note_imported_semantics(slang::IModule& module) {
        std::set<fs::path> files;
        for (SlangInt32 index = 0; index < module.getDependencyFileCount(); ++index)
            files.insert(canonical_path(module.getDependencyFilePath(index)));
        for (slang::IModule* imported : loaded_modules(*session_)) {
            const char* path = imported->getFilePath();
            if (imported != &module && path != nullptr && files.contains(canonical_path(path)))
                note_semantics_in(*imported->getModuleReflection(), {});
        }
    }

    void note_semantics_in(DeclReflection& parent, const std::string& prefix) {
        for (unsigned index = 0; index < parent.getChildrenCount(); ++index) {
            DeclReflection& child = *parent.getChild(index);
            const DeclReflection::Kind kind = child.getKind();
            if (kind == DeclReflection::Kind::Namespace) {
                note_semantics_in(child, prefix + child.getName() + ".");
            } else if (kind == DeclReflection::Kind::Struct && !location_of(child).file.empty()) {
                note_semantics(child, prefix + child.getName());
                note_semantics_in(child, prefix + child.getName() + ".");
            } else if (is_included_file(child)) {
                note_semantics_in(child, prefix);
            }
        }
    }

    // What an extension adds to a struct is a member of it like its own.
    void walk_extension(DeclReflection& declaration, const Scope& scope) {
        const Location place = place_inside(declaration);
        if (place.file.empty()) {
            return;
        }
        const std::string conforming = source(place.file)->type_around(place.line, place.column, "interface");
        if (!conforming.empty()) {
            const Type inner = types_.describe_named(scope.prefix + conforming);
            walk_interface(declaration,
                           inner.kind == TypeKind::other ? types_.describe_named(conforming) : inner);
            return;
        }
        const std::string text =
            in_scope(source(place.file)->type_around(place.line, place.column, "extension"), scope);
        const std::size_t arguments = std::min(text.find('<'), text.size());
        if (text.empty()) {
            return;
        }
        const std::string own = own_generics(scope);
        if (!own.empty()) {
            // A member of every Box<T> is as one of Box<T>. Others are told apart when a type is chosen.
            std::string pattern = own;
            std::erase(pattern, ' ');
            const std::string name = text.substr(0, arguments);
            const bool builtin = name == "vector" || name == "matrix" || name == "Array";
            const std::size_t names = count_names(name);
            Scope inside{"", true, scope.generics, names, text, true, true, true};
            for (GenericParameter& generic : inside.generics) {
                generic.part = names - 1;
            }
            if (text.substr(arguments) == pattern && !builtin) {
                inside.prefix = name + ".";
                inside.type = name + own;
                inside.shared = false;
            }
            walk_children(declaration, inside);
            return;
        }
        const Type type = types_.describe_named(text);
        if (type.kind == TypeKind::structure || type.kind == TypeKind::scalar ||
            type.kind == TypeKind::vector || type.kind == TypeKind::matrix) {
            walk_children(declaration,
                          {type.name + ".", true, {}, count_names(type.name), type.name, false, true});
        }
    }

    // A type as it is called outside of the namespaces that it is named in: "ns.Box<T,ns.Ray>" of
    // "Box<T,Ray>".
    std::string in_scope(const std::string& text, const Scope& scope) const {
        std::string whole;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t begin = at;
            while (at < text.size() && is_name_part(text[at])) {
                ++at;
            }
            if (at == begin) {
                whole += text[at++];
                continue;
            }
            // What follows arguments is a name inside of what they are of.
            const bool inner = begin > 0 && text[begin - 1] == '>';
            const std::string name = dotted(text.substr(begin, at - begin));
            whole += inner ? name : outer_name(name, scope);
        }
        return whole;
    }

    std::string outer_name(const std::string& name, const Scope& scope) const {
        const bool stands_for_another =
            std::any_of(scope.generics.begin(), scope.generics.end(),
                        [&](const GenericParameter& generic) { return generic.name == name; });
        if (stands_for_another) {
            return name;
        }
        for (std::string prefix = scope.prefix; !prefix.empty();) {
            if (types_.describe_named(prefix + name).kind != TypeKind::other) {
                return prefix + name;
            }
            prefix.pop_back();
            prefix.erase(prefix.rfind('.') + 1);
        }
        return name;
    }

    static bool is_name_part(char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == ':';
    }

    static std::string dotted(std::string name) {
        for (std::size_t at = name.find("::"); at != std::string::npos; at = name.find("::")) {
            name.replace(at, 2, ".");
        }
        return name;
    }

    // What it gives a body to, all that conform to it have.
    void walk_interface(DeclReflection& declaration, const Type& conforming) {
        if (conforming.kind != TypeKind::interface) {
            return;
        }
        // The compiler's own extensions, for derivatives, stand in the interface as they do in types.
        const Scope inside{"", true, {{"This", {}, {conforming.name}, 0}}, 1, "This", true, true, true};
        for (unsigned index = 0; index < declaration.getChildrenCount(); ++index) {
            DeclReflection& child = *declaration.getChild(index);
            if (child.getKind() != DeclReflection::Kind::Func) {
                continue;
            }
            const Location place = location_of(child);
            if (place.file.empty() || !source(place.file)->has_body(place.line, place.column)) {
                continue;
            }
            const std::size_t before = shared_->size();
            add_function(child, inside);
            if (shared_->size() > before) {
                call_this(shared_->back().function, conforming.name + ".This");
            }
        }
    }

    // Slang's name for the type that conforms has the interface's in front.
    static void call_this(Function& function, const std::string& slangs) {
        const auto rename = [&](std::string& name) {
            for (std::size_t at = name.find(slangs); at != std::string::npos; at = name.find(slangs)) {
                name.replace(at, slangs.size(), "This");
            }
        };
        rename(function.result.name);
        for (Parameter& parameter : function.parameters) {
            rename(parameter.type.name);
        }
    }

    // Its types name generic parameters of the pattern, which are settled first, and of its own.
    void add_shared(Function function, const Scope& scope) {
        SharedMember member{scope.type, {}, {}};
        std::vector<GenericParameter> own;
        for (GenericParameter& generic : function.generics) {
            (generic.part < scope.depth ? member.generics : own).push_back(std::move(generic));
        }
        function.generics = std::move(own);
        if (function.member == Member::method && !may_differentiate(member)) {
            function.parameters.front().no_diff = true;
        }
        member.function = std::move(function);
        shared_->push_back(std::move(member));
    }

    // A type that conforms to an interface is no more differentiable than the interface says.
    bool may_differentiate(const SharedMember& member) const {
        const auto named =
            std::find_if(member.generics.begin(), member.generics.end(),
                         [&](const GenericParameter& one) { return one.name == member.owner; });
        return named == member.generics.end() ||
               std::any_of(named->constraints.begin(), named->constraints.end(),
                           [&](const std::string& one) { return types_.describe_named(one).differentiable; });
    }

    // Two of "ns.Box<ns.Ray>".
    static std::size_t count_names(std::string_view type) {
        std::size_t count = 1;
        int nested = 0;
        for (const char c : type) {
            nested += c == '<' ? 1 : c == '>' ? -1 : 0;
            count += c == '.' && nested == 0 ? 1 : 0;
        }
        return count;
    }

    // Where some function of the declaration's is.
    Location place_inside(DeclReflection& declaration) const {
        for (unsigned index = 0; index < declaration.getChildrenCount(); ++index) {
            DeclReflection& child = *declaration.getChild(index);
            DeclReflection* inner = &child;
            if (child.getKind() == DeclReflection::Kind::Generic) {
                inner = child.asGeneric()->getInnerDecl();
            }
            if (inner == nullptr || inner->getKind() != DeclReflection::Kind::Func) {
                continue;
            }
            Location place = location_of(*inner);
            if (!place.file.empty()) {
                return place;
            }
        }
        return {};
    }

    // "<T, N>" of what the next name declares.
    static std::string own_generics(const Scope& scope) {
        std::string text;
        for (const GenericParameter& generic : scope.generics) {
            if (generic.part != scope.depth) {
                continue;
            }
            text += (text.empty() ? "<" : ", ") + generic.name;
        }
        return text.empty() ? text : text + ">";
    }

    // Slang lists types and values apart. The declaration's children have both in order, between constraints
    // that have no place in the source.
    void add_generics(DeclReflection& declaration, slang::GenericReflection& generic, Scope& scope) const {
        unsigned types = 0;
        unsigned values = 0;
        for (unsigned index = 0; index < declaration.getChildrenCount(); ++index) {
            DeclReflection& child = *declaration.getChild(index);
            if (child.getKind() == DeclReflection::Kind::Variable &&
                values < generic.getValueParameterCount()) {
                slang::VariableReflection* parameter = generic.getValueParameter(values++);
                scope.generics.push_back(
                    {parameter->getName(), full_name(*parameter->getType()), {}, scope.depth});
            } else if (child.getKind() == DeclReflection::Kind::Unsupported &&
                       types < generic.getTypeParameterCount() && location_of(child).line > 0) {
                slang::VariableReflection* parameter = generic.getTypeParameter(types++);
                scope.generics.push_back(
                    {parameter->getName(), {}, constraints_of(generic, *parameter), scope.depth});
            }
        }
    }

    static std::vector<std::string> constraints_of(slang::GenericReflection& generic,
                                                   slang::VariableReflection& parameter) {
        std::vector<std::string> names;
        for (unsigned index = 0; index < generic.getTypeParameterConstraintCount(&parameter); ++index) {
            if (slang::TypeReflection* type = generic.getTypeParameterConstraintType(&parameter, index)) {
                names.push_back(full_name(*type));
            }
        }
        std::sort(names.begin(), names.end());
        return names;
    }

    SourceText* source(const std::string& file) {
        const auto known = texts_.find(file);
        if (known != texts_.end()) {
            return &known->second;
        }
        // The text that Slang has read, whatever the disk holds by now.
        const std::string* text = sources_->find(file);
        return &texts_.emplace(file, SourceText(text != nullptr ? *text : std::string())).first->second;
    }

    // The parameters of a subscript's accessor are `subscript`'s.
    void add_function(DeclReflection& declaration, const Scope& scope, DeclReflection* subscript = nullptr) {
        slang::FunctionReflection* reflected = declaration.asFunction();
        const char* name = subscript != nullptr ? "[]" : declaration.getName();
        if (reflected == nullptr || name == nullptr) {
            return;
        }
        const Location location = location_of(declaration);
        const bool constructs = std::string_view(name) == "$init" && is_written(location);
        // "$__syn_dadd" and the constructor of a struct that has none are the compiler's own, and some are
        // kfgen's.
        if ((name[0] == '$' && !constructs) || is_added_name(name)) {
            return;
        }
        SourceText& text = *source(location.file);
        // "()" may have blanks in it.
        const bool is_operator = !constructs && !is_name_part(name[0]);
        const std::string_view begin = is_operator ? std::string_view(name, 1) : std::string_view(name);
        // So are the extensions that hold a method's derivatives; each stands where the method does.
        if (scope.extends && !constructs && subscript == nullptr &&
            !text.text_at(location.line, location.column).starts_with(begin)) {
            return;
        }
        const DeclarationText written = text.declaration_at(location.line, location.column);
        Function function;
        function.name = scope.prefix + (is_operator ? "operator" : "") + (constructs ? "__init" : name);
        // Slang has operators of its own for every symbol, and crashes when it is asked for them by name.
        function.is_overload = is_operator;
        function.result = constructs ? type_of(scope) : types_.describe(reflected->getReturnType());
        // What is a T that need not be differentiable has no gradient, even where T is float.
        function.no_diff_result =
            has(*reflected, Modifier::NoDiff) || (!function.result.differentiable && !scope.generics.empty());
        function.generics = scope.generics;
        if (constructs) {
            function.member = Member::constructor;
        } else if (scope.in_type) {
            function.member = has(*reflected, Modifier::Static) ? Member::static_one : Member::method;
        }
        function.backward_differentiable =
            has(*reflected, Modifier::Differentiable) && !is_forward_only(written.attributes);
        function.forward_differentiable =
            has(*reflected, Modifier::Differentiable) && !is_backward_only(written.attributes);
        function.forward_by_hand =
            std::any_of(written.attributes.begin(), written.attributes.end(),
                        [](const std::string& one) { return one.starts_with("ForwardDerivative("); });
        function.doc = written.doc;
        function.location = location;
        note_entry(written.attributes, function);
        if (function.member == Member::method) {
            function.parameters.push_back(object_of(*reflected, scope, written.attributes));
        }
        for (slang::VariableReflection* reflected_parameter :
             subscript != nullptr ? variables_of(*subscript) : parameters_of(*reflected)) {
            slang::VariableReflection& parameter = *reflected_parameter;
            if (subscript == nullptr && add_system_value(declaration, parameter, function)) continue;
            Parameter& added = function.parameters.emplace_back();
            added.name = parameter.getName() != nullptr ? parameter.getName() : "";
            added.type = types_.describe(parameter.getType());
            note_format(subscript != nullptr ? *subscript : declaration, added);
            added.direction = direction_of(parameter);
            added.has_default = added.direction == Direction::in && parameter.hasDefaultValue();
            // Slang adds no_diff to what cannot be differentiated anyway.
            const bool no_diff = parameter.findModifier(Modifier::NoDiff) != nullptr;
            added.no_diff = (added.type.differentiable || function.is_generic()) && no_diff;
            added.no_diff_written =
                no_diff && says_no_diff(subscript != nullptr ? *subscript : declaration, added.name);
        }
        note_derivative(written.attributes);
        if (scope.shared) {
            add_shared(std::move(function), scope);
        } else {
            functions_->push_back(std::move(function));
        }
    }

    static std::vector<slang::VariableReflection*> parameters_of(slang::FunctionReflection& function) {
        std::vector<slang::VariableReflection*> parameters;
        for (unsigned index = 0; index < function.getParameterCount(); ++index) {
            parameters.push_back(function.getParameterByIndex(index));
        }
        return parameters;
    }

    static std::vector<slang::VariableReflection*> variables_of(DeclReflection& declaration) {
        std::vector<slang::VariableReflection*> variables;
        for (unsigned index = 0; index < declaration.getChildrenCount(); ++index) {
            DeclReflection& child = *declaration.getChild(index);
            if (child.getKind() == DeclReflection::Kind::Variable) {
                variables.push_back(child.asVariable());
            }
        }
        return variables;
    }

    // The function's children are its parameters, which have places in the source.
    Location place_of_parameter(DeclReflection& function, std::string_view parameter) {
        for (unsigned index = 0; index < function.getChildrenCount(); ++index) {
            DeclReflection& child = *function.getChild(index);
            if (child.getKind() == DeclReflection::Kind::Variable && child.getName() != nullptr &&
                child.getName() == parameter) {
                return location_of(child);
            }
        }
        return {};
    }

    bool says_no_diff(DeclReflection& function, const std::string& parameter) {
        const Location at = place_of_parameter(function, parameter);
        return !at.file.empty() && source(at.file)->is_marked(at.line, at.column, "no_diff");
    }

    void note_format(DeclReflection& function, Parameter& parameter) {
        Type* inner = &parameter.type;
        while (inner->kind == TypeKind::array && !inner->element.empty()) inner = &inner->element.front();
        // One that names generic parameters may be a texture.
        if (inner->kind != TypeKind::texture && inner->kind != TypeKind::other) return;
        const Location at = place_of_parameter(function, parameter.name);
        if (!at.file.empty())
            inner->texture.format = stated_format(source(at.file)->attributes_of(at.line, at.column));
    }

    // A parameter with a semantic that a GPU fills.
    bool add_system_value(DeclReflection& declaration, slang::VariableReflection& parameter,
                          Function& function) {
        if (parameter.getName() == nullptr) return false;
        const Location at = place_of_parameter(declaration, parameter.getName());
        if (at.file.empty()) return false;
        std::string semantic = source(at.file)->semantic_of(at.line, at.column);
        if (!semantic.starts_with("SV_")) return false;
        function.system_values.push_back({parameter.getName(), std::move(semantic),
                                          types_.describe(parameter.getType()), function.parameters.size(),
                                          at});
        return true;
    }

    // The fields of a struct that a GPU fills; none where it fills none of them.
    std::vector<SystemValue> system_fields(const Type& type, const Location& place) const {
        const auto noted = values_of_structs_.find(type.name);
        std::vector<SystemValue> fields;
        bool any = noted != values_of_structs_.end() && !noted->second.empty();
        for (const Field& field : type.fields) {
            SystemValue value{field.name, {}, field.type, 0, place, system_fields(field.type, place)};
            any = any || !value.fields.empty();
            if (noted != values_of_structs_.end()) {
                for (const SystemValue& own : noted->second) {
                    if (own.name != field.name) continue;
                    value.semantic = own.semantic;
                    value.location = own.location;
                }
            }
            fields.push_back(std::move(value));
        }
        return any ? fields : std::vector<SystemValue>();
    }

    // Sizes that are no numbers in the source are those of a struct's arrays: see entry_points.h.
    void note_entry(const std::vector<std::string>& attributes, Function& function) const {
        if (is_other_entry(attributes)) {
            function.entry = EntryPoint::other;
        } else if (is_compute_entry(attributes)) {
            function.entry = EntryPoint::compute;
            if (const auto stated = stated_group_size(attributes)) {
                function.group_size = *stated;
                return;
            }
            function.group_text = written_group_size(attributes);
            const Type size = types_.describe_named(group_size_struct(function.name));
            std::array<std::int64_t, 3> extents{1, 1, 1};
            for (std::size_t i = 0; i < std::min<std::size_t>(3, size.fields.size()); ++i)
                extents.at(i) = size.fields[i].type.extent;
            if (!size.fields.empty() &&
                std::all_of(extents.begin(), extents.end(), [](std::int64_t one) { return one > 0; }))
                function.group_size = extents;
        }
    }

    // A constructor that the source has: one that Slang made up is where the struct's name is.
    bool is_written(const Location& location) {
        return !location.file.empty() &&
               source(location.file)->text_at(location.line, location.column).starts_with("__init");
    }

    // What a method is called on.
    Parameter object_of(slang::FunctionReflection& method, const Scope& scope,
                        const std::vector<std::string>& attributes) const {
        Parameter object;
        object.name = "this";
        object.type = type_of(scope);
        object.direction = has(method, Modifier::Mutating) ? Direction::inout : Direction::in;
        object.no_diff_written =
            std::find(attributes.begin(), attributes.end(), "NoDiffThis") != attributes.end();
        object.no_diff = object.no_diff_written;
        return object;
    }

    static bool has(slang::FunctionReflection& function, Modifier::ID modifier) {
        return function.findModifier(modifier) != nullptr;
    }

    // Reflection calls [ForwardDifferentiable] functions differentiable too.
    static bool is_forward_only(const std::vector<std::string>& attributes) {
        bool forward = false;
        for (const std::string& attribute : attributes) {
            const std::string name = attribute.substr(0, attribute.find('('));
            if (name == "Differentiable" || name == "BackwardDifferentiable" ||
                name == "BackwardDerivative" || name == "TreatAsDifferentiable" ||
                name == "PrimalSubstitute") {
                return false;
            }
            forward = forward || name == "ForwardDifferentiable" || name == "ForwardDerivative";
        }
        return forward;
    }

    // A derivative given by hand is the only one.
    static bool is_backward_only(const std::vector<std::string>& attributes) {
        bool backward = false;
        for (const std::string& attribute : attributes) {
            const std::string name = attribute.substr(0, attribute.find('('));
            if (name == "BackwardDerivative") {
                backward = true;
            } else if (name.find("Differentiable") != std::string::npos || name == "ForwardDerivative" ||
                       name == "PrimalSubstitute") {
                return false;
            }
        }
        return backward;
    }

    void note_derivative(const std::vector<std::string>& attributes) {
        constexpr std::string_view opening = "BackwardDerivativeOf(";
        for (const std::string& attribute : attributes) {
            if (attribute.starts_with(opening) && attribute.ends_with(')')) {
                derivatives_of_.insert(
                    attribute.substr(opening.size(), attribute.size() - opening.size() - 1));
            }
        }
    }

    slang::ISession* session_;
    TypeDescriber types_;
    Sources* sources_;
    std::vector<Function>* functions_;
    std::vector<StructText>* structs_;
    std::vector<SharedMember>* shared_;
    std::map<std::string, SourceText> texts_;
    std::set<std::string> derivatives_of_;
    std::map<std::string, std::vector<SystemValue>>
        values_of_structs_;  // fields with semantics, if any, by struct
};

}  // namespace

void add_sources(const std::vector<slang::IModule*>& modules, Sources& sources,
                 std::map<std::string, std::string>& texts) {
    for (slang::IModule* module : modules) {
        for (SlangInt32 index = 0; index < module->getDependencyFileCount(); ++index) {
            const fs::path path = module->getDependencyFilePath(index);
            // Support modules are in no file.
            const std::string* text = sources.find(path);
            if (text == nullptr) continue;
            std::error_code failure;
            const fs::path absolute = fs::absolute(path, failure);
            texts.emplace((failure ? path : absolute).lexically_normal().string(), *text);
        }
    }
}

Module describe_modules(slang::ISession& session, const std::vector<slang::IModule*>& modules,
                        Sources& sources, slang::ProgramLayout* sizes,
                        const std::vector<MacroEntry>& entries) {
    Module described;
    for (slang::IModule* module : modules) {
        std::vector<Function> functions;
        FunctionWalker walker(session, *module, sources, functions, described.structs, described.shared,
                              sizes);
        walker.walk_module(*module->getModuleReflection());
        walker.apply_derivatives();
        walker.note_overloads(*module->getLayout());
        walker.note_entry_points(*module, entries);
        walker.note_system_structs(*module);
        std::move(functions.begin(), functions.end(), std::back_inserter(described.functions));
    }
    add_sources(modules, sources, described.sources);
    for (const auto& [path, text] : described.sources) find_flag_enums(text, described.flag_enums);
    return described;
}

}  // namespace kf::gen
