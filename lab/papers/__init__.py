# SPDX-License-Identifier: Apache-2.0
"""The experiments of the papers, measured on this machine, and the report on them."""
