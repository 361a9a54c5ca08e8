"""A scenario at many points: on the cores of this machine, an executor, or a Dask cluster."""

from __future__ import annotations

import json
import os
import warnings
from typing import TYPE_CHECKING, Any

from . import _native
from ._native import Error, Table
from ._progress import callback
from ._startup import Startup

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor, Future
    from pathlib import Path

#: Chunks under way for each worker: while one runs, the next is there.
AHEAD = 2
#: If a worker dies so many times while it runs this chunk and no other, the chunk is to blame.
DEATHS = 2
#: Seconds that an ended sweep waits for the chunks that are running, to keep them.
PATIENCE = 5.0


class Sweep:
    """A finished sweep: a folder, and the tables in it, which are read when they are asked for."""

    def __init__(self, path: Path, points: int, table: Path) -> None:
        self.path: Path = path
        """The folder."""
        self._points, self._table = points, table

    @property
    def flows(self) -> Table:
        """One row per flow of every run, in the order of the points."""
        return _native.table_of(self._table)

    @property
    def points(self) -> Table:
        """One row per point: number, hash, and the value of every key that varies."""
        return _native.table_of(self.path / "points.csv")

    @property
    def summary(self) -> Table:
        """One row per point and control: means over the seeds, with 95 % intervals."""
        return _native.table_of(self.path / "summary.csv")

    def __len__(self) -> int:
        return self._points

    def __repr__(self) -> str:
        return f"<Sweep of {self._points} points in {str(self.path)!r}>"

    def _repr_html_(self) -> str:
        from ._notebook import html

        return html(self)


def sweep(
    grid: str | os.PathLike[str] | dict[str, Any],
    *,
    out: str | os.PathLike[str] | None = None,
    client: Any = None,
    executor: Executor | None = None,
    format: str = "csv",
    on: str = "sim",
    progress: bool | Callable[[int, int], object] | None = None,
) -> Sweep:
    """Runs a scenario at many points, like `firstflight sweep`, and goes on where one has ended.

    grid: the path of a grid file, or a dict of its keys.
    out: the folder; without it firstflight-out/sweep/ and the file's name, or the hash of a dict.
    client: a `dask.distributed.Client`, whose workers run the chunks.
    executor: a `concurrent.futures.Executor` for them instead. Without either all cores of this
        machine are used. Workers need the same version of this package, and no shared folder.
    format: "csv", or "parquet" (zstd, by pyarrow): that of each finished chunk and of the table.
    on: "sim", or "quic" or "noq" in the simulator's time; `firstflight sweep --on linux` has more.
    progress: True draws a bar; a function is called now and then with the milliseconds of work
        that are done, as estimated for one core, and of how many.
    """
    if client is not None and executor is not None:
        raise Error("sweep: found client and executor; accepted: one of them, or neither")
    if client is not None and not hasattr(client, "get_executor"):
        raise Error(f"client = {client!r}; accepted: a dask.distributed.Client")
    if executor is not None and not hasattr(executor, "submit"):
        raise Error(f"executor = {executor!r}; accepted: a concurrent.futures.Executor")
    text, file = "", None
    if isinstance(grid, dict):
        text = "\n".join(f"{json.dumps(name)} = {_toml(name, of)}" for name, of in grid.items())
    else:
        file = os.fspath(grid)
    work = _native.Work(file, text, out, format, on)
    try:
        for changed in work.recheck():
            why = "its bytes are not those that were written; the chunk is run again"
            warnings.warn(f"{changed}: {why}", RuntimeWarning, stacklevel=2)
        on_progress = callback(progress, "{2} %")
        if client is not None:
            spread(work, client.get_executor(pure=False), on_progress, lambda: len_of(client))
        elif executor is not None:
            spread(work, executor, on_progress)
        else:
            work.run(on_progress)
        return Sweep(work.path, work.merge(), work.table)
    finally:
        work.close()


def run_chunk(chunk: str) -> bytes:
    """What a worker does: runs a chunk, in one thread, and returns its rows as CSV."""
    return _native.run_chunk(chunk)


def spread(work, executor, on_progress, workers=None) -> None:
    """Has the missing chunks run by an executor, and keeps each one as it comes."""
    missing = work.missing()
    weights = dict(missing)
    crew = _Crew(work, executor, workers)
    done, total = 0, sum(weights.values())
    try:
        for number in crew.run([number for number, _ in missing]):
            done += weights[number]
            if on_progress is not None:
                on_progress(done, total)
    finally:
        crew.end()


