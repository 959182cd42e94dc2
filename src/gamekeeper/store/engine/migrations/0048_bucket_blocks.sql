-- Blocks of neighbouring buckets, so that a page need not add up all buckets of a long list. A block starts at the first
-- key of a bucket and has all buckets up to the next block.
CREATE TABLE bucket_blocks (
    kind       TEXT NOT NULL CHECK (kind IN ('item', 'variable', 'season')),
    thing_id   {guid} NOT NULL,                -- the item or variable of a ranked list, or the season
    quantity   {long} NOT NULL,                -- first key: quantity or value, and player
    player_id  {guid} NOT NULL,
    buckets    {long} NOT NULL,                -- number of buckets
    entries    {long} NOT NULL,                -- sum of their entries
    PRIMARY KEY (kind, thing_id, quantity, player_id)
) {clustered};
-- From the present buckets, of which there is one for about 2,000 rows of a list.
INSERT INTO bucket_blocks (kind, thing_id, quantity, player_id, buckets, entries)
SELECT kind, thing_id, quantity, player_id, buckets, entries FROM (
    SELECT kind, thing_id, quantity, player_id, number, COUNT(*) OVER block AS buckets,
           CAST(SUM(entries) OVER block AS {long}) AS entries
    FROM (SELECT kind, thing_id, quantity, player_id, entries,
                 ROW_NUMBER() OVER (PARTITION BY kind, thing_id ORDER BY quantity, player_id) - 1 AS number
          FROM (SELECT kind, thing_id, quantity, player_id, entries FROM ranked_buckets
                UNION ALL SELECT 'season', season_id, quantity, player_id, entries FROM standing_buckets) AS buckets
         ) AS numbered
    WINDOW block AS (PARTITION BY kind, thing_id, number / 64)) AS added
WHERE number % 64 = 0;
