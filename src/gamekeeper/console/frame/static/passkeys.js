// Passkeys: a form with the attribute data-passkey has the options for the browser, and gets its answer in a field.
import { gettext } from "./texts.js";

const MAKE = "make"; // value of data-passkey-act: make a passkey; otherwise use one

// options and answers as JSON need a browser of 2025 or newer
const supported = "PublicKeyCredential" in window && "parseCreationOptionsFromJSON" in PublicKeyCredential;

function ask(form) {
  const options = JSON.parse(form.dataset.passkey);
  return form.dataset.passkeyAct === MAKE
    ? navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
    : navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
}

function attach(form) {
  const button = form.querySelector("[data-passkey-button]");
  const problem = form.querySelector("[data-passkey-problem]");
  const show = (text) => {
    problem.textContent = text;
    problem.hidden = false;
  };
  button.hidden = false;
  if (!supported) {
    button.disabled = true;
    show(gettext("This browser cannot use passkeys here."));
    return;
  }
  button.addEventListener("click", async () => {
    problem.hidden = true;
    button.disabled = true;
    try {
      const answer = await ask(form);
      form.elements.namedItem("passkey").value = JSON.stringify(answer.toJSON());
      form.submit();
    } catch (error) {
      button.disabled = false;
      show(error.name === "InvalidStateError"
        ? gettext("This device has a passkey for your account already.")
        : gettext("The passkey was not used. Try again, or use a code."));
    }
  });
}

for (const form of document.querySelectorAll("form[data-passkey]")) attach(form);
