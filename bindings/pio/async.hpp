// PIO's asynchronous mode, in which some ranks do I/O alone: here these ranks wait until all
// components have finalized, and the components' ranks write themselves (in the background, with
// THALWEG_SERVICE=background).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace thalweg::pio {

// Tells the I/O ranks that an iosystem has ended, if it has any. @note Collective
void leave_async(int iosysid);

}  // namespace thalweg::pio
