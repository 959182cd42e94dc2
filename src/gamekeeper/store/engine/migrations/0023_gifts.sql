-- Daily limits of gifts.
-- Most of an item that an account or API key may give on one UTC day by a role. Item 0: every other item.
CREATE TABLE role_quotas (
    role     {ordered} NOT NULL REFERENCES roles (name) ON DELETE CASCADE,
    item_id  {guid} NOT NULL,
    most     INTEGER NOT NULL CHECK (most >= 0),
    PRIMARY KEY (role, item_id)
) {clustered};
-- What givers with a daily limit gave, per item and UTC day. Its row is the lock of parallel gifts.
CREATE TABLE gift_totals (
    giver_id  {guid} NOT NULL,                 -- an account or an API key
    item_id   {guid} NOT NULL,
    day       {long} NOT NULL,                 -- days since 1970, by the database's clock
    quantity  {long} NOT NULL,
    PRIMARY KEY (giver_id, item_id, day)
) {clustered};
CREATE INDEX gift_totals_by_day ON gift_totals (day);
