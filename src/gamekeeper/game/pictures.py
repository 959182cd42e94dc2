"""Pictures of items that the game publishes: checked, scaled down, and written anew as PNG without metadata."""

import base64
import hashlib
import io
import struct
from typing import TYPE_CHECKING, NamedTuple

from gamekeeper.game.changes import Decision
from gamekeeper.game.picture_effects import ItemPicturePut
from gamekeeper.game.refusals import BadField, NoSuchItem
from gamekeeper.store import catalogue, pictures
from gamekeeper.store.engine import Reading
from gamekeeper.store.pictures import Picture

if TYPE_CHECKING:
    from PIL.Image import Image as PillowImage
    from PIL.Image import Resampling

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


async def put(tx: Reading, item_id: str, picture: Picture | None) -> Decision[str | None]:
    """Set or remove the picture of an item of the catalogue. The same picture again is not a change."""
    await catalogue.lock_kind(tx, "items")
    if await catalogue.find_item(tx, item_id) is None:
        raise NoSuchItem(id=item_id)
    before, after = await pictures.find_hash(tx, item_id), picture.hash if picture else None
    return Decision([ItemPicturePut(item_id, before, picture)] if before != after else [], after)


def convert_base64(text: str) -> Picture:
    try:
        content = base64.b64decode(text, validate=True)
    except ValueError:
        raise BadField(field=FIELD, problem="must be base64") from None
    if len(content) > MAX_BYTES:
        raise BadField(field=FIELD, problem=f"has {len(content)} bytes: at most {MAX_BYTES} are allowed")
    return convert(content)


def convert(content: bytes) -> Picture:
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
    return encode(scale(_decode(content, header)))


def encode(image: "PillowImage") -> Picture:
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


def scale(image: "PillowImage") -> "PillowImage":
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
