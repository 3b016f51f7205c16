// libclang's functions, from a library that is opened when it is first needed.
#pragma once

#include <clang-c/Index.h>

#include <filesystem>
#include <memory>

#include "diagnostic/diagnostic.h"

namespace kf::gen {

/// The functions of libclang's C interface that kfgen calls; they are the same from LLVM 14 on.
struct LibClang {
    decltype(&clang_createIndex) create_index = nullptr;
    decltype(&clang_disposeIndex) dispose_index = nullptr;
    decltype(&clang_parseTranslationUnit2) parse = nullptr;
    decltype(&clang_disposeTranslationUnit) dispose_unit = nullptr;
    decltype(&clang_getTranslationUnitCursor) unit_cursor = nullptr;
    decltype(&clang_getInclusions) inclusions = nullptr;
    decltype(&clang_getFileName) file_name = nullptr;
    decltype(&clang_getLocationForOffset) location_at = nullptr;
    decltype(&clang_Location_isInSystemHeader) is_system = nullptr;
    decltype(&clang_getNumDiagnostics) diagnostic_count = nullptr;
    decltype(&clang_getDiagnostic) diagnostic = nullptr;
    decltype(&clang_disposeDiagnostic) dispose_diagnostic = nullptr;
    decltype(&clang_getDiagnosticSeverity) severity = nullptr;
    decltype(&clang_getDiagnosticLocation) diagnostic_location = nullptr;
    decltype(&clang_getDiagnosticSpelling) diagnostic_text = nullptr;
    decltype(&clang_getChildDiagnostics) diagnostic_children = nullptr;
    decltype(&clang_getNumDiagnosticsInSet) count_in_set = nullptr;
    decltype(&clang_getDiagnosticInSet) diagnostic_in_set = nullptr;
    decltype(&clang_getFileLocation) file_location = nullptr;
    decltype(&clang_getCString) c_string = nullptr;
    decltype(&clang_disposeString) dispose_string = nullptr;
    decltype(&clang_visitChildren) visit_children = nullptr;
    decltype(&clang_getCursorKind) cursor_kind = nullptr;
    decltype(&clang_getCursorSpelling) cursor_spelling = nullptr;
    decltype(&clang_getCursorLocation) cursor_location = nullptr;
    decltype(&clang_getCursorType) cursor_type = nullptr;
    decltype(&clang_getTypedefDeclUnderlyingType) underlying_type = nullptr;
    decltype(&clang_getEnumConstantDeclValue) constant_value = nullptr;
    decltype(&clang_getEnumDeclIntegerType) enum_integer = nullptr;
    decltype(&clang_getCanonicalType) canonical_type = nullptr;
    decltype(&clang_getTypeSpelling) type_spelling = nullptr;
    decltype(&clang_getTypeDeclaration) type_declaration = nullptr;
    decltype(&clang_Type_getSizeOf) size_of = nullptr;
    decltype(&clang_Type_getAlignOf) align_of = nullptr;
    decltype(&clang_Type_visitFields) visit_fields = nullptr;
    decltype(&clang_getElementType) element_type = nullptr;
    decltype(&clang_getNumElements) element_count = nullptr;
    decltype(&clang_Cursor_getOffsetOfField) field_offset = nullptr;
    decltype(&clang_Cursor_isBitField) is_bit_field = nullptr;
    decltype(&clang_Cursor_isAnonymous) is_anonymous = nullptr;
    decltype(&clang_Cursor_isAnonymousRecordDecl) is_anonymous_record = nullptr;
    decltype(&clang_getCXXAccessSpecifier) access = nullptr;
    decltype(&clang_isVirtualBase) is_virtual_base = nullptr;
    decltype(&clang_getSpecializedCursorTemplate) template_of = nullptr;
    decltype(&clang_getCursorSemanticParent) parent = nullptr;
    decltype(&clang_Cursor_isInlineNamespace) is_inline_namespace = nullptr;
    decltype(&clang_getCursorDisplayName) display_name = nullptr;
    decltype(&clang_getCursorPrettyPrinted) pretty_text = nullptr;
    decltype(&clang_CXXMethod_isVirtual) is_virtual = nullptr;
    decltype(&clang_CXXMethod_isDefaulted) is_defaulted = nullptr;
    decltype(&clang_CXXConstructor_isCopyConstructor) is_copy_constructor = nullptr;
    decltype(&clang_CXXConstructor_isMoveConstructor) is_move_constructor = nullptr;

    std::filesystem::path file;  ///< that it was loaded from; empty where the system doesn't say
};

/// Opens KFGEN_LIBCLANG, else the newest libclang that the system finds, else the wheel's in `site_packages`.
/// It stays loaded. Error: "libclang-missing".
Outcome<std::shared_ptr<const LibClang>> load_libclang(const std::filesystem::path& site_packages);

}  // namespace kf::gen
