-- What was brought in from other servers, and how far an import that broke off had come.
CREATE TABLE imports (
    source       TEXT PRIMARY KEY,             -- a digest of the ids that the source has
    stage        TEXT NOT NULL,                -- what is being read; 'done' at the end
    last         TEXT NOT NULL,                -- the last id of it that was read
    report       TEXT NOT NULL,                -- the file of the listed rows
    listed       {long} NOT NULL,              -- how many bytes it has
    counts       {json} NOT NULL,              -- what became of each table's rows so far
    started_at   {long} NOT NULL,
    finished_at  {long}
) {strict};
