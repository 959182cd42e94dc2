"""The game's catalogue of items, spells, variables, classes, maps and other objects, which the game servers send.

Pictures of items are checked, scaled down, and written anew as PNG without metadata. The variables of the server, which
the catalogue declares, have values here.
"""

import base64
import hashlib
import io
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from gamekeeper.game.core import lookup, values
from gamekeeper.game.core.change import Change
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.core.refusals import BadField, Malformed, NoSuchItem, NoSuchKind, NotFound
from gamekeeper.game.core.undo import UndoContext, undoes
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.world.changes import CataloguePut, ItemPicturePut, ServerVariablesSet
from gamekeeper.store.engine.interface import Locking, Reading, Store
from gamekeeper.store.world import catalogue
from gamekeeper.store.world.catalogue import Picture, ServerVariable

if TYPE_CHECKING:
    from PIL.Image import Image as PillowImage
    from PIL.Image import Resampling

# catalogue entries of a kind whose names are case-folded in Python: the databases fold only A to Z
MOST_FOLDED = 10_000


def require_kind(kind: str) -> None:
    if kind not in catalogue.KINDS:
        raise NoSuchKind(kind=kind)


async def load_page(store: Store, kind: str, limit: int, offset: int) -> tuple[int, list[catalogue.CatalogueEntry]]:
    """Return the number of catalogue entries of a kind and one page of them, from the same snapshot."""

    async def look(tx: Reading) -> tuple[int, list[catalogue.CatalogueEntry]]:
        return await catalogue.count(tx, kind), await catalogue.read_page(tx, kind, limit, offset)

    return await store.read(look)


async def load_detailed_page(
    store: Store, kind: str, limit: int, offset: int
) -> tuple[int, list[catalogue.CatalogueEntry]]:
    """Return what `load_page` returns, with the details of the entries."""

    async def look(tx: Reading) -> tuple[int, list[catalogue.CatalogueEntry]]:
        found = await catalogue.read_page(tx, kind, limit, offset)
        return await catalogue.count(tx, kind), await catalogue.add_details(tx, kind, found)

    return await store.read(look)


async def find_detailed(store: Store, kind: str, own_id: str) -> catalogue.CatalogueEntry | None:
    """Return the entry with an id, with its details."""

    async def look(tx: Reading) -> list[catalogue.CatalogueEntry]:
        found = await catalogue.find_by_ids(tx, kind, [own_id])
        return await catalogue.add_details(tx, kind, [*found.values()])

    return next(iter(await store.read(look)), None)


async def find_by_name(tx: Reading, kind: str, text: str, limit: int) -> list[catalogue.CatalogueEntry]:
    """Find catalogue entries whose names contain a text, in any case. Exact names and prefixes come first."""
    sought = lookup.fold(text)
    if not lookup.is_nameable(sought):
        return []
    if sought.isascii():
        return await catalogue.search(tx, kind, sought, limit)
    # Python folds the names of only MOST_FOLDED entries; the database finds names in the exact case among all entries
    spelled = await catalogue.search(tx, kind, text, limit)
    looked_at = [
        each for each in await catalogue.read_page(tx, kind, MOST_FOLDED, 0) if sought in lookup.fold(each.name)
    ]
    return sorted(dict.fromkeys([*spelled, *looked_at]), key=lambda each: _sort_key(each, sought))[:limit]


async def put(tx: Reading, kind: str, entries: Sequence[catalogue.CatalogueEntry]) -> Decision[int]:
    """Insert or replace catalogue entries by id. Unchanged entries are not recorded in the audit log."""
    await catalogue.lock_kind(tx, kind)
    found = await catalogue.find_by_ids(tx, kind, [entry.id for entry in entries])
    before = {entry.id: entry for entry in await catalogue.add_details(tx, kind, [*found.values()])}
    kept = [_keep_value(entry, before.get(entry.id)) for entry in entries]
    differing = [entry for entry in kept if before.get(entry.id) != entry]
    replaced = [before[entry.id] for entry in differing if entry.id in before]
    changes = [CataloguePut(kind, replaced, differing)] if differing else []
    return Decision(changes, len(entries))


def _keep_value(entry: catalogue.CatalogueEntry, stored: catalogue.CatalogueEntry | None) -> catalogue.CatalogueEntry:
    """Return an entry with the stored value of the server's variable, if it was ever set: the published one is old."""
    if isinstance(entry, catalogue.CatalogueServerVariable) and isinstance(stored, catalogue.CatalogueServerVariable):
        return entry if stored.value is None else entry._replace(value=stored.value)
    return entry


