import errno
import gc
import sys

# Importing some hundred modules makes no garbage, and looking for it takes a tenth of the time. Worker processes import
# this module first, too. `CommandGroup` and the server's start enable it again.
gc.disable()

UNWRITTEN = (
    "Error: cannot write to standard output: {why}. The command may have completed. If it printed a password or a "
    "token, that output is lost: set another password, or revoke the token and issue another.\n"
)


def main() -> None:
    try:
        from gamekeeper.cli.commands import gamekeeper  # noqa: PLC0415 - Ctrl-C may come during the import
    except KeyboardInterrupt:
        sys.stderr.write("\nAborted!\n")  # as click prints when Ctrl-C comes after this import
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
