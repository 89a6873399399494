"""A writer of TOML, which Python lacks."""

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["write_toml"]


def write_toml(values: Mapping[str, Any]) -> str:
    """Return a mapping as TOML: plain values first, then tables, then lists of tables.

    None is left out. Tables within tables are written in braces.
    """
    plain = {k: v for k, v in values.items() if not isinstance(v, Mapping) and not _is_tables(v)}
    blocks = ["\n".join(_lines(plain))]
    for key, value in values.items():
        if isinstance(value, Mapping):
            blocks.append("\n".join([f"[{_key(key)}]", *_lines(value)]))
        elif _is_tables(value):
            blocks += ["\n".join([f"[[{_key(key)}]]", *_lines(each)]) for each in value]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def _lines(table: Mapping[str, Any]) -> list[str]:
    return [f"{_key(key)} = {_value(value)}" for key, value in table.items() if value is not None]


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("_", "").replace("-", "").isalnum()
    return key if bare else _string(key)


def _string(text: str) -> str:
    # The escapes of JSON are those of TOML, which escapes DEL as well.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, Mapping):
        inside = ", ".join(_lines(value))
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)  # int, float, inf, nan: as TOML writes them