class _Crew:
    """An executor and the chunks on their way through it, of which there are always few."""

    def __init__(self, work, executor, workers):
        from queue import SimpleQueue

        self.work, self.executor = work, executor
        self.workers = workers or (lambda: getattr(executor, "_max_workers", os.cpu_count() or 1))
        self.own: list[Executor] = []
        self.ended: SimpleQueue[Future[bytes]] = SimpleQueue()
        self.under_way: dict[Future[bytes], int] = {}
        # Chunks that were with a worker when it died, of which not all have killed it: they are run
        # again one at a time.
        self.lost: list[int] = []
        self.problem: Exception | None = None
        self.alone: list[int] = []
        self.single: int | None = None
        self.deaths: dict[int, int] = {}

    def run(self, numbers):
        """Yields the number of each chunk when it is kept."""
        from concurrent.futures import BrokenExecutor

        todo = iter(numbers)
        while True:
            if self.lost and not self.under_way:
                self.blame(self.problem)
            if not self.fill(todo) and not self.under_way:
                return
            future = self.ended.get()
            number = self.under_way.pop(future)
            try:
                rows = future.result()
            except Error:
                raise
            except Exception as problem:
                if isinstance(problem, BrokenExecutor) or _is_killed(problem):
                    self.lost.append(number)
                    self.problem = problem
                    continue
                raise self.broken(number, problem) from problem
            else:
                self.work.put(number, rows)
                yield number

    def fill(self, todo) -> bool:
        """Hands in what there is room for; whether anything was."""
        before = len(self.under_way)
        if self.lost or (self.under_way and (self.alone or self.single is not None)):
            return False
        self.single = self.alone.pop() if self.alone else None
        if self.single is not None:
            self.hand_in(self.single)
            return True
        room = AHEAD * max(self.workers(), 1) - before
        for _, number in zip(range(room), todo):
            self.hand_in(number)
        return len(self.under_way) > before

    def hand_in(self, number) -> None:
        from concurrent.futures import BrokenExecutor, Future

        try:
            future = self.executor.submit(run_chunk, self.work.chunk(number))
        except BrokenExecutor as problem:
            # This chunk is lost like those that were under way, and is run again with them.
            future = Future()
            future.set_exception(problem)
        except RuntimeError as problem:
            raise Error(f"executor: {problem}; accepted: one that takes work") from problem
        self.under_way[future] = number
        future.add_done_callback(self.ended.put)

    def blame(self, problem) -> None:
        """Has lost chunks run again, by another pool if theirs is broken; or raises."""
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        number = self.lost[0]
        if number == self.single:
            self.deaths[number] = self.deaths.get(number, 0) + 1
            # Dask has tried several workers before it says so.
            if self.deaths[number] >= DEATHS or _is_killed(problem):
                raise self.broken(number, problem) from problem
        if isinstance(self.executor, ProcessPoolExecutor):
            context = getattr(self.executor, "_mp_context", None) or get_context("spawn")
            self.executor = ProcessPoolExecutor(self.workers(), mp_context=context)
            self.own.append(self.executor)
        elif not _is_killed(problem):
            raise self.broken(number, problem) from problem
        self.alone, self.lost = self.alone + self.lost, []

    def broken(self, number, problem) -> Error:
        kind = type(problem).__name__
        named = self.work.named(number)
        return Error(f"sweep: {named}: {kind}: {problem}; what is finished is kept")

    def end(self) -> None:
        """Ends what is under way, and keeps what has come to an end."""
        from concurrent.futures import wait

        for future in self.under_way:
            future.cancel()
        finished, _ = wait(self.under_way, PATIENCE) if self.under_way else ((), ())
        for future in finished:
            if not future.cancelled() and future.exception() is None:
                self.keep(self.under_way[future], future.result())
        for pool in self.own:
            pool.shutdown(wait=True, cancel_futures=True)

    def keep(self, number, rows) -> None:
        try:
            self.work.put(number, rows)
        except Exception:
            # The sweep ends because of an earlier error, which is raised. A chunk that cannot be
            # stored either (a full disk) runs again when the sweep is resumed.
            return


def _is_killed(problem) -> bool:
    """Whether Dask has given a task up: it suspects all that a dead worker had, queued or not."""
    return type(problem).__name__ == "KilledWorker"


def len_of(client) -> int:
    """The threads of a cluster, which may grow; two while it has none."""
    return sum(client.nthreads().values()) or 2


def _toml(key: str, value: Any, depth: int = 0) -> str:
    """A value of a grid as TOML."""
    if depth > DEEPEST:
        raise Error(f"grid: {key}: more than {DEEPEST} levels of tables")
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (str, os.PathLike)):
        return json.dumps(os.fspath(value), ensure_ascii=False)
    if isinstance(value, tuple) and len(value) == 2 and _is_number(value[0], value[1]):
        return json.dumps(f"{value[0]}{value[1]}", ensure_ascii=False)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_toml(f'{key}[]', one, depth + 1) for one in value)}]"
    if isinstance(value, dict):
        pairs = [
            f"{json.dumps(str(name))} = {_toml(f'{key}.{name}', of, depth + 1)}"
            for name, of in value.items()
            if of is not None
        ]
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, Startup) or (isinstance(value, type) and issubclass(value, Startup)):
        raise Error(
            f"sweep: {key}: {value!r} is written in Python, which other processes do not have; "
            "accepted: ff.run at each point, or the same start-up in Rust"
        )
    raise Error(f"grid: {key}: found {value!r}; accepted: texts, numbers, lists and dicts")


def _is_number(value: Any, unit: Any) -> bool:
    """Whether these are a number and its unit."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and isinstance(unit, str)


#: No grid has as many levels; a dict that holds itself has more.
DEEPEST = 10
