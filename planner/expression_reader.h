// The one reader behind both text forms of an expression.
#pragma once

#include <string_view>

#include "einjit/expression.h"

namespace einjit {

/// How terms are spelt: "ij" or "[300 7]".
enum class TermForm { letters, integers };

/// Throws invalid_expression with the text and a caret under the offending character.
Expression read_expression(std::string_view text, TermForm form);

}  // namespace einjit