def _sort_key(entry: catalogue.CatalogueEntry, sought: str) -> tuple[bool, bool, str, str]:
    """Sort catalogue entries like the database: exact names first, then names that start with the text."""
    fold = lookup.fold(entry.name)
    return fold != sought, not fold.startswith(sought), entry.name, entry.id


FIELD = "Picture"
MAX_BYTES = 65_536  # of a file that the game sends
MAX_SIDE = 512  # pixels of a file that the game sends: a megabyte when it is decoded
STORED_SIDE = 64  # pixels: the console shows pictures in at most this size on screens of double density
PNG_START = b"\x89PNG\r\n\x1a\n"
PNG_HEADER_BYTES, WEBP_HEADER_BYTES = 25, 30  # bytes up to the end of the bit depth, and of width and height
MAX_DEPTH = 8  # bits per channel; Pillow reads 16 bits as 8 without saying so
LOSSLESS_MARK = 0x2F
# what Pillow raises for a damaged file
DAMAGED = (OSError, SyntaxError, ValueError, EOFError, IndexError, OverflowError, struct.error)


class _Header(NamedTuple):
    format: str  # as Pillow names it
    width: int
    height: int
    depth: int = MAX_DEPTH  # bits per channel: a WebP file always has 8


async def put_picture(tx: Reading, item_id: str, picture: Picture | None) -> Decision[str | None]:
    """Set or remove the picture of an item of the catalogue. The same picture again is not a change."""
    await catalogue.lock_kind(tx, "items")
    if await catalogue.find_item(tx, item_id) is None:
        raise NoSuchItem(id=item_id)
    before, after = await catalogue.find_picture_hash(tx, item_id), picture.hash if picture else None
    return Decision([ItemPicturePut(item_id, before, picture)] if before != after else [], after)


def convert_base64_picture(text: str) -> Picture:
    try:
        content = base64.b64decode(text, validate=True)
    except ValueError:
        raise BadField(field=FIELD, problem="must be base64") from None
    if len(content) > MAX_BYTES:
        raise BadField(field=FIELD, problem=f"has {len(content)} bytes: at most {MAX_BYTES} are allowed")
    return convert_picture(content)


def convert_picture(content: bytes) -> Picture:
    """Check a file that the game sent, and make the picture that is stored. This takes milliseconds: use a thread."""
    header = _read_header(content)
    if header is None:
        raise BadField(field=FIELD, problem="must be a PNG or WebP file")
    # checked before Pillow opens the file, which allocates memory for all pixels of a WebP file
    if not (0 < header.width <= MAX_SIDE and 0 < header.height <= MAX_SIDE):
        problem = f"has {header.width} x {header.height} pixels: at most {MAX_SIDE} x {MAX_SIDE} are allowed"
        raise BadField(field=FIELD, problem=problem)
    if header.depth > MAX_DEPTH:
        problem = f"has {header.depth} bits per channel: at most {MAX_DEPTH} are allowed"
        raise BadField(field=FIELD, problem=problem)
    return encode_picture(scale_picture(_decode(content, header)))


def encode_picture(image: "PillowImage") -> Picture:
    """Write an image in mode RGBA as PNG. Its hash is that of size and pixels: other encoders write other bytes."""
    from PIL import Image  # noqa: PLC0415 - imported at the first picture, so that the server starts fast

    pixels = image.tobytes()
    written = io.BytesIO()
    Image.frombytes("RGBA", image.size, pixels).save(written, "PNG")  # a new image: it has no metadata
    return Picture(hashlib.sha256(struct.pack(">II", *image.size) + pixels).hexdigest(), written.getvalue())


