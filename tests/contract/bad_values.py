"""Tables of invalid values: JSON texts, path segments, queries, headers and whole bodies, each with its fault."""

import json
from urllib.parse import quote

import people

ZERO = "00000000-0000-0000-0000-000000000000"
GUID = people.COIN.id
BARE = GUID.replace("-", "")
SECRET = "5e4d" * 16


def text(value: object) -> str:
    return json.dumps(value)


def wide(plain: str) -> str:
    """Replace the characters of a text by their full-width look-alikes."""
    return "".join(chr(ord(each) + 0xFEE0) for each in plain)


def plain(*values: str) -> dict[str, str]:
    """Return values that say themselves what is wrong with them."""
    return dict(zip(values, values, strict=True))


# --- invalid values as JSON text -----------------------------------------------------------------------------------

NEVER_AN_INTEGER = {
    **plain("1e3", "1.5", "NaN", '"five"', "true", "null", '"1_000"', '" 7 "', '""', '"7\\n"', "[5]"),
    **plain(str(2**63), str(-(2**63) - 1)),
    "5,000 digits": "9" * 5000,
    "full-width digits": text(wide("12")),
}
NEVER_32_BITS = NEVER_AN_INTEGER | plain(str(2**31), str(-(2**31) - 1), str(2**32 + 5))
NEVER_NATURAL = NEVER_32_BITS | plain("-1", '"-1"', str(-(2**31)))
NEVER_POSITIVE = NEVER_NATURAL | plain("0", '"0"', "-0")
NEVER_A_BOOLEAN = plain("0", "1", '"yes"', '" true"', '""', "null", "{}")
ODD_GUIDS = {
    "urn": f"urn:uuid:{GUID}",
    "full-width digits": GUID.replace("0", wide("0")),
    "33 digits": BARE + "0",
    "unclosed brace": f"{{{GUID}",
    "hyphens elsewhere": f"{BARE[:4]}-{BARE[4:]}",
    "not hexadecimal": "g" * 32,
    "newline after": f"{GUID}\n",
    "a name": "Gold Coin",
    "8 KB": "a" * 8192,
}
NEVER_A_GUID = {
    **{about: text(value) for about, value in ODD_GUIDS.items()},
    **plain('""', "5", "null", text([GUID]), '"\\ud800"', '"\\u0000"'),
}
NEVER_A_TEXT = plain("5", "null", '["x"]', '"a\\u0000b"', '"a\\nb"', '"\\ud800"')
NEVER_A_NAME = {
    **NEVER_A_TEXT,
    **plain('""', '"x"', text("x" * 21), '"a b"', '"a/b"', text("<script>alert(1)</script>")),
    "right to left": text("\u202egnp.exe"),
    "full-width": text(wide("Ann")),
    "zero width": text("An\u200bn"),
    "a guid": text(GUID),
    "reserved": '"rank"',
    "reserved in another case": '"ReGiStEr"',
}
NEVER_AN_EMAIL = {
    **NEVER_A_TEXT,
    **plain('""', '"ann"', '"ann@bob@example.test"', '"an n@example.test"', '"ann@example..test"'),
    "header injection": text("ann@example.test\r\nBcc: all@example.test"),
    "300 characters": text("a" * 300 + "@example.test"),
    "right to left": text("ann\u202e@example.test"),
}
NEVER_A_PASSWORD = {
    "empty": "",
    "plain": "hunter2-hunter2",
    "65 digits": SECRET + "0",
    "not hexadecimal": "g" + SECRET[1:],
    "full-width digits": SECRET.replace("5", wide("5")),
    "newline after": SECRET + "\n",
    "NUL": SECRET[:63] + "\0",
    "8 KB": SECRET * 128,
}
PASSWORDS_THAT_ARE_NO_TEXT = {**plain("12345", "true", "null", "{}"), "list": text([SECRET])}

# --- invalid values as a segment of a path -------------------------------------------------------------------------

ODD_NAMES = {
    "NUL": "%00",
    "carriage return and line feed": "Ann%0d%0aX-Evil:%201",
    "delete": "%7f",
    "8 KB": "x" * 8192,
    "slash": "Ann%2F..%2FBob",
    "dots and slashes": "..%2f..%2f..%2fetc%2fpasswd",
    "invalid UTF-8": "%ff%fe",
    "surrogate in UTF-8": "%ed%a0%80",
    "right to left": "%e2%80%aeAnn",
    "zero width": "A%e2%80%8bnn",
    "percent alone": "%",
    "double encoding": "%2541nn",
    "SQL": quote("' OR 1=1 --", safe=""),
    "LIKE": "A%25",
    "space after": "Ann%20",
    "urn": f"urn:uuid:{people.ANN.id}",
    "31 digits": people.ANN.id.replace("-", "")[:31],
    "zero guid": ZERO,
    "unknown guid": people.NOBODY_ID,
}
NOWHERE = [
    "/api",
    "/api/v2/players",
    "/Health/live",
    "/api/v1/players/Ann/items/steal",
    "/api/v1/players/Ann/items/give/more",
    "/api/v1/players//items",
    "//api/v1/players",
    "/api/v1/players/Ann/variables//value",
    "/api/v1/players/bag",
    "/api/v1/players/../users",
    "/api/v1/./players",
    "/api/v1%2fplayers",
    "/api/v1/users/Ann/manage/email",
    "/api/oauth/token/Root/x/y",
    "/api/link/v1/servers",
    "/.env",
    "/..%2f..%2fetc%2fpasswd",
    "/api/v1/players/" + "a/" * 4000,
    "/api/v1/players/Ann/items\x00",
]

# --- invalid values as a query or header ---------------------------------------------------------------------------

NEVER_A_PAGE = {
    **plain("-1", str(2**31), "1_0", "+1", "1.0", "", "0x1", "1%00", "%ff"),
    "5,000 digits": "9" * 5000,
    "full-width": quote(wide("1")),
}
ODD_KEYS = {
    "empty": b"",
    "256 characters": b"k" * 256,
    "space": b"a b",
    "NUL": b"a\x00b",
    "delete": b"a\x7f",
    "not ASCII": "ключ".encode(),
}
ODD_REASONS = {"NUL": b"a\x00b", "delete": b"a\x7fb", "C1 control": "\x9b31m".encode(), "501 characters": b"x" * 501}

# --- invalid values as a whole body --------------------------------------------------------------------------------

NOT_AN_OBJECT = plain("5", '"x"', "true", "null", "[1]", "[[]]")
BROKEN = {
    "open": b"{",
    "comma": b'{"a": 1,}',
    "two values": b"{} {}",
    "garbage after": b"{}x",
    "word": b"nul",
    "bare NUL": b'{"a": "\x00"}',
    "invalid UTF-8": b'{"a": "\xff"}',
    "overlong": b'{"a": "\xc0\xaf"}',
    "33 lists": b'{"a": ' + b"[" * 32 + b"]" * 32 + b"}",
    "10,000 lists": b'{"a": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    "10,000 lists left open": b"[" * 10_000,
    "the same field twice": b'{"a": 1, "a": 1}',
    "the same field in another case": b'{"Quantity": 1, "quantity": 1}',
    "XML": b"<a>1</a>",
    "gzip": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
    **{f"no object: {about}": value.encode() for about, value in NOT_AN_OBJECT.items()},
}
FOREIGN = [
    *(b"text/plain", b"application/jsonp", b"application/json-patch+json", b"multipart/form-data; boundary=x"),
    *(b"*/*", b"\xff\xfe"),
]
