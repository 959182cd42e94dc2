// Translations of the scripts' texts. The English text is the key, and is shown where the page brings no translation.
const translations = JSON.parse(document.getElementById("texts")?.textContent ?? "{}");
const ORDER = ["zero", "one", "two", "few", "many", "other"]; // of plural forms in a catalogue
const language = document.documentElement.lang;
// The viewer's variant of the page's language, such as en-GB, for dates and numbers.
export const locale = navigator.languages?.find((each) => each.split("-")[0].toLowerCase() === language) ?? language;
const rules = new Intl.PluralRules(language);
const categories = ORDER.filter((each) => rules.resolvedOptions().pluralCategories.includes(each));

function fill(text, values) {
  return text.replace(/%\((\w+)\)s|%%/g, (placeholder, name) => (name ? values[name] : "%"));
}

export function gettext(message, values = {}) {
  return fill(translations[message] ?? message, values);
}

// %(num)s in the text is the count.
export function ngettext(singular, plural, count, values = {}) {
  const forms = translations[singular] ?? [singular, plural];
  return fill(forms[categories.indexOf(rules.select(count))] ?? forms.at(-1), { num: count, ...values });
}
