"""All columns of Intersect's game data in each version, with the type of the engine's property and its name in answers.

A line starts with the versions that have its columns, and their type: `0.7.1-` is since 0.7.1, `-0.7.1` until then.
`Ammo>AmmoItemId` is a column with another name in answers. An underscore separates the parts of an object.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from make_intersect import ERAS


class Column(NamedTuple):
    name: str
    type: str
    path: tuple[str, ...]  # names in answers, the outer one first


TABLES: Mapping[str, str] = {
    "Animations": """
        -       text    Sound Lower_Sprite Upper_Sprite
        -       int     Lower_FrameCount Lower_FrameSpeed Lower_LoopCount Lower_XFrames Lower_YFrames
        -       int     Upper_FrameCount Upper_FrameSpeed Upper_LoopCount Upper_XFrames Upper_YFrames
        -       bool    Lower_DisableRotations Lower_AlternateRenderLayer Upper_DisableRotations
        -       bool    Upper_AlternateRenderLayer
        -       list    Lower_Light>Lower_Lights Upper_Light>Upper_Lights
        -       long    TimeCreated
        0.6.2-  bool    CompleteSound
        0.6.2-  text    Folder
        """,
    "Classes": """
        -       guid    AttackAnimation>AttackAnimationId SpawnMap>SpawnMapId
        -       int     BasePoints CritChance Damage DamageType PointIncrease Scaling ScalingStat SpawnX SpawnY SpawnDir
        -       long    BaseExp ExpIncrease TimeCreated
        -       double  CritMultiplier
        -       bool    IncreasePercentage Locked
        -       int[5]  BaseStats>BaseStat StatIncreases>StatIncrease
        -       int[2]  BaseVitals>BaseVital VitalIncreases>VitalIncrease VitalRegen
        -       list    Items Spells Sprites
        0.6.2-  object  ExperienceOverrides
        0.6.2-  int     AttackSpeedModifier AttackSpeedValue
        0.6.2-  text    Folder
        0.7.1-  text    AttackSpriteOverride
        """,
    "Crafts": """
        -       list    Ingredients
        -       guid    ItemId
        -       int     Time
        -       long    TimeCreated
        0.6.2-  int     Quantity
        0.6.2-  text    Folder
        0.7.1-  guid    Event>EventId
        0.7.1-  int     FailureChance ItemLossChance
        0.7.1-  lists   CraftingRequirements
        """,
    "CraftingTables": """
        -       list    Crafts
        -       long    TimeCreated
        0.6.2-  text    Folder
        """,
    "Events": """
        -       guid    MapId
        -       int     SpawnX SpawnY
        -       true    CommonEvent
        -       bool    Global
        -       list    Pages
        -       long    TimeCreated
        0.6.2-  text    Folder
        0.8-    bool    CanRunInParallel
        """,
    "GuildVariables": """
        0.7.1-0.7.1  type  Type
        0.7.1-  ticks   TimeCreated
        0.7.1-  text    TextId Folder
        0.8-    type    DataType>Type
        """,
    "Items": """
        -       guid    Animation>AnimationId AttackAnimation>AttackAnimationId EquipmentAnimation>EquipmentAnimationId
        -       guid    Spell>SpellId Event>EventId Projectile>ProjectileId
        -0.6.2  bool    Bound
        -       int     CritChance Cooldown Damage DamageType AttackSpeedModifier AttackSpeedValue EquipmentSlot
        -       int     ItemType Price Scaling ScalingStat SlotCount Speed Tool Consumable_Value
        -       byte    Consumable_Type
        -       double  CritMultiplier
        -       bool    TwoHanded
        -       true    Stackable
        -       text    Description FemalePaperdoll MalePaperdoll Icon
        -       int[2]  VitalsGiven
        -       int[5]  StatsGiven
        -       lists   UsageRequirements
        -       long    TimeCreated
        -0.7.0  byte    Effect_Type
        -0.7.0  int     Effect_Percentage
        -0.7.1  int     StatGrowth
        0.6.2-  bool    DestroySpell>SingleUse QuickCast
        0.6.2-  int     Rarity Consumable_Percentage
        0.6.2-  int[2]  PercentageVitalsGiven VitalsRegen
        0.6.2-  int[5]  PercentageStatsGiven
        0.6.2-  text    Folder
        0.7.0-  bool    Bound>CanDrop CanBag CanBank CanGuildBank CanSell CanTrade IgnoreCooldownReduction
        0.7.0-  bool    IgnoreGlobalCooldown
        0.7.0-  int     DropChanceOnDeath MaxBankStack MaxInventoryStack
        0.7.0-  text    CooldownGroup
        0.7.0-  colour  Color
        0.7.1-  int     BlockAbsorption BlockAmount BlockChance
        0.7.1-  long    DespawnTime
        0.7.1-  text    CannotUseMessage WeaponSpriteOverride
        0.7.1-  list    Effects
        0.8-    text    EventTriggers>EventTriggersJson
        """,
    "Maps": """
        -       bytes   TileData Attributes
        -       guid    Up Down Left Right WeatherAnimation>WeatherAnimationId
        -       list    Lights Events>EventIds NpcSpawns>Spawns
        -       text    Music Sound Panorama Fog OverlayGraphic
        -       bool    IsIndoors
        -       int     Revision FogXSpeed FogYSpeed FogTransparency RHue GHue BHue AHue Brightness ZoneType
        -       int     PlayerLightSize WeatherXSpeed WeatherYSpeed WeatherIntensity
        -       byte    PlayerLightIntensity
        -       float   PlayerLightExpand
        -       colour  PlayerLightColor
        -       long    TimeCreated
        0.7.1-  bool    HideEquipment
        """,
    "Npcs": """
        -       list    AggroList Drops Spells
        -       bool    AttackAllies Aggressive Swarm FocusHighestDamageDealer NpcVsNpcEnabled
        -       guid    AttackAnimation>AttackAnimationId OnDeathEvent>OnDeathEventId
        -       guid    OnDeathPartyEvent>OnDeathPartyEventId
        -       byte    Movement FleeHealthPercentage
        -       lists   PlayerFriendConditions AttackOnSightConditions PlayerCanAttackConditions
        -       int     Damage DamageType CritChance Level Scaling ScalingStat SightRange SpawnDuration SpellFrequency
        -       double  CritMultiplier
        -       long    Experience TimeCreated
        -       int[2]  MaxVital VitalRegen
        -       int[5]  Stats
        -       text    Sprite
        0.6.2-  int     AttackSpeedModifier AttackSpeedValue
        0.6.2-  text    Folder
        0.7.0-  bool    IndividualizedLoot
        0.7.0-  int     ResetRadius
        0.7.0-  colour  Color
        0.7.1-  double  Tenacity
        0.7.1-  list    Immunities
        0.8-    guid    DeathAnimation>DeathAnimationId
        """,
    "PlayerSwitches": """
        -0.6    text    TextId
        -0.6    long    TimeCreated
        """,
    "PlayerVariables": """
        -       text    TextId
        -       long    TimeCreated
        0.6.2-0.7.1  type  Type
        0.6.2-  text    Folder
        0.8-    type    DataType>Type
        """,
    "Projectiles": """
        -       guid    Ammo>AmmoItemId Spell>SpellId
        -       int     AmmoRequired Delay Knockback Quantity Range Speed
        -       list    Animations SpawnLocations
        -       bool    GrappleHook IgnoreActiveResources IgnoreExhaustedResources IgnoreMapBlocks IgnoreZDimension
        -       long    TimeCreated
        0.6.2-  bool    PierceTarget
        0.6.2-  text    Folder
        0.7.1-  list    GrappleHookOptions
        0.8-    bool    DirectShotBehavior HomingBehavior
        """,
    "Quests": """
        -       text    StartDescription BeforeDescription EndDescription InProgressDescription
        -       bool    LogAfterComplete LogBeforeOffer Quitable Repeatable
        -       lists   Requirements
        -       guid    StartEvent>StartEventId EndEvent>EndEventId
        -       list    Tasks
        -       long    TimeCreated
        0.6.2-  text    Folder
        0.7.0-  text    UnstartedCategory InProgressCategory CompletedCategory
        0.7.0-  bool    DoNotShowUnlessRequirementsMet
        0.7.0-  int     OrderValue
        """,
    "Resources": """
        -       text    Initial_Graphic Exhausted_Graphic
        -       bool    Initial_RenderBelowEntities Initial_GraphicFromTileset Exhausted_RenderBelowEntities
        -       bool    Exhausted_GraphicFromTileset WalkableAfter WalkableBefore
        -       int     Initial_X Initial_Y Initial_Width Initial_Height Exhausted_X Exhausted_Y Exhausted_Width
        -       int     Exhausted_Height VitalRegen MaxHp MinHp SpawnDuration Tool
        -       guid    Animation>AnimationId Event>EventId
        -       list    Drops
        -       lists   HarvestingRequirements
        -       long    TimeCreated
        0.6.2-  text    Folder
        0.7.1-  text    CannotHarvestMessage
        0.8-    text    States>JsonStates
        0.8-    bool    UseExplicitMaxHealthForResourceStates
        0.8-    guid    DeathAnimation>DeathAnimationId
        """,
    "ServerSwitches": """
        -0.6    text    TextId
        -0.6    ticks   TimeCreated
        -0.6    bool    Value
        """,
    "ServerVariables": """
        -       text    TextId
        -       ticks   TimeCreated
        -0.6    long    Value
        0.6.2-  value   Value
        0.6.2-0.7.1  type  Type
        0.6.2-  text    Folder
        0.8-    type    DataType>Type
        """,
    "Shops": """
        -       bool    BuyingWhitelist
        -       guid    DefaultCurrency>DefaultCurrencyId
        -       list    BuyingItems SellingItems
        -       long    TimeCreated
        0.6.2-  text    Folder
        0.7.1-  text    BuySound SellSound
        """,
    "Spells": """
        -       int     SpellType CastDuration CooldownDuration Combat_CritChance Combat_DamageType Combat_HitRadius
        -       int     Combat_CastRange Combat_Scaling Combat_ScalingStat Combat_TargetType Combat_HotDotInterval
        -       int     Combat_Duration Combat_Effect Warp_X Warp_Y OnHit>Combat_OnHitDuration
        -       byte    Warp_Dir
        -       text    Description Icon Combat_TransformSprite
        -       guid    CastAnimation>CastAnimationId HitAnimation>HitAnimationId Projectile>Combat_ProjectileId
        -       guid    Warp_MapId Event>EventId
        -       lists   CastRequirements>CastingRequirements
        -       double  Combat_CritMultiplier
        -       bool    Bound Combat_Friendly Combat_HoTDoT Dash_IgnoreMapBlocks Dash_IgnoreActiveResources
        -       bool    Dash_IgnoreInactiveResources Dash_IgnoreZDimensionAttributes
        -       int[2]  VitalDiff>Combat_VitalDiff VitalCost
        -       int[5]  StatDiff>Combat_StatDiff
        -       long    TimeCreated
        0.6.2-  int     Trap>Combat_TrapDuration
        0.6.2-  int[5]  PercentageStatDiff>Combat_PercentageStatDiff
        0.6.2-  text    Folder
        0.7.0-  bool    IgnoreCooldownReduction IgnoreGlobalCooldown
        0.7.0-  text    CooldownGroup
        0.7.1-  guid    TickAnimation>TickAnimationId
        0.7.1-  text    CannotCastMessage CastSpriteOverride
        """,
    "Tilesets": """
        -       long    TimeCreated
        """,
    "Time": """
        -       list    DaylightHues
        -       int     RangeInterval
        -       float   Rate
        -       bool    SyncTime
        """,
    "UserVariables": """
        0.7.1-  byte    DataType
        0.7.1-  text    TextId Folder
        0.7.1-  long    TimeCreated
        """,
}


def read_schema(era: str) -> dict[str, list[Column]]:
    """Return the tables of a version with their columns, apart from Id and Name, which all of them have."""
    read = {table: list(_read_columns(text, era)) for table, text in TABLES.items()}
    return {table: columns for table, columns in read.items() if columns}


def _read_columns(text: str, era: str) -> Iterator[Column]:
    for line in text.strip().splitlines():
        versions, kind, *columns = line.split()
        first, last = versions.split("-")
        if ERAS.index(first or ERAS[0]) <= ERAS.index(era) <= ERAS.index(last or ERAS[-1]):
            for each in columns:
                name, _, answered = each.partition(">")
                yield Column(name, kind, tuple((answered or name).split("_")))
