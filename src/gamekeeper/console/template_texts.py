"""A Jinja extension that translates `{% trans %}` when a template is compiled, so that rendering costs nothing more.

Each language has its own environment, which compiles each template at its first use.
"""

import re
from typing import Any

from jinja2 import nodes
from jinja2.ext import InternationalizationExtension

from gamekeeper.console.texts import CATALOGUES

PLACEHOLDER = re.compile(r"%\((\w+)\)s")


class CompiledTexts(InternationalizationExtension):
    def _make_node(
        self,
        singular: str,
        plural: str | None,
        context: str | None,
        variables: dict[str, nodes.Expr],
        plural_expr: nodes.Expr | None,
        vars_referenced: bool,  # noqa: FBT001 - Jinja's own signature
        num_called_num: bool,  # noqa: FBT001 - the same
    ) -> nodes.Output:
        """Replace a text without plural by its translated parts and its variables; leave plurals to Jinja."""
        if plural_expr is not None or context is not None:
            more: tuple[Any, ...] = (variables, plural_expr, vars_referenced, num_called_num)
            return super()._make_node(singular, plural, context, *more)
        # parts at even positions are texts, those at odd positions are names of variables
        parts = PLACEHOLDER.split(CATALOGUES[self.environment.language].gettext(singular))  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] - of ConsoleEnvironment
        texts = [nodes.TemplateData(each.replace("%%", "%")) for each in parts[::2]]
        values = [variables[name] for name in parts[1::2]]
        output: list[nodes.Expr] = [texts[0]]
        for value, text in zip(values, texts[1:], strict=True):
            output += [value, text]
        return nodes.Output(output)
