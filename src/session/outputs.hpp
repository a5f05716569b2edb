// The reports of tw_finalize on a run: the summary, as JSON, as a table or as a page; and the
// trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/session.hpp"

namespace thalweg::detail {

/// Reads the paths of the outputs from the settings. Makes them absolute, because the model may
/// change its working folder before they are used.
/// @param rank  rank of this process; only rank 0 has paths
/// @return TW_OK, TW_ESETTING: two settings name the same file
Status find_output_paths(tw_session_impl& session, int rank);

/// Writes the summary and the trace if the settings name files for them. A failure of one does not
/// prevent the other.
/// @return the first failure, the same on every rank
/// @note Collective
Status write_outputs(tw_session_impl& session);

}  // namespace thalweg::detail
