"""Pictures of the demo's items, drawn on 16 x 16 pixels."""

from typing import NamedTuple

from gamekeeper.demo import world
from gamekeeper.game.world import catalogue
from gamekeeper.store.world.catalogue import Picture

SIDE = 16
EDGE = "#2b2118"
WOOD, LEATHER, STEEL, GOLD, CLOTH = "#8a5a2b", "#a8703a", "#b9c2cc", "#e8b93c", "#c9b58f"
Points = tuple[int, ...]


class Stroke(NamedTuple):
    """One shape of a picture: `form` is a method of Pillow's ImageDraw."""

    form: str
    points: Points
    fill: str


def _draw_disc(*points: int, fill: str) -> Stroke:
    return Stroke("ellipse", points, fill)


def _draw_box(*points: int, fill: str) -> Stroke:
    return Stroke("rectangle", points, fill)


def _draw_shape(*points: int, fill: str) -> Stroke:
    return Stroke("polygon", points, fill)


def _draw_line(*points: int, fill: str) -> Stroke:
    return Stroke("line", points, fill)


def _draw_bottle(liquid: str) -> tuple[Stroke, ...]:
    return (
        _draw_box(6, 1, 9, 5, fill=CLOTH),
        _draw_disc(3, 5, 12, 14, fill=liquid),
        _draw_line(5, 8, 5, 10, fill="#ffffff"),
    )


def _draw_helmet(metal: str) -> tuple[Stroke, ...]:
    return _draw_shape(2, 11, 3, 5, 7, 2, 8, 2, 12, 5, 13, 11, fill=metal), _draw_box(1, 11, 14, 13, fill=metal)


def _draw_coat(cloth: str) -> tuple[Stroke, ...]:
    return (
        _draw_shape(5, 2, 10, 2, 14, 5, 12, 8, 11, 7, 11, 14, 4, 14, 4, 7, 3, 8, 1, 5, fill=cloth),
        _draw_line(8, 3, 8, 13, fill=EDGE),
    )


def _draw_boots(leather: str) -> tuple[Stroke, ...]:
    return tuple(_draw_shape(x, 3, x + 3, 3, x + 3, 10, x + 6, 13, x, 13, fill=leather) for x in (1, 8))


def _draw_bag(leather: str) -> tuple[Stroke, ...]:
    return (
        _draw_shape(5, 2, 10, 2, 9, 5, 13, 9, 12, 14, 3, 14, 2, 9, 6, 5, fill=leather),
        _draw_line(5, 5, 10, 5, fill=GOLD),
    )


