// The syntax of email addresses (AMB-84), phone numbers and languages (D-ATTR). Only a send shows whether an address
// exists.

const EMAIL_LENGTH = 254;
const LOCAL_LENGTH = 64;
const LABEL_LENGTH = 63;
const LOCAL_WORD = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+$/;
const LABEL = /^[A-Za-z0-9-]+$/;
const LOCALE_LENGTH = 64;
const PHONE = /^\+[1-9][0-9]{6,14}$/;

/** Whether the text is an ASCII address `local@domain` with a dotted domain; quoted local parts are refused. */
export function isEmailAddress(text: string): boolean {
  if (text.length > EMAIL_LENGTH) return false;
  const at = text.lastIndexOf("@");
  if (at < 1 || at > LOCAL_LENGTH) return false;
  const labels = text.slice(at + 1).split(".");
  if (labels.length < 2 || !labels.every(isLabel) || /^[0-9]+$/.test(labels.at(-1) ?? "")) return false;
  return text
    .slice(0, at)
    .split(".")
    .every((word) => LOCAL_WORD.test(word));
}

/** The address with its domain in ASCII (`user@xn--exmple-cua.com`), the form that is stored and sent to. */
export function withAsciiDomain(address: string): string {
  const at = address.lastIndexOf("@");
  const domain = address.slice(at + 1);
  if (!isBeyondAscii(domain) || /[/:?#@%\\]/.test(domain) || !URL.canParse(`http://${domain}`)) return address;
  return `${address.slice(0, at)}@${new URL(`http://${domain}`).hostname}`;
}

/** Whether mail can be sent to the address once its domain is in ASCII. */
export const isInternationalAddress = (text: string): boolean => isEmailAddress(withAsciiDomain(text));

/**
 * Whether the local part is outside ASCII. Mail providers refuse such an address (RFC 6531); a domain has a form in
 * ASCII.
 */
export const isBeyondAscii = (text: string): boolean => /[^\x20-\x7e]/.test(text);

const isLabel = (label: string): boolean =>
  label.length <= LABEL_LENGTH && LABEL.test(label) && !label.startsWith("-") && !label.endsWith("-");

/** Whether the text is an E.164 number: `+`, then 7 to 15 digits, the first not 0. */
export const isPhoneNumber = (text: string): boolean => PHONE.test(text);

/** Whether the text is a well-formed BCP 47 language tag such as `en` or `pt-BR` (with hyphens, not underscores). */
export function isLocale(text: string): boolean {
  if (text.length > LOCALE_LENGTH) return false;
  try {
    new Intl.Locale(text);
    return true;
  } catch {
    return false;
  }
}
