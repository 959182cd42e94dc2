"""Pictures of items that a game server publishes over the link."""

import base64
import io
import json
import random
import struct
import threading
import zlib

from PIL import Image, PngImagePlugin

from expectations import everything, refused, unchanged
from game_server import LINK
from gamekeeper.game.core.refusals import BadField
from gamekeeper.game.world import catalogue
from loops import over
from people import ARROW, SWORD
from world import Answer, World

RED, BLUE = (200, 30, 40, 255), (20, 60, 210, 255)


def make_image(width: int = 16, height: int = 16, colour: tuple[int, ...] = RED) -> Image.Image:
    image = Image.new("RGBA", (width, height), colour)
    image.putpixel((0, 0), BLUE)
    return image


def write(image: Image.Image, kind: str = "PNG", **more: object) -> bytes:
    written = io.BytesIO()
    image.save(written, kind, **more)
    return written.getvalue()


def put(world: World, content: bytes, item: str = ARROW.id, **more: str) -> Answer:
    body = {"Picture": base64.b64encode(content).decode()}
    return world.call("PUT", f"{LINK}/items/{item}/picture", body=body, by="Server", **more)


def delete(world: World, item: str = ARROW.id) -> Answer:
    return world.call("DELETE", f"{LINK}/items/{item}/picture", by="Server")


def read_stored(world: World, item: str = ARROW.id) -> Image.Image:
    ((content,),) = world.sql("SELECT content FROM item_pictures WHERE item_id = $1", item)
    return Image.open(io.BytesIO(base64.b64decode(content)))


def test_picture_and_its_deletion_are_recorded_by_hash(world: World) -> None:
    first = put(world, write(make_image())).json["Hash"]
    second = put(world, write(make_image(colour=BLUE))).json["Hash"]
    assert delete(world).json == {"ItemId": ARROW.id, "Hash": None}
    rows = world.ledger()[-3:]
    assert [(row.kind, row.player_id, row.over_link) for row in rows] == [("item_picture_put", None, True)] * 3
    sides = [json.loads(side or "null") for row in rows for side in (row.before, row.after)]
    hashes = [None, first, first, second, second, None]
    assert sides == [{"ItemId": ARROW.id, "Hash": each} for each in hashes]
    assert world.sql("SELECT COUNT(*) FROM item_pictures") == [(0,)]


def test_picture_is_stored_as_png_without_metadata(world: World) -> None:
    notes = PngImagePlugin.PngInfo()
    notes.add_text("Author", "Ann of Harrowmere")
    exif = Image.Exif()
    exif[0x010E] = "a secret place"
    content = write(make_image(), pnginfo=notes, exif=exif, dpi=(300, 300), icc_profile=b"profile" * 20)
    assert put(world, content).status == 200
    ((stored,),) = world.sql("SELECT content FROM item_pictures")
    names: set[bytes] = set()
    raw, at = base64.b64decode(stored), 8
    while at < len(raw):
        size = int.from_bytes(raw[at : at + 4], "big")
        names.add(raw[at + 4 : at + 8])
        at += 12 + size
    assert names == {b"IHDR", b"IDAT", b"IEND"}
    assert put(world, write(make_image(64, 32), "WEBP", lossless=True)).status == 200
    image = read_stored(world)
    assert (image.format, image.size, image.getpixel((0, 0)), image.getpixel((9, 9))) == ("PNG", (64, 32), BLUE, RED)
    assert put(world, PNG + bytes(65_536 - len(PNG))).status == 200


def test_pictures_are_converted_one_at_a_time(world: World) -> None:
    """More threads would convert no more pictures, but use all processors, and every other request would wait."""
    body = {"Picture": base64.b64encode(write(make_image(200, 60))).decode()}
    path = f"{LINK}/items/{ARROW.id}/picture"
    answers = world.at_once([world.send("PUT", path, body=body, by="Server") for _ in range(8)])
    assert {each.status for each in answers} == {200}
    assert [each.name for each in threading.enumerate() if each.name.startswith("pictures")] == ["pictures_0"]


def test_picture_is_unchanged_by_repetition_and_deleted_with_its_item(world: World) -> None:
    content = write(make_image(64, 64))
    first = put(world, content)
    with unchanged(world):
        assert put(world, content).json == first.json
        assert put(world, write(make_image(64, 64), "WEBP", lossless=True)).json == first.json  # the same pixels
    assert put(world, content, SWORD.id).json["Hash"] == first.json["Hash"]
    delete(world)
    assert read_stored(world, SWORD.id).size == (64, 64)
    with unchanged(world):
        assert delete(world).status == 200
    delete(world, SWORD.id)
    put(world, PNG)
    world.sql("DELETE FROM items WHERE id = $1", ARROW.id)
    assert world.sql("SELECT COUNT(*) FROM item_pictures") == [(0,)]