STROKES: dict[str, tuple[Stroke, ...]] = {
    "Silver Mark": (_draw_disc(2, 2, 13, 13, fill=STEEL), _draw_disc(5, 5, 10, 10, fill="#dfe6ec")),
    "Healing Draught": _draw_bottle("#c8323c"),
    "Starwater Tonic": _draw_bottle("#3f7fd0"),
    "Barley Loaf": (
        _draw_disc(1, 4, 14, 13, fill="#c98d45"),
        *(_draw_line(x, 5, x + 2, 8, fill="#f0cf94") for x in (4, 7, 10)),
    ),
    "Ashwood Arrow": (
        _draw_line(3, 12, 11, 4, fill=WOOD),
        _draw_shape(10, 2, 13, 2, 13, 5, fill=STEEL),
        _draw_shape(1, 12, 4, 12, 4, 14, fill="#d9483b"),
    ),
    "Moonfern": (
        _draw_line(8, 14, 8, 3, fill="#2f7d46"),
        *(_draw_shape(8, y, 3, y - 3, 5, y + 1, fill="#59b36f") for y in (6, 10)),
        *(_draw_shape(8, y, 13, y - 3, 11, y + 1, fill="#59b36f") for y in (8, 12)),
    ),
    "Bog Iron Ore": (
        _draw_shape(2, 11, 5, 4, 11, 3, 14, 10, 10, 14, 4, 14, fill="#7a6a5e"),
        _draw_box(6, 7, 7, 8, fill="#d98a4a"),
        _draw_box(10, 10, 11, 11, fill="#d98a4a"),
    ),
    "River Opal": (
        _draw_shape(4, 3, 11, 3, 14, 7, 8, 14, 1, 7, fill="#6fd0c4"),
        _draw_shape(5, 7, 10, 7, 8, 12, fill="#c8f4ee"),
    ),
    "Recall Scroll": (
        _draw_box(4, 2, 11, 13, fill="#efe1b8"),
        *(_draw_line(6, y, 9, y, fill="#8d7a4a") for y in (5, 7, 9)),
        _draw_disc(8, 10, 11, 13, fill="#b3262e"),
    ),
    "Drowned Gate Key": (
        _draw_disc(1, 5, 7, 11, fill=GOLD),
        _draw_box(7, 7, 14, 9, fill=GOLD),
        _draw_box(12, 9, 13, 12, fill=GOLD),
        _draw_box(4, 8, 4, 8, fill=EDGE),
    ),
    "Comet Shard": (
        _draw_shape(8, 1, 12, 7, 9, 14, 5, 11, 4, 6, fill="#8d5bd6"),
        _draw_shape(8, 3, 9, 8, 7, 10, fill="#d9c4ff"),
    ),
    "Leather Cap": _draw_helmet(LEATHER),
    "Kettle Helm": _draw_helmet(STEEL),
    "Quilted Coat": _draw_coat("#4f7d9a"),
    "Ringmail Shirt": _draw_coat(STEEL),
    "Oak Buckler": (_draw_disc(1, 1, 14, 14, fill=WOOD), _draw_disc(6, 6, 9, 9, fill=STEEL)),
    "Tower Shield": (
        _draw_shape(2, 2, 13, 2, 13, 10, 8, 14, 2, 10, fill="#35589c"),
        _draw_line(8, 3, 8, 12, fill=GOLD),
    ),
    "Felt Boots": _draw_boots("#7d8b5a"),
    "Riding Boots": _draw_boots("#6b3f22"),
    "Broadsword": (
        _draw_shape(12, 1, 14, 1, 14, 3, 6, 11, 4, 9, fill=STEEL),
        _draw_line(2, 8, 7, 13, fill=GOLD),
        _draw_line(1, 14, 4, 11, fill=WOOD),
    ),
    "Rowan Staff": (_draw_line(3, 14, 11, 5, fill=WOOD), _draw_disc(9, 1, 14, 6, fill="#d9483b")),
    "Yew Bow": (
        Stroke("line", (4, 1, 10, 3, 12, 8, 10, 13, 4, 15), WOOD),
        _draw_line(4, 1, 4, 15, fill="#e9e2d0"),
    ),
    "Bell Mace": (_draw_line(2, 14, 9, 7, fill=WOOD), _draw_disc(7, 1, 14, 8, fill=GOLD)),
    "Boar Spear": (_draw_line(1, 14, 10, 5, fill=WOOD), _draw_shape(9, 3, 14, 1, 12, 6, fill=STEEL)),
    "Traveller's Pack": (
        _draw_box(3, 4, 12, 14, fill=LEATHER),
        _draw_box(5, 1, 10, 5, fill=CLOTH),
        _draw_box(6, 9, 9, 11, fill=GOLD),
    ),
    "Herb Pouch": _draw_bag("#6f9150"),
    "Strongbox": (
        _draw_box(1, 4, 14, 13, fill=WOOD),
        _draw_line(1, 8, 14, 8, fill=STEEL),
        _draw_box(7, 7, 8, 10, fill=GOLD),
    ),
}


def draw_pictures() -> dict[str, Picture]:
    """Draw the pictures of all items, by the item's id."""
    return {each.id: _draw(STROKES[each.name]) for each in (*world.STACKS, world.SHARD, *world.PIECES)}


def _draw(strokes: tuple[Stroke, ...]) -> Picture:
    from PIL import Image, ImageDraw  # noqa: PLC0415 - imported when the demo is filled

    image = Image.new("RGBA", (SIDE, SIDE))
    pen = ImageDraw.Draw(image)
    for each in strokes:
        match each.form:
            case "ellipse":
                pen.ellipse(each.points, each.fill, EDGE)
            case "rectangle":
                pen.rectangle(each.points, each.fill, EDGE)
            case "polygon":
                pen.polygon(each.points, each.fill, EDGE)
            case _:
                pen.line(each.points, each.fill, 2)
    return catalogue.encode_picture(catalogue.scale_picture(image))
