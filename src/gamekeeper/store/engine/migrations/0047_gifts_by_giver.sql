-- What one giver gave is found without reading the gifts of all others.
CREATE INDEX item_gifts_by_giver ON item_gifts (giver_id, day);