def _read_header(content: bytes) -> _Header | None:
    """Read format and size from the first bytes of a file; None: it is neither PNG nor WebP."""
    if content.startswith(PNG_START) and content[12:16] == b"IHDR" and len(content) >= PNG_HEADER_BYTES:
        return _Header("PNG", *struct.unpack(">IIB", content[16:25]))
    if content[:4] != b"RIFF" or content[8:12] != b"WEBP" or len(content) < WEBP_HEADER_BYTES:
        return None
    match content[12:16]:
        case b"VP8X":
            width, height = (1 + int.from_bytes(content[start : start + 3], "little") for start in (24, 27))
            return _Header("WEBP", width, height)
        case b"VP8L" if content[20] == LOSSLESS_MARK:
            bits = int.from_bytes(content[21:25], "little")
            return _Header("WEBP", 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
        case b"VP8 ":
            width, height = struct.unpack("<HH", content[26:30])
            return _Header("WEBP", width & 0x3FFF, height & 0x3FFF)
        case _:
            return None


def _decode(content: bytes, header: _Header) -> "PillowImage":
    from PIL import Image  # noqa: PLC0415 - as above

    try:
        with Image.open(io.BytesIO(content), formats=[header.format]) as image:
            if image.size != (header.width, header.height):
                raise BadField(field=FIELD, problem="is damaged or incomplete")
            if getattr(image, "n_frames", 1) != 1:
                raise BadField(field=FIELD, problem="must not be animated")
            image.load()
            pixels = image.convert("RGBA")
        with Image.open(io.BytesIO(content), formats=[header.format]) as image:
            image.verify()  # loading a PNG file checks neither the sums of its pixels nor its end
            return pixels
    except DAMAGED:
        raise BadField(field=FIELD, problem="is damaged or incomplete") from None


def scale_picture(image: "PillowImage") -> "PillowImage":
    """Scale an image to at most the stored size.

    A small one is enlarged by a whole factor: browsers would blur its pixels. Pixel art that was enlarged by a whole
    factor gets its own pixels back.
    """
    from PIL.Image import Resampling  # noqa: PLC0415 - as above

    (width, height), longest = image.size, max(image.size)
    if longest <= STORED_SIDE:
        factor = STORED_SIDE // longest
        return _resize(image, (width * factor, height * factor), Resampling.NEAREST)
    factor = -(-longest // STORED_SIDE)  # the smallest whole factor that suffices
    if width % factor == 0 and height % factor == 0:
        small = _resize(image, (width // factor, height // factor), Resampling.NEAREST)
        if _resize(small, image.size, Resampling.NEAREST).tobytes() == image.tobytes():
            return small
    across, down = (max(1, round(side * STORED_SIDE / longest)) for side in image.size)
    return _resize(image, (across, down), Resampling.LANCZOS)


def _resize(image: "PillowImage", size: tuple[int, int], method: "Resampling") -> "PillowImage":
    return image.resize(size, method)  # pyright: ignore[reportUnknownMemberType] - Pillow names a type of numpy


class IdRefusals(NamedTuple):
    """The refusals of an id, which differ between the versions of the engine."""

    zero: type[Malformed]
    unknown: type[NotFound]


async def load_server_variables(store: Store, limit: int, offset: int) -> tuple[int, list[ServerVariable]]:
    """Return the number of variables and one page of them, by id, from the same snapshot."""

    async def look(tx: Reading) -> tuple[int, list[ServerVariable]]:
        return await catalogue.count_server_variables(tx), await catalogue.read_server_variables(tx, limit, offset)

    return await store.read(look)


async def require_server_variable(tx: Reading, variable_id: str, refusals: IdRefusals) -> ServerVariable:
    found = None if variable_id == ZERO_GUID else await catalogue.find_server_variable(tx, variable_id)
    return _require_server_variable(found, variable_id, refusals)


async def set_server_variable(
    tx: Locking, variable_id: str, sent: object, refusals: IdRefusals, *, from_form: bool
) -> Decision[ServerVariable]:
    """Set a variable to a value of its declared type, and return it as it is then."""
    found = None if variable_id == ZERO_GUID else await catalogue.lock_server_variable(tx, variable_id)
    variable = _require_server_variable(found, variable_id, refusals)
    new = values.read_value(sent, variable.type, from_form=from_form)
    change = ServerVariablesSet({variable_id: values.decode_value(variable.value)}, {variable_id: new})
    return Decision([change], variable._replace(value=values.encode_value(new)))


@undoes(ServerVariablesSet.kind)
async def undo_server_variables(tx: Locking, context: UndoContext) -> list[Change]:
    """Undo a change of variables, if they still have the values that it set."""
    now: dict[str, values.Value | None] = {}
    for each, became in sorted(context.after.server_variables.items()):
        variable = await catalogue.lock_server_variable(tx, each)
        if variable is None:
            raise context.make_conflict("the variable does not exist any more")
        now[each] = values.decode_value(variable.value)
        if not values.is_same_value(now[each], became):
            raise context.make_conflict("the variable has another value now")
    return [ServerVariablesSet(now, context.before.server_variables)]


def _require_server_variable(found: ServerVariable | None, variable_id: str, refusals: IdRefusals) -> ServerVariable:
    if variable_id == ZERO_GUID:
        raise refusals.zero(id=variable_id)
    if found is None:
        raise refusals.unknown(id=variable_id)
    return found
