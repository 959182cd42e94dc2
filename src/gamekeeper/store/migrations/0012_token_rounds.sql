-- All tokens of an account end with one write, however many there are: another round begins.
CREATE TABLE token_rounds (
    user_id   {guid} PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    number    INTEGER NOT NULL,
    began_at  {long} NOT NULL
) {strict};
ALTER TABLE tokens ADD COLUMN round INTEGER NOT NULL DEFAULT 0;

CREATE VIEW token_records AS
SELECT t.id, t.family_id, t.user_id, u.name, t.access_hash, t.refresh_hash, t.read_only,
       t.issued_at, t.access_expires, t.refresh_expires, t.exchanged_at, t.last_used,
       CASE WHEN t.revoked_at IS NULL AND t.round < r.number THEN r.began_at ELSE t.revoked_at END AS revoked_at
FROM tokens t
JOIN users u ON u.id = t.user_id
LEFT JOIN token_rounds r ON r.user_id = t.user_id;

-- A page of the catalogue by name is read, not sorted.
CREATE INDEX items_by_name ON items (name, id);
CREATE INDEX spells_by_name ON spells (name, id);
CREATE INDEX variables_by_name ON variables (name, id);
CREATE INDEX classes_by_name ON classes (name, id);
CREATE INDEX maps_by_name ON maps (name, id);
