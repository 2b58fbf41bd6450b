"""Kinds, or `kind when`, that do not come to what they must yet, by why. The one list of them: it is to
be empty."""

WHY: dict[str, list[str]] = {}
NOT_YET = {name for names in WHY.values() for name in names}
