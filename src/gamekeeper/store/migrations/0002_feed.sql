-- Which life of the ledger this is: a restored copy gets another, so that followers notice that numbers may repeat.
CREATE TABLE epoch (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    id   {guid} NOT NULL
) {strict};
INSERT INTO epoch (one, id) VALUES (1, {new_guid});
