import errno
import sys

UNWRITTEN = (
    "Error: standard output cannot be written: {why}. The command itself may be done. If it printed a password or a "
    "token, that is lost: set another password, or revoke the token and issue another.\n"
)


def main() -> None:
    try:
        from gamekeeper.cli.commands import gamekeeper  # noqa: PLC0415 - it takes long enough for a Ctrl-C
    except KeyboardInterrupt:
        sys.stderr.write("\nAborted!\n")  # as click says it from here on
        sys.exit(1)
    try:
        gamekeeper(prog_name="gamekeeper")
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EIO, errno.EBADF} or error.filename is not None:
            raise
        sys.stderr.write(UNWRITTEN.format(why=error.strerror))
        sys.exit(1)


if __name__ == "__main__":
    main()
