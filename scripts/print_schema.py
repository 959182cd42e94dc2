"""Print the database schema that all migrations build, with their comments: `print_schema.py sqlite`."""

import sys

from gamekeeper.store.engine.schema import assemble

for each in assemble(sys.argv[1]):
    print(("\n" if each.kind in {"TABLE", "VIEW"} else "") + each.text + ";")
