"""A textbook FastAPI and SQLAlchemy application over Gamekeeper's own database: three reads, for the benchmark."""

import hashlib
import os
import re
import time
import unicodedata
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException, Query, status
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel
from sqlalchemy import JSON, BigInteger, ForeignKey, String, create_engine, func, select
from sqlalchemy.dialects.postgresql import UUID
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship, sessionmaker

BELIEVED_SECONDS = 4.0
LARGEST_PAGE = 100
GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}", re.IGNORECASE)

# Connection pool of as many connections as FastAPI has threads: waiting for one would block a thread.
engine = create_engine(os.environ["PEER_DATABASE"], pool_size=40, max_overflow=0)
sessions = sessionmaker(engine, expire_on_commit=False)
app = FastAPI()

Guid = String(36).with_variant(UUID(as_uuid=False), "postgresql")


# --- database models -----------------------------------------------------------------------------------------------


class Base(DeclarativeBase):
    pass


class User(Base):
    __tablename__ = "users"
    id: Mapped[str] = mapped_column(Guid, primary_key=True)
    api: Mapped[bool]


class Token(Base):
    __tablename__ = "tokens"
    id: Mapped[str] = mapped_column(Guid, primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"))
    access_hash: Mapped[str]
    access_expires: Mapped[int] = mapped_column(BigInteger)
    revoked_at: Mapped[int | None] = mapped_column(BigInteger)


class GameClass(Base):
    __tablename__ = "classes"
    id: Mapped[str] = mapped_column(Guid, primary_key=True)
    name: Mapped[str]


class Map(Base):
    __tablename__ = "maps"
    id: Mapped[str] = mapped_column(Guid, primary_key=True)
    name: Mapped[str]


class Presence(Base):
    __tablename__ = "presence"
    player_id: Mapped[str] = mapped_column(ForeignKey("players.id"), primary_key=True)


class Player(Base):
    __tablename__ = "players"
    id: Mapped[str] = mapped_column(Guid, primary_key=True)
    fold: Mapped[str]
    level: Mapped[int]
    exp: Mapped[int] = mapped_column(BigInteger)
    class_id: Mapped[str] = mapped_column(ForeignKey("classes.id"))
    map_id: Mapped[str] = mapped_column(ForeignKey("maps.id"))
    last_online: Mapped[int | None] = mapped_column(BigInteger)
    document: Mapped[dict[str, Any]] = mapped_column(JSON)
    game_class: Mapped[GameClass | None] = relationship(lazy="joined")
    map: Mapped[Map | None] = relationship(lazy="joined")
    presence: Mapped[Presence | None] = relationship(lazy="joined")


# --- shapes of the answers -----------------------------------------------------------------------------------------


class PlayerRecord(BaseModel):
    Name: str
    InBank: bool
    UserId: str
    MaxVitals: list[int]
    Id: str
    Level: int
    Exp: int
    ExperienceToNextLevel: int
    ClassId: str
    Gender: int
    Vitals: list[int]
    BaseStats: list[int]
    StatPointAllocations: list[int]
    StatPoints: int
    Equipment: list[int]
    MapId: str
    X: int
    Y: int
    Z: int
    Dir: int
    Sprite: str
    Face: str
    Dead: bool
    CreationDate: str
    PlayTimeSeconds: int
    ClassName: str
    MapName: str
    Online: bool
    LastOnline: str | None


class Page(BaseModel):
    Total: int
    Page: int
    PageSize: int
    Count: int
    Values: list[PlayerRecord]


def record(player: Player) -> PlayerRecord:
    return PlayerRecord(
        **player.document,
        ClassName=player.game_class.name if player.game_class else "",
        MapName=player.map.name if player.map else "",
        Online=player.presence is not None,
        LastOnline=None if player.last_online is None else instant(player.last_online),
    )


def instant(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


# --- dependencies --------------------------------------------------------------------------------------------------


def session() -> Iterator[Session]:
    with sessions() as opened:
        yield opened


believed: dict[str, float] = {}


def caller(bearer: Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())]) -> None:
    """Check the token, and cache an active one for four seconds, like Gamekeeper."""
    token = bearer.credentials
    if believed.get(token, 0) > time.monotonic():
        return
    query = (
        select(Token.access_expires)
        .join(User, User.id == Token.user_id)
        .where(Token.access_hash == hashlib.sha256(token.encode()).hexdigest(), Token.revoked_at.is_(None), User.api)
    )
    with sessions() as opened:
        expires = opened.scalar(query)
    life = (expires or 0) / 1000 - time.time()
    if life <= 0:
        raise HTTPException(status.HTTP_401_UNAUTHORIZED, "The token is not good.")
    believed[token] = time.monotonic() + min(BELIEVED_SECONDS, life)


Database = Annotated[Session, Depends(session)]
PageNumber = Annotated[int, Query(ge=0)]
PageSize = Annotated[int, Query(ge=1)]


# --- endpoints -----------------------------------------------------------------------------------------------------


@app.get("/api/v1/players", dependencies=[Depends(caller)])
def by_name(db: Database, page: PageNumber = 0, pageSize: PageSize = 5) -> Page:  # noqa: N803 - the wire's spelling
    return listed(db, page, pageSize, Player.fold)


@app.get("/api/v1/players/rank", dependencies=[Depends(caller)])
def by_rank(db: Database, page: PageNumber = 0, pageSize: PageSize = 5) -> Page:  # noqa: N803 - the wire's spelling
    return listed(db, page, pageSize, Player.level.desc(), Player.exp.desc(), Player.id.desc())


@app.get("/api/v1/players/{key}", dependencies=[Depends(caller)])
def show(db: Database, key: str) -> PlayerRecord:
    found = db.scalar(select(Player).where(matches(key)))
    if found is None:
        raise HTTPException(status.HTTP_404_NOT_FOUND, "No such player.")
    return record(found)


def matches(key: str) -> Any:  # noqa: ANN401 - an SQL expression
    if GUID.fullmatch(key):
        return Player.id == str(uuid.UUID(key))
    return Player.fold == unicodedata.normalize("NFC", key.casefold())


def listed(db: Session, page: int, size: int, *order: Any) -> Page:  # noqa: ANN401 - SQL expressions
    size = min(size, LARGEST_PAGE)
    total = db.scalar(select(func.count()).select_from(Player)) or 0
    players = db.scalars(select(Player).order_by(*order).limit(size).offset(page * size))
    values = [record(each) for each in players]
    return Page(Total=total, Page=page, PageSize=size, Count=len(values), Values=values)