def make_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def write_png(depth: int, colour_type: int) -> bytes:
    """Write a PNG file of any bit depth, which Pillow cannot do."""
    row = bytes(1 + 8 * depth * {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour_type] // 8)
    header = make_chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, depth, colour_type, 0, 0, 0))
    palette = make_chunk(b"PLTE", bytes(6)) if colour_type == 3 else b""
    return PNG[:8] + header + palette + make_chunk(b"IDAT", zlib.compress(row * 8)) + make_chunk(b"IEND", b"")


def enlarge(image: Image.Image, factor: int) -> Image.Image:
    size = image.width * factor, image.height * factor
    return image.resize(size, Image.Resampling.NEAREST)  # pyright: ignore[reportUnknownMemberType] - Pillow names a type of numpy


def make_pattern(width: int, height: int) -> Image.Image:
    draw = random.Random(7)
    image = Image.new("RGBA", (width, height))
    for at in range(width * height):
        image.putpixel((at % width, at // width), (draw.randrange(256), draw.randrange(256), 0, 255))
    return image


@over("side, factor", (16, 1), (16, 8), (32, 4), (64, 8), (64, 1))
def test_pixel_art_keeps_its_pixels(side: int, factor: int) -> None:
    art = make_pattern(side, side)
    stored = Image.open(io.BytesIO(catalogue.convert_picture(write(enlarge(art, factor))).content))
    assert stored.size == (64, 64)
    assert stored.tobytes() == enlarge(art, 64 // side).tobytes()


@over("size, expected", ((512, 512), (64, 64)), ((100, 50), (64, 32)), ((512, 1), (64, 1)), ((40, 20), (40, 20)))
def test_large_picture_is_scaled_down_in_proportion(size: tuple[int, int], expected: tuple[int, int]) -> None:
    stored = Image.open(io.BytesIO(catalogue.convert_picture(write(make_image(*size))).content))
    assert stored.size == expected


ANIMATION = {"save_all": True, "append_images": [make_image(colour=BLUE)], "duration": 100}
PNG = write(make_image())
WEBP = write(make_image(), "WEBP")
LOSSLESS = write(make_image(), "WEBP", lossless=True)
UNPACKED = write(make_image(), compress_level=0)
NOISE = write(make_pattern(200, 200))
HUGE_PNG = PNG[:8] + make_chunk(b"IHDR", struct.pack(">II", 60_000, 60_000) + PNG[24:29]) + PNG[33:]
# After the header of a PNG file: text that unpacks to 20 million bytes
PACKED_TEXT = PNG[:33] + make_chunk(b"zTXt", b"Comment\0\0" + zlib.compress(bytes(20_000_000), 9)) + PNG[33:]
HOSTILE = {
    "text": (b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", "must be a PNG or WebP file"),
    "jpeg that begins like a PNG": (PNG[:8] + write(make_image().convert("RGB"), "JPEG"), "must be a PNG or WebP file"),
    "animated PNG": (write(make_image(), "PNG", **ANIMATION), "must not be animated"),
    "too wide": (write(make_image(513, 1)), "has 513 x 1 pixels"),
    "huge PNG": (HUGE_PNG, "has 60000 x 60000 pixels"),
    "cut PNG": (NOISE[: len(NOISE) // 2], "is damaged or incomplete"),
    "cut WebP": (WEBP[: len(WEBP) // 2 + 8], "is damaged or incomplete"),
    "text that unpacks to a lot": (PACKED_TEXT, "is damaged or incomplete"),
    "too many bytes": (PNG + bytes(65_537 - len(PNG)), "has 65537 bytes: at most 65536 are allowed"),
    "PNG without its end": (PNG[:-12], "is damaged or incomplete"),
    "PNG with a changed pixel": (UNPACKED[:100] + b"?" + UNPACKED[101:], "is damaged or incomplete"),
    **{f"16 bits, type {each}": (write_png(16, each), "has 16 bits per channel") for each in (0, 2, 4, 6)},
}


@over("name", *HOSTILE)
def test_hostile_file_is_refused(shared_world: World, name: str) -> None:
    content, problem = HOSTILE[name]
    before = everything(shared_world)
    refused(put(shared_world, content), 400, "bad_field", problem)
    as_text = {"Picture": content.hex() + "!"}  # no base64
    refused(shared_world.call("PUT", f"{LINK}/items/{ARROW.id}/picture", body=as_text, by="Server"), 400, "bad_field")
    assert everything(shared_world) == before


@over("start", PNG, WEBP, LOSSLESS, NOISE[:3000])
def test_damaged_bytes_raise_only_the_refusal(start: bytes) -> None:
    draw = random.Random(11)
    for _ in range(200):
        damaged = bytearray(start)
        for _ in range(draw.randrange(1, 6)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        try:
            stored = catalogue.convert_picture(bytes(damaged))
        except BadField:
            continue
        assert Image.open(io.BytesIO(stored.content)).size <= (64, 64)
