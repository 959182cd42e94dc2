"""Iterators over all pages of a list, which have the same parameters as the list."""

import copy
import re
from collections.abc import Callable
from inspect import BoundArguments
from typing import Any, ParamSpec, Protocol, TypeVar, cast, get_args

from gamekeeper_client.call import Batch, Call, convert
from gamekeeper_client.operation import Iteration, Operation
from gamekeeper_client.paging import EnginePage, Page, SortedEnginePage

P = ParamSpec("P")
R = TypeVar("R")
MAX_PAGE_RECORDS = 100  # records per page: the server's default maximum
MAX_BATCH_RECORDS = 1000  # records per request: the server's maximum for the audit log and the outbox


class CursorPage(Protocol):
    @property
    def next(self) -> int | str | None: ...


C = TypeVar("C", bound=CursorPage)


def iterate_pages(
    listing: Operation[P, Page[R]] | Operation[P, EnginePage[R]] | Operation[P, SortedEnginePage[R]], summary: str
) -> Iteration[P, R]:
    """Declare an iterator over the records of a list with page numbers, starting with `page`."""

    def read(given: BoundArguments) -> Call[Batch[R]]:
        def batch(page: Page[R]) -> Batch[R]:
            number = given.arguments["page"] + 1
            more = page.values and number * page.page_size < page.total
            return Batch(page.values, read(_replace_arguments(given, page=number)) if more else None)

        numbered = cast("Operation[P, Page[R]]", listing)  # the pages have the same fields that are read here
        return convert(_call_page(numbered, given, page_size=MAX_PAGE_RECORDS), batch)

    doc = _describe(listing, summary, page="number of the page to start with.", page_size="records per request.")
    (record,) = get_args(listing.result)
    return Iteration(listing.signature, doc, record, read)


def iterate_cursor(
    listing: Operation[P, C],
    record: type[R],
    records: Callable[[C], list[R]],
    summary: str,
    *,
    position: str = "before",
    size: str = "limit",
) -> Iteration[P, R]:
    """Declare an iterator over the records of a list with a cursor, until `next` is None: any page may be empty.

    position, size: names of the parameters for the cursor and for the number of records.
    """
    largest = MAX_BATCH_RECORDS if size == "limit" else MAX_PAGE_RECORDS

    def read(given: BoundArguments) -> Call[Batch[R]]:
        def batch(page: C) -> Batch[R]:
            more = None if page.next is None else read(_replace_arguments(given, **{position: page.next}))
            return Batch(records(page), more)

        return convert(_call_page(listing, given, **{size: largest}), batch)

    return Iteration(listing.signature, _describe(listing, summary, **{size: "records per request."}), record, read)


def _call_page(listing: Operation[..., R], given: BoundArguments, **sizes: int) -> Call[R]:
    """Build the request for one page of a list. The page size is the given argument, or else the size in `sizes`."""
    ((name, largest),) = sizes.items()
    sized = _replace_arguments(given, **{name: given.arguments[name] or largest})
    return listing.call(*sized.args[1:], **sized.kwargs)


def _replace_arguments(given: BoundArguments, **values: Any) -> BoundArguments:  # noqa: ANN401 - arguments can have any type
    changed = copy.copy(given)
    changed.arguments = {**given.arguments, **values}
    return changed


def _describe(listing: Operation[..., Any], summary: str, **parameters: str) -> str:
    """Make an iterator method's docstring from its list method's; `parameters` replaces descriptions of parameters."""
    about, returns, rest = listing.doc.partition("Returns ")
    about = "\n\n".join([summary, about.partition("\n\n")[2]])
    for name, meaning in parameters.items():
        about = re.sub(rf"^{name}: .*\n(?:(?!\w+: ).+\n)*", "", about, flags=re.MULTILINE) + f"{name}: {meaning}\n"
    raises = "".join(rest.partition("Raises ")[1:])
    return f"{about}{returns}an iterator, which fetches records when they are needed.\n{raises}"
