// Finds libclang, and its functions in it.
#include "libclang/library.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "process/opened_library.h"

namespace kf::gen {

namespace {

namespace fs = std::filesystem;

bool find_all(void* library, LibClang& f) {
    return find_function(library, "clang_createIndex", f.create_index) &&
           find_function(library, "clang_disposeIndex", f.dispose_index) &&
           find_function(library, "clang_parseTranslationUnit2", f.parse) &&
           find_function(library, "clang_disposeTranslationUnit", f.dispose_unit) &&
           find_function(library, "clang_getTranslationUnitCursor", f.unit_cursor) &&
           find_function(library, "clang_getInclusions", f.inclusions) &&
           find_function(library, "clang_getFileName", f.file_name) &&
           find_function(library, "clang_getLocationForOffset", f.location_at) &&
           find_function(library, "clang_Location_isInSystemHeader", f.is_system) &&
           find_function(library, "clang_getNumDiagnostics", f.diagnostic_count) &&
           find_function(library, "clang_getDiagnostic", f.diagnostic) &&
           find_function(library, "clang_disposeDiagnostic", f.dispose_diagnostic) &&
           find_function(library, "clang_getDiagnosticSeverity", f.severity) &&
           find_function(library, "clang_getDiagnosticLocation", f.diagnostic_location) &&
           find_function(library, "clang_getDiagnosticSpelling", f.diagnostic_text) &&
           find_function(library, "clang_getChildDiagnostics", f.diagnostic_children) &&
           find_function(library, "clang_getNumDiagnosticsInSet", f.count_in_set) &&
           find_function(library, "clang_getDiagnosticInSet", f.diagnostic_in_set) &&
           find_function(library, "clang_getFileLocation", f.file_location) &&
           find_function(library, "clang_getCString", f.c_string) &&
           find_function(library, "clang_disposeString", f.dispose_string) &&
           find_function(library, "clang_visitChildren", f.visit_children) &&
           find_function(library, "clang_getCursorKind", f.cursor_kind) &&
           find_function(library, "clang_getCursorSpelling", f.cursor_spelling) &&
           find_function(library, "clang_getCursorLocation", f.cursor_location) &&
           find_function(library, "clang_getCursorType", f.cursor_type) &&
           find_function(library, "clang_getTypedefDeclUnderlyingType", f.underlying_type) &&
           find_function(library, "clang_getEnumConstantDeclValue", f.constant_value) &&
           find_function(library, "clang_getEnumDeclIntegerType", f.enum_integer) &&
           find_function(library, "clang_getCanonicalType", f.canonical_type) &&
           find_function(library, "clang_getTypeSpelling", f.type_spelling) &&
           find_function(library, "clang_getTypeDeclaration", f.type_declaration) &&
           find_function(library, "clang_Type_getSizeOf", f.size_of) &&
           find_function(library, "clang_Type_getAlignOf", f.align_of) &&
           find_function(library, "clang_Type_visitFields", f.visit_fields) &&
           find_function(library, "clang_getElementType", f.element_type) &&
           find_function(library, "clang_getNumElements", f.element_count) &&
           find_function(library, "clang_Cursor_getOffsetOfField", f.field_offset) &&
           find_function(library, "clang_Cursor_isBitField", f.is_bit_field) &&
           find_function(library, "clang_Cursor_isAnonymous", f.is_anonymous) &&
           find_function(library, "clang_Cursor_isAnonymousRecordDecl", f.is_anonymous_record) &&
           find_function(library, "clang_getCXXAccessSpecifier", f.access) &&
           find_function(library, "clang_isVirtualBase", f.is_virtual_base) &&
           find_function(library, "clang_getSpecializedCursorTemplate", f.template_of) &&
           find_function(library, "clang_getCursorSemanticParent", f.parent) &&
           find_function(library, "clang_Cursor_isInlineNamespace", f.is_inline_namespace) &&
           find_function(library, "clang_getCursorDisplayName", f.display_name) &&
           find_function(library, "clang_getCursorPrettyPrinted", f.pretty_text) &&
           find_function(library, "clang_CXXMethod_isVirtual", f.is_virtual) &&
           find_function(library, "clang_CXXMethod_isDefaulted", f.is_defaulted) &&
           find_function(library, "clang_CXXConstructor_isCopyConstructor", f.is_copy_constructor) &&
           find_function(library, "clang_CXXConstructor_isMoveConstructor", f.is_move_constructor);
}

/// Returns where libclang may be, the newest first: in LLVM's own folders, by the names that distributions
/// give it, and by the name without a version.
std::vector<std::string> candidates(const fs::path& site_packages) {
    const char* stated = std::getenv("KFGEN_LIBCLANG");
    if (stated != nullptr && *stated != '\0') return {stated};
    constexpr int oldest = 14;
    constexpr int newest = 24;
    std::vector<std::string> names;
    for (int version = newest; version >= oldest; --version) {
        const std::string number = std::to_string(version);
        names.push_back("/usr/lib/llvm-" + number + "/lib/libclang.so.1");
        names.push_back("libclang-" + number + ".so.1");
        names.push_back("libclang.so." + number);
    }
    names.insert(names.end(), {"libclang.so.13", "libclang.so.1", "libclang.so"});
    if (!site_packages.empty()) names.push_back((site_packages / "clang/native/libclang.so").string());
    return names;
}

}  // namespace

Outcome<std::shared_ptr<const LibClang>> load_libclang(const fs::path& site_packages) {
    for (const std::string& name : candidates(site_packages)) {
        void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (library == nullptr) continue;
        auto functions = std::make_shared<LibClang>();
        if (!find_all(library, *functions)) continue;
        functions->file = file_of(functions->create_index);
        return std::shared_ptr<const LibClang>(std::move(functions));
    }
    return Diagnostic{
        Severity::error,
        "libclang-missing",
        {},
        "\"structs\" need libclang (libclang.so of LLVM 14 or newer), which was not found",
        {"install libclang-dev, or, where pip installed kfgen, `pip install kfgen[structs]`, or set "
         "KFGEN_LIBCLANG to the library's path"}};
}

}  // namespace kf::gen
