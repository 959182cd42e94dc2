"""Limits and settings of the game, in the shape of the Intersect engine.

The defaults are for servers that do not send a field yet.
"""

from msgspec import Struct, field


class PlayerConfig(Struct, rename="pascal"):
    max_characters: int
    max_inventory: int
    max_bank: int
    max_spells: int
    max_level: int
    max_stat: int
    initial_bankslots: int
    item_drop_chance: int = 0
    request_timeout: int = 300_000
    trade_range: int = 6
    allow_combat_movement: bool = True
    exp_loss_on_death_percent: int = 0
    exp_loss_from_current_exp: bool = True
    hotbar_slot_count: int = 10


class ChatConfig(Struct, rename="pascal", frozen=True):
    max_chat_length: int = 120
    min_interval_between_chats: int = 400
    show_announcement_banners: bool = True
    announcement_display_duration: int = 5000


class CombatConfig(Struct, rename="pascal", frozen=True):
    blocking_slow: int = 30
    combat_time: int = 10_000
    max_attack_rate: int = 200
    max_dash_speed: int = 200
    min_attack_rate: int = 500
    regen_time: int = 3000


class MapConfig(Struct, rename="pascal", frozen=True):
    game_border_style: int = 0
    height: int = 26
    width: int = 32
    map_height: int = 26
    map_width: int = 32
    item_attribute_respawn_time: int = 15_000
    tile_height: int = 32
    tile_width: int = 32
    z_dimension_visible: bool = False


class PartyConfig(Struct, rename="pascal", frozen=True):
    maximum_members: int = 4
    invite_range: int = 40
    shared_xp_range: int = 40
    npc_death_common_event_start_range: int = 0
    bonus_experience_percent_per_member: int = 0


class LootConfig(Struct, rename="pascal", frozen=True):
    item_despawn_time: int = 15_000
    item_ownership_time: int = 5000
    show_unowned_items: bool = False
    consolidate_map_drops: bool = True


class PassabilityConfig(Struct, rename="pascal", frozen=True):
    arena: bool = False
    normal: bool = False
    safe: bool = True


class EquipmentConfig(Struct, rename="pascal", frozen=True):
    slots: list[str] = field(default_factory=list[str])
    weapon_slot: int = 2
    shield_slot: int = 3
    tool_types: list[str] = field(default_factory=list[str])


class RankPermissions(Struct, rename="pascal", frozen=True):
    invite: bool
    kick: bool
    promote: bool
    demote: bool
    bank_deposit: bool
    bank_retrieve: bool
    bank_move: bool


class GuildRank(Struct, rename="pascal", frozen=True):
    title: str
    limit: int
    permissions: RankPermissions


class GuildConfig(Struct, rename="pascal", frozen=True):
    ranks: list[GuildRank] = field(default_factory=list[GuildRank])
    initial_bank_slots: int = 50
    delete_stale_guilds_after_days: int = -1


class BankConfig(Struct, rename="pascal", frozen=True):
    max_slots: int = 100


class ItemsConfig(Struct, rename="pascal", frozen=True):
    rarity_tiers: list[str] = field(default_factory=list[str])


class Config(Struct, rename="pascal"):
    game_name: str
    server_port: int
    player: PlayerConfig
    smtp_valid: bool = False
    valid_password_reset_time_minutes: int = 30
    bank: BankConfig = BankConfig()
    admin_only: bool = False
    block_client_registrations: bool = False
    upnp: bool = field(default=True, name="UPnP")
    open_port_checker: bool = True
    animated_sprites: list[str] = field(default_factory=list[str])
    event_watchdog_kill_threshold: int = 5000
    max_client_connections: int = 100
    maximum_loggedin_users: int = 50
    chat: ChatConfig = ChatConfig()
    combat: CombatConfig = CombatConfig()
    map: MapConfig = MapConfig()
    party: PartyConfig = PartyConfig()
    loot: LootConfig = LootConfig()
    passability: PassabilityConfig = PassabilityConfig()
    equipment: EquipmentConfig = EquipmentConfig()
    guild: GuildConfig = GuildConfig()
    items: ItemsConfig = ItemsConfig()
