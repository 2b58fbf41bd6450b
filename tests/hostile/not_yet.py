# SPDX-License-Identifier: Apache-2.0
"""Kinds, or `kind when`, that do not have the required outcome yet, for each reason. There is no
other list of such kinds. This list should be empty."""

WHY: dict[str, list[str]] = {}
NOT_YET = {name for names in WHY.values() for name in names}
