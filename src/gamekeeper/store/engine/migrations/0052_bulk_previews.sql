-- The jobs of an account that wait for their start are counted, and old ones deleted, without reading all other jobs.
DROP INDEX IF EXISTS bulk_jobs_previewed;
CREATE INDEX bulk_jobs_previewed ON bulk_jobs (creator_id, created_at, id) WHERE state = 'previewed';
