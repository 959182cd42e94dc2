"""The environment of the console's templates, which escapes all values. It is imported with the first page.

Values are escaped faster than Jinja does it: a list has a thousand values, and few have special characters. The result
is the same text: `escape_value` leaves the work to `markupsafe.escape` except for texts in which it would change
nothing, and for numbers.

Each language has its own environment, which compiles each template at its first use. A Jinja extension translates `{%
trans %}` while a template is compiled, so that rendering costs nothing more.
"""

import json
import re
from typing import cast

from jinja2 import Environment, PackageLoader, StrictUndefined, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.ext import Extension, InternationalizationExtension
from jinja2.parser import Parser
from markupsafe import Markup, escape

from gamekeeper.console.frame import formats, texts
from gamekeeper.console.frame.static_files import ROOT, VERSION
from gamekeeper.console.frame.texts import ENGLISH, LANGUAGES
from gamekeeper.ground.instants import format_instant
from gamekeeper.http.server.static_files import add_version


def escape_value(value: object) -> str:
    """Escape a value for HTML. Only for the output of a template, since the result is not always a `Markup`."""
    if type(value) is str:
        # the five characters that `markupsafe.escape` replaces
        special = "<" in value or "&" in value or '"' in value or "'" in value or ">" in value
        return escape(value) if special else value
    return str(value) if type(value) is int else escape(value)


class FastOutput(CodeGenerator):
    """Jinja's code generator, with `escape_value` in place of `escape` around each `{{ value }}`."""

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: CodeGenerator._FinalizeInfo) -> None:
        if frame.eval_ctx.volatile or not frame.eval_ctx.autoescape or finalize.src is not None:
            super()._output_child_pre(node, frame, finalize)
        else:
            self.write("environment.escape_value(")


class ConsoleEnvironment(Environment):
    code_generator_class = FastOutput
    escape_value = staticmethod(escape_value)
    language = ENGLISH  # of the texts that are compiled into the templates

    def in_language(self, language: str) -> "ConsoleEnvironment":
        """Make an environment for another language, which shares the filters of this one, also later ones."""
        other = cast("ConsoleEnvironment", self.overlay())
        other.language = language
        return other


TEXT_PLACEHOLDER = re.compile(r"%\((\w+)\)s")


class CompiledTexts(InternationalizationExtension):
    def parse(self, parser: Parser) -> nodes.Node | list[nodes.Node]:
        """Replace a text without plural by its translated parts and its variables; leave plurals to Jinja."""
        found = super().parse(parser)
        call = found.nodes[0] if isinstance(found, nodes.Output) else None
        if not isinstance(call, nodes.Call) or call.node != nodes.Name("gettext", "load"):
            return found
        [text], variables = call.args, {each.key: each.value for each in call.kwargs}
        # parts at even positions are texts, those at odd positions are names of variables
        catalogue = texts.load_catalogue(cast("ConsoleEnvironment", self.environment).language)
        parts = TEXT_PLACEHOLDER.split(catalogue.gettext(text.as_const()))
        output: list[nodes.Expr] = [nodes.TemplateData(parts[0].replace("%%", "%"))]
        for name, after in zip(parts[1::2], parts[2::2], strict=True):
            output += [variables[name], nodes.TemplateData(after.replace("%%", "%"))]
        return nodes.Output(output)


class VersionedAddresses(Extension):
    """Put the version into the static files' addresses when a template is compiled, so that no template forgets it."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        _ = name, filename
        return add_version(source.replace(f'"{ROOT}', f'"{ROOT}{VERSION}/'))


def _format_instant(milliseconds: int | None) -> str:
    return "" if milliseconds is None else format_instant(milliseconds)


def _format_json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _translate(message: str, **values: object) -> Markup:
    """Translate a text in an expression of a template. Its values are escaped, the text is not."""
    return Markup(texts.translate(message)) % values  # noqa: S704 - a text of our own catalogue


TEMPLATES = ConsoleEnvironment(
    loader=PackageLoader("gamekeeper.console", ""),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,  # else each page would look up the times of its template files
    extensions=[CompiledTexts, VersionedAddresses],
)
TEMPLATES.policies["ext.i18n.trimmed"] = True
TEMPLATES.install_gettext_callables(texts.translate, texts.translate_plural, newstyle=True, pgettext=texts.pgettext)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] - the i18n extension adds this method
# Jinja's own function has three calls through the context for each text
TEMPLATES.globals["_"] = _translate  # pyright: ignore[reportArgumentType] - Jinja types it as one of its own globals
ENVIRONMENTS = {each: TEMPLATES if each == ENGLISH else TEMPLATES.in_language(each) for each in LANGUAGES}
TEMPLATES.filters.update(
    formats.FILTERS,
    when=_format_instant,
    clock=formats.format_time,
    day=formats.format_date,
    pretty=_format_json,
    grouped=formats.format_number,
    decimal=formats.format_decimal,
    translated=texts.translate_message,
    capitalized=formats.capitalize,
    within=formats.lower_noun,
)
