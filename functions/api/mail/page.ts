// The pages behind the links in mails. They load no resources, run no scripts, and show nothing about the reader but
// the topics.
import { escapeHtml } from "../../../shared/rules/characters.ts";
import type { Language } from "../../../shared/rules/translations.ts";
import type { Preference } from "../../../shared/store/topics/preferences.ts";

/** Allows only a form to the same origin, and keeps the token out of referrers and search engines. */
export const pageHeaders = {
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  "referrer-policy": "no-referrer",
  "x-robots-tag": "noindex, nofollow",
};

const page = (language: string, title: string, content: string, sender: Sender): string => `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; margin: 4rem auto; max-width: 30rem; padding: 0 1rem; color: #222; background: #fff }
button { font: inherit; padding: .5rem 1rem; cursor: pointer }
label { display: block; margin: 1rem 0; padding-left: 1.75rem }
label input { float: left; margin: .3rem 0 0 -1.75rem; width: 1.1rem; height: 1.1rem }
small { display: block; color: #555 }
</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>${sender.length > 0 ? `\n<footer><small>${sender.map(escapeHtml).join("<br>\n")}</small></footer>` : ""}
</body>
</html>
`;

/** Where the pages of a token are, relative to this origin. */
const unsubscribePath = (token: string) => `/u/${token}`;
const preferencesPath = (token: string) => `/p/${token}`;

const unsubscribeButton = ({ words }: Language, action = "") =>
  `<form method="post"${action && ` action="${action}"`}><button name="List-Unsubscribe" value="One-Click">${words.unsubscribe}</button></form>`;

const preferencesLink = ({ words }: Language, token: string, hasTopics: boolean) =>
  hasTopics ? `\n<p><a href="${preferencesPath(token)}">${words.preferences}</a></p>` : "";

/** Name and postal address of the sender, as lines. */
type Sender = readonly string[];

interface Options {
  token: string;
  sender: Sender;
  /** The workspace has topics to choose from. */
  hasTopics: boolean;
}

/** The page that unsubscribes. Its form posts to the address of the page: opening it changes nothing. */
export const unsubscribePage = (language: Language, { token, sender, hasTopics }: Options): string =>
  page(
    language.code,
    language.words.unsubscribe,
    `<p>${language.words.ask}</p>\n${unsubscribeButton(language)}${preferencesLink(language, token, hasTopics)}`,
    sender,
  );

export const confirmationPage = (language: Language, { token, sender, hasTopics }: Options): string =>
  page(
    language.code,
    language.words.unsubscribed,
    `<p>${language.words.noMoreMail}</p>${preferencesLink(language, token, hasTopics)}`,
    sender,
  );

/** The page that confirms an opt-in. Its form posts to the address of the page: opening it confirms nothing. */
export const confirmPage = ({ code, words }: Language, sender: Sender): string =>
  page(
    code,
    words.confirm,
    `<p>${words.confirmPage}</p>\n<form method="post"><button>${words.confirm}</button></form>`,
    sender,
  );

export const confirmedPage = ({ code, words }: Language, sender: Sender): string =>
  page(code, words.confirmed, `<p>${words.confirmedMore}</p>`, sender);

/** The page for a link that is too old, or whose statement or address has changed. */
export const confirmGonePage = ({ code, words }: Language, sender: Sender): string =>
  page(code, words.confirmGone, `<p>${words.confirmGoneMore}</p>`, sender);

/** The page for the links of an erased subscriber, who has nothing left to choose. */
export const gonePage = ({ code, words }: Language, sender: Sender): string =>
  page(code, words.unsubscribed, `<p>${words.noMoreMail}</p>`, sender);

/**
 * The topics with a checkbox each. `shown` names them in the form, so that a topic that is created in the meantime
 * stays as it is.
 */
export function preferencesPage(
  language: Language,
  {
    token,
    sender,
    topics,
    isSaved,
  }: { token: string; sender: Sender; topics: readonly Preference[]; isSaved: boolean },
): string {
  const { words } = language;
  const boxes = topics.map(({ key, name, description, status }) => {
    const box = `<input type="checkbox" name="in" value="${key}"${status === "opted_in" ? " checked" : ""}>`;
    const about = description ? `<small>${escapeHtml(description)}</small>` : "";
    return `<label>${box}${escapeHtml(name)}${about}<input type="hidden" name="shown" value="${key}"></label>`;
  });
  const form =
    boxes.length === 0
      ? `<p>${words.noTopics}</p>`
      : `<p>${words.choose}</p>\n<form method="post">\n${boxes.join("\n")}\n<button>${words.save}</button>\n</form>`;
  return page(
    language.code,
    words.preferences,
    `${isSaved ? `<p role="status"><strong>${words.saved}</strong></p>\n` : ""}${form}
<p>${words.otherwise}</p>\n${unsubscribeButton(language, unsubscribePath(token))}`,
    sender,
  );
}
