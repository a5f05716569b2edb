// Thalweg's C++ interface: the C functions as owning types that throw thalweg::Error.
//
// SPDX-License-Identifier: Apache-2.0
//
// Orders, units, errors, threads, and which functions are collective: as in thalweg.h; each
// function names its C counterpart. A collective function throws on all ranks or on none, with the
// same code and text.
//
// Session, Decomposition, File, Reader and Restart own their handles: they can be moved, not
// copied, and end what they own in their destructors. The destructors of Decomposition and Restart
// are local. Those of Session, File and Reader are collective, and do nothing that waits for other
// ranks while an exception is unwinding the stack. To see errors, call finalize() and close().
// A handle whose session has ended is empty: calls throw TW_EHANDLE.
//
// One name serves for arrays of all kinds: contiguous ones (std::vector, std::span, ...) and those
// of any strides (StridedArray).
#pragma once

#include "thalweg/base.hpp"
#include "thalweg/decomposition.hpp"
#include "thalweg/definitions.hpp"
#include "thalweg/history.hpp"
#include "thalweg/reading.hpp"
#include "thalweg/restart.hpp"
#include "thalweg/session.hpp"
#include "thalweg/writing.hpp"
