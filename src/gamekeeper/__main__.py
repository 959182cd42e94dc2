import sys


def main() -> None:
    try:
        from gamekeeper.cli.commands import gamekeeper  # noqa: PLC0415 - it takes long enough for a Ctrl-C
    except KeyboardInterrupt:
        sys.stderr.write("\nAborted!\n")  # as click says it from here on
        sys.exit(1)
    gamekeeper(prog_name="gamekeeper")


if __name__ == "__main__":
    main()
