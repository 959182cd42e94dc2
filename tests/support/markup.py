"""A parsed page: its visible text, its links, and its forms with the fields that they would send."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

UNSEEN = frozenset({"head", "script", "style", "template"})
LABELLED = frozenset({"a", "button"})  # elements whose text tests ask for
VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})


@dataclass
class Form:
    action: str
    attributes: dict[str, str]
    fields: dict[str, str] = field(default_factory=dict[str, str])  # fields of the form with their initial values
    buttons: list[str] = field(default_factory=list[str])


class Page(HTMLParser):
    """A parsed HTML page. `tags` has every element with its attributes, in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.forms: list[Form] = []
        self.links: dict[str, str] = {}  # addresses of the page's links, by link text
        self._open: list[tuple[str, dict[str, str]]] = []
        self._labels: list[list[str]] = []  # texts in each open link and button, the innermost last
        self._unseen = 0  # number of open elements whose text is not visible
        self._words: list[str] = []
        self._select = ""
        self.feed(html)
        self.text = " ".join(" ".join(self._words).split())

    def form(self, action: str, button: str = "") -> Form:
        """Return the page's first form with this action, and with this button if one is given."""
        for each in self.forms:
            if each.action == action and (not button or button in each.buttons):
                return each
        raise AssertionError(f"no form to {action} with {button!r} among {self.forms}")

    def confirmation(self) -> Form:
        """Return the page's form that confirms a preview."""
        return next(each for each in self.forms if "data-confirm" in each.attributes)

    def assert_shown(self, *texts: str) -> None:
        missing = [each for each in texts if each not in self.text]
        assert not missing, (missing, self.text)

    def assert_hidden(self, *texts: str) -> None:
        shown = [each for each in texts if each in self.text]
        assert not shown, (shown, self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.tags.append((tag, attributes))
        if tag not in VOID:
            self._open.append((tag, attributes))
            self._unseen += tag in UNSEEN
            if tag in LABELLED:
                self._labels.append([])
        if tag == "form":
            self.forms.append(Form(attributes.get("action", ""), attributes))
        self._note_field(tag, attributes)

    def handle_endtag(self, tag: str) -> None:
        while self._open:
            opened, attributes = self._open.pop()
            self._unseen -= opened in UNSEEN
            if opened in LABELLED:
                said = " ".join(" ".join(self._labels.pop()).split())
                if opened == "a":
                    self.links[said] = attributes.get("href", "")
                elif self.forms:
                    self._note_button(attributes, said)
            if opened == tag:
                break

    def handle_data(self, data: str) -> None:
        for words in self._labels:
            words.append(data)
        if not self._unseen:
            self._words.append(data)

    def _note_button(self, attributes: dict[str, str], said: str) -> None:
        """Note a button. One that names a form in its attribute `form` counts as a separate form with its field."""
        home = next((each for each in self.forms if each.attributes.get("id") == attributes.get("form")), None)
        if home and "form" in attributes:
            sent = {**home.fields, attributes["name"]: attributes["value"]}
            self.forms.append(Form(home.action, home.attributes, sent, [said]))
        else:
            self.forms[-1].buttons.append(said)

    def _note_field(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "select":
            self._select = attributes.get("name", "")
        if not self.forms:
            return
        fields = self.forms[-1].fields
        ticked = attributes.get("type") not in {"checkbox", "radio"} or "checked" in attributes
        if tag in {"input", "textarea"} and attributes.get("name") and ticked:
            fields[attributes["name"]] = attributes.get("value", "")
        if tag == "option" and self._select and ("selected" in attributes or self._select not in fields):
            fields[self._select] = attributes.get("value", "")
