"""Fields of the game's objects: for each column of Intersect its type and its name in the engine's answers.

A line of a table starts with a type. Its columns follow: `Ammo>AmmoItemId` is a column with another name in answers,
and `OnHit>Combat.OnHitDuration` is a part of another field, as `Combat_Scaling` is without saying so. A column has the
same type in all versions of Intersect that have it. Where answers differ between versions, they are those of 0.7.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """Types of fields."""

    OWN = "own"  # not a further field: Gamekeeper stores and sends it itself
    FLAG = "flag"
    INTEGER = "integer"  # also enumerations, which the engine sends as numbers
    NUMBER = "number"
    TEXT = "text"
    GUID = "guid"
    COLOUR = "colour"
    LIST = "list"  # JSON in the database, as are the types below
    OBJECT = "object"
    VITALS = "vitals"  # one number for each vital
    STATS = "stats"  # one number for each stat
    CONDITIONS = "conditions"  # sent as an object that contains the JSON as text


class Field(NamedTuple):
    kind: Kind
    path: tuple[str, ...]  # names in the answer, the outer one first


_TABLES: Mapping[str, str] = {
    "items": """
        own         Name Icon Pic Stackable SlotCount MaxInventoryStack MaxBankStack
        flag        Bound CanBag CanBank CanGuildBank CanSell CanTrade DestroySpell>SingleUse IgnoreCooldownReduction
        flag        IgnoreGlobalCooldown QuickCast TwoHanded
        integer     AttackSpeedModifier AttackSpeedValue BlockAbsorption BlockAmount BlockChance Consumable_Percentage
        integer     Consumable_Type Consumable_Value Cooldown CritChance Damage DamageType DespawnTime DropChanceOnDeath
        integer     Effect_Percentage Effect_Type EquipmentSlot ItemType Price Rarity Scaling ScalingStat Speed
        integer     StatGrowth TimeCreated Tool
        number      CritMultiplier
        text        CannotUseMessage CooldownGroup Description EventTriggers>EventTriggersJson FemalePaperdoll Folder
        text        MalePaperdoll WeaponSpriteOverride
        guid        Animation>AnimationId AttackAnimation>AttackAnimationId EquipmentAnimation>EquipmentAnimationId
        guid        Event>EventId Projectile>ProjectileId Spell>SpellId
        colour      Color
        list        Effects
        vitals      PercentageVitalsGiven VitalsGiven VitalsRegen
        stats       PercentageStatsGiven StatsGiven
        conditions  UsageRequirements
        """,
    "known_spells": """
        own         Name
        flag        Bound IgnoreCooldownReduction IgnoreGlobalCooldown Combat_Friendly Combat_HoTDoT
        flag        Dash_IgnoreActiveResources Dash_IgnoreInactiveResources Dash_IgnoreMapBlocks
        flag        Dash_IgnoreZDimensionAttributes
        integer     CastDuration CooldownDuration SpellType TimeCreated Combat_CastRange Combat_CritChance
        integer     Combat_DamageType Combat_Duration Combat_Effect Combat_HitRadius Combat_HotDotInterval
        integer     Combat_Scaling Combat_ScalingStat Combat_TargetType OnHit>Combat.OnHitDuration
        integer     Trap>Combat.TrapDuration Warp_Dir Warp_X Warp_Y
        number      Combat_CritMultiplier
        text        CannotCastMessage CastSpriteOverride CooldownGroup Description Folder Icon Combat_TransformSprite
        guid        CastAnimation>CastAnimationId Event>EventId HitAnimation>HitAnimationId
        guid        Projectile>Combat.ProjectileId TickAnimation>TickAnimationId Warp_MapId
        vitals      VitalCost VitalDiff>Combat.VitalDiff
        stats       PercentageStatDiff>Combat.PercentageStatDiff StatDiff>Combat.StatDiff
        conditions  CastRequirements>CastingRequirements
        """,
    "known_variables": """
        own         Name Type DataType
        integer     TimeCreated
        text        Folder TextId
        """,
    "known_switches": """
        own         Name
        integer     TimeCreated
        text        TextId
        """,
    "known_user_variables": """
        own         Name
        integer     DataType TimeCreated
        text        Folder TextId
        """,
    "classes": """
        own         Name
        flag        IncreasePercentage Locked
        integer     AttackSpeedModifier AttackSpeedValue BaseExp BasePoints CritChance Damage DamageType ExpIncrease
        integer     PointIncrease Scaling ScalingStat SpawnDir SpawnX SpawnY TimeCreated
        number      CritMultiplier
        text        AttackSpriteOverride Folder
        guid        AttackAnimation>AttackAnimationId SpawnMap>SpawnMapId
        list        Items Spells Sprites
        object      ExperienceOverrides
        vitals      BaseVitals>BaseVital VitalIncreases>VitalIncrease VitalRegen
        stats       BaseStats>BaseStat StatIncreases>StatIncrease
        """,
    "maps": """
        own         Name
        flag        HideEquipment IsIndoors
        integer     AHue BHue Brightness FogTransparency FogXSpeed FogYSpeed GHue PlayerLightIntensity PlayerLightSize
        integer     RHue Revision TimeCreated WeatherIntensity WeatherXSpeed WeatherYSpeed ZoneType
        number      PlayerLightExpand
        text        Fog Music OverlayGraphic Panorama Sound
        guid        Up Down Left Right WeatherAnimation>WeatherAnimationId
        colour      PlayerLightColor
        list        Events>EventIds Lights NpcSpawns>Spawns
        """,
    "animations": """
        own         Name
        flag        CompleteSound Lower_AlternateRenderLayer Lower_DisableRotations Upper_AlternateRenderLayer
        flag        Upper_DisableRotations
        integer     TimeCreated Lower_FrameCount Lower_FrameSpeed Lower_LoopCount Lower_XFrames Lower_YFrames
        integer     Upper_FrameCount Upper_FrameSpeed Upper_LoopCount Upper_XFrames Upper_YFrames
        text        Folder Sound Lower_Sprite Upper_Sprite
        list        Lower_Light>Lower.Lights Upper_Light>Upper.Lights
        """,
    "npcs": """
        own         Name
        flag        Aggressive AttackAllies FocusHighestDamageDealer IndividualizedLoot NpcVsNpcEnabled Swarm
        integer     AttackSpeedModifier AttackSpeedValue CritChance Damage DamageType Experience FleeHealthPercentage
        integer     Level Movement ResetRadius Scaling ScalingStat SightRange SpawnDuration SpellFrequency TimeCreated
        number      CritMultiplier Tenacity
        text        Folder Sprite
        guid        AttackAnimation>AttackAnimationId DeathAnimation>DeathAnimationId OnDeathEvent>OnDeathEventId
        guid        OnDeathPartyEvent>OnDeathPartyEventId
        colour      Color
        list        AggroList Drops Immunities Spells
        vitals      MaxVital VitalRegen
        stats       Stats
        conditions  AttackOnSightConditions PlayerCanAttackConditions PlayerFriendConditions
        """,
    "projectiles": """
        own         Name
        flag        DirectShotBehavior GrappleHook HomingBehavior IgnoreActiveResources IgnoreExhaustedResources
        flag        IgnoreMapBlocks IgnoreZDimension PierceTarget
        integer     AmmoRequired Delay Knockback Quantity Range Speed TimeCreated
        text        Folder
        guid        Ammo>AmmoItemId Spell>SpellId
        list        Animations GrappleHookOptions SpawnLocations
        """,
    "all_quests": """
        own         Name
        flag        DoNotShowUnlessRequirementsMet LogAfterComplete LogBeforeOffer Quitable Repeatable
        integer     OrderValue TimeCreated
        text        BeforeDescription CompletedCategory EndDescription Folder InProgressCategory InProgressDescription
        text        StartDescription UnstartedCategory
        guid        EndEvent>EndEventId StartEvent>StartEventId
        list        Tasks
        conditions  Requirements
        """,
    "resources": """
        own         Name
        flag        UseExplicitMaxHealthForResourceStates WalkableAfter WalkableBefore Exhausted_GraphicFromTileset
        flag        Exhausted_RenderBelowEntities Initial_GraphicFromTileset Initial_RenderBelowEntities
        integer     MaxHp MinHp SpawnDuration TimeCreated Tool VitalRegen Exhausted_Height Exhausted_Width Exhausted_X
        integer     Exhausted_Y Initial_Height Initial_Width Initial_X Initial_Y
        text        CannotHarvestMessage Folder States>JsonStates Exhausted_Graphic Initial_Graphic
        guid        Animation>AnimationId DeathAnimation>DeathAnimationId Event>EventId
        list        Drops
        conditions  HarvestingRequirements
        """,
    "shops": """
        own         Name
        flag        BuyingWhitelist
        integer     TimeCreated
        text        BuySound Folder SellSound
        guid        DefaultCurrency>DefaultCurrencyId
        list        BuyingItems SellingItems
        """,
    "crafting_tables": """
        own         Name
        integer     TimeCreated
        text        Folder
        list        Crafts
        """,
    "crafts": """
        own         Name
        integer     FailureChance ItemLossChance Quantity Time TimeCreated
        text        Folder
        guid        Event>EventId ItemId
        list        Ingredients
        conditions  CraftingRequirements
        """,
    "events": """
        own         Name
        flag        CanRunInParallel CommonEvent Global
        integer     SpawnX SpawnY TimeCreated
        text        Folder
        guid        MapId
        list        Pages
        """,
    "tilesets": """
        own         Name
        integer     TimeCreated
        """,
    "time": """
        flag        SyncTime
        integer     RangeInterval
        number      Rate
        list        DaylightHues
        """,
}


def _read_table(text: str) -> dict[str, Field]:
    lines = (line.split() for line in text.strip().splitlines())
    return dict(_read_column(Kind(kind), column) for kind, *columns in lines for column in columns)


def _read_column(kind: Kind, written: str) -> tuple[str, Field]:
    column, _, name = written.partition(">")
    return column, Field(kind, tuple((name or column.replace("_", ".")).split(".")))


# Gamekeeper's name of an Intersect table → column → field
FIELDS: Mapping[str, Mapping[str, Field]] = {noun: _read_table(text) for noun, text in _TABLES.items()}
