// Everything a program needs: one include.
#pragma once

#include "einjit/blas_provider.h"
#include "einjit/copy_plan.h"
#include "einjit/dtype.h"
#include "einjit/einsum.h"
#include "einjit/engine.h"
#include "einjit/error.h"
#include "einjit/expression.h"
#include "einjit/plan.h"
#include "einjit/tensor.h"
#include "einjit/view.h"
