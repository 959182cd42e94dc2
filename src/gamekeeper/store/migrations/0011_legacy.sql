-- Imported accounts whose hashes are still to be wrapped in argon2id: found without reading all the others.
CREATE INDEX users_to_wrap ON users (id) WHERE substr(password, 1, 9) = 'intersect';
