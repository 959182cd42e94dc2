-- ruleid: whole-transaction-lost
INSERT OR ROLLBACK INTO players (id) VALUES ($1);
