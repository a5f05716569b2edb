// Holds the precompiled header of the tests.
// SPDX-License-Identifier: Apache-2.0
