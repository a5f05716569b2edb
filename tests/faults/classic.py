# SPDX-License-Identifier: Apache-2.0
"""The header of a classic netCDF file (CDF-1, CDF-2, CDF-5), parsed from its bytes."""

import struct
from dataclasses import dataclass, field

SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 4, 6: 8, 7: 1, 8: 2, 9: 4, 10: 8, 11: 8}
RECORDS_AT = 4  # offset of the number of records


@dataclass
class Variable:
    name: str
    shape: list[int]
    type: int
    begin: int
    record: bool

    @property
    def bytes(self) -> int:
        """Size in bytes of the variable, or of one of its records; without padding."""
        n = SIZES[self.type]
        for length in self.shape:
            n *= length
        return n


@dataclass
class Header:
    version: int = 0
    records: int = 0
    variables: list[Variable] = field(default_factory=list)

    @property
    def record_bytes(self) -> int:
        of_records = [v.bytes for v in self.variables if v.record]
        if len(of_records) == 1:
            return of_records[0]
        return sum((n + 3) // 4 * 4 for n in of_records)

    @property
    def record_begin(self) -> int:
        return min((v.begin for v in self.variables if v.record), default=0)

    @property
    def data_begin(self) -> int:
        return min((v.begin for v in self.variables), default=0)

    def layout(self) -> list[tuple]:
        return [(v.name, v.type, v.shape, v.begin) for v in self.variables]

    def extent(self, variable: Variable, record: int) -> slice:
        begin = variable.begin + (record * self.record_bytes if variable.record else 0)
        return slice(begin, begin + variable.bytes)

    def record_count(self, records: int) -> bytes:
        return struct.pack(">q" if self.version == 5 else ">i", records)


class _Reader:
    def __init__(self, data: bytes, version: int):
        self.data = data
        self.at = 4
        self.size = ">q" if version == 5 else ">i"
        self.offset = ">i" if version == 1 else ">q"

    def take(self, form: str) -> int:
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def name(self) -> str:
        n = self.take(self.size)
        text = self.data[self.at : self.at + n].decode()
        self.at += (n + 3) // 4 * 4
        return text

    def list_length(self) -> int:
        self.take(">i")
        return self.take(self.size)

    def skip_attributes(self) -> None:
        for _ in range(self.list_length()):
            self.name()
            kind = self.take(">i")
            length = self.take(self.size) * SIZES[kind]
            self.at += (length + 3) // 4 * 4


def read_header(data: bytes) -> Header | None:
    """Parses a header. Returns None if it is incomplete."""
    if len(data) < 4 or data[:3] != b"CDF" or data[3] not in (1, 2, 5):
        return None
    header = Header(version=data[3])
    reader = _Reader(data, data[3])
    try:
        header.records = reader.take(reader.size)
        dims = []
        for _ in range(reader.list_length()):
            reader.name()
            dims.append(reader.take(reader.size))
        reader.skip_attributes()
        for _ in range(reader.list_length()):
            name = reader.name()
            of = [dims[reader.take(reader.size)] for _ in range(reader.take(reader.size))]
            reader.skip_attributes()
            kind = reader.take(">i")
            reader.take(reader.size)
            record = bool(of) and of[0] == 0
            begin = reader.take(reader.offset)
            header.variables.append(Variable(name, of[1:] if record else of, kind, begin, record))
    except (struct.error, IndexError, KeyError, UnicodeDecodeError):
        return None
    return header
