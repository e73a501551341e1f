// with_typed_memory_errors, under the name by which the runtime's entry points include it.
#pragma once

#include "einjit/error.h"
