from gamekeeper.cli.commands import gamekeeper


def main() -> None:
    gamekeeper(prog_name="gamekeeper")


if __name__ == "__main__":
    main()
