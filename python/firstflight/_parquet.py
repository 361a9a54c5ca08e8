"""Parquet files of sweeps."""

from __future__ import annotations

import pyarrow
from pyarrow import parquet

#: Rows of a row group, some megabytes in memory; and rows that are read at a time.
GROUP, BATCH = 65_536, 8_192


class Writer:
    """Gathers tables into row groups whose size does not depend on how the sweep was run."""

    def __init__(self, path) -> None:
        self.file = open(path, "wb")  # noqa: SIM115  closed by `close`
        self.writer: parquet.ParquetWriter | None = None
        self.waiting: list[pyarrow.Table] = []
        self.rows = 0

    def write(self, table) -> None:
        self.waiting.append(pyarrow.table(table))
        self.rows += len(table)
        if self.rows >= GROUP:
            self.flush()

    def flush(self) -> None:
        together = pyarrow.concat_tables(self.waiting)
        if self.writer is None:
            self.writer = parquet.ParquetWriter(self.file, together.schema, compression="zstd")
        self.writer.write_table(together, row_group_size=GROUP)
        self.waiting, self.rows = [], 0

    def close(self) -> None:
        with self.file:
            if self.waiting:
                self.flush()
            if self.writer is not None:
                self.writer.close()


def read(path):
    """Batches of rows, a list for each column; the file is not in memory as a whole."""
    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(BATCH):
            yield batch.to_pydict()
