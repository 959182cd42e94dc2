-- Views of the console's lists that staff saved under a name: the filter, order and columns, as a query.
CREATE TABLE saved_views (
    id          {guid} PRIMARY KEY,
    user_id     {guid} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    list        TEXT NOT NULL,                 -- players or accounts
    name        TEXT NOT NULL,
    query       TEXT NOT NULL,                 -- without the search, which may name a person
    shared      {boolean} NOT NULL,            -- all staff see it
    created_at  {long} NOT NULL,
    UNIQUE (user_id, list, name)
) {strict};
CREATE INDEX saved_views_shared ON saved_views (list, name, id) WHERE shared;
