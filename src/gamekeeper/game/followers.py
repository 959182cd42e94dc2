"""Limits of the jobs that follow the audit log: the economy and the boards."""

FOLLOW_SECONDS = 2.0
# pause after a step, as a multiple of its duration: a job uses at most a third of the time
REST_FACTOR = 2
BATCH_CHANGES = 500  # changes counted per transaction: a few milliseconds
BATCH_PLAYERS = 400  # players swept per transaction, at most
MAX_AHEAD = 1_000  # a sweep waits while more changes than these are not counted yet
READ_STEPS = 8  # steps that a read takes before it answers, and a trim before it deletes
