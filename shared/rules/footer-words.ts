// The words of the links in the footer of a mail, the language of its reader (CHC-4), and the targets of the links in a
// preview.

export interface FooterWords {
  unsubscribe: string;
  preferences: string;
}

const english: FooterWords = { unsubscribe: "Unsubscribe", preferences: "Your preferences" };

const footerWords: Readonly<Record<string, FooterWords>> = {
  en: english,
  de: { unsubscribe: "Abmelden", preferences: "Ihre Einstellungen" },
  fr: { unsubscribe: "Se désabonner", preferences: "Vos préférences" },
  es: { unsubscribe: "Darse de baja", preferences: "Sus preferencias" },
  it: { unsubscribe: "Annulla l’iscrizione", preferences: "Le tue preferenze" },
  pt: { unsubscribe: "Cancelar a subscrição", preferences: "As suas preferências" },
  nl: { unsubscribe: "Afmelden", preferences: "Uw voorkeuren" },
  pl: { unsubscribe: "Wypisz się", preferences: "Twoje preferencje" },
};

/** By the subscriber's locale, such as `de-AT`, else by what the browser prefers; English for every other language. */
export function languageCode(locale: unknown, acceptLanguage = ""): string {
  const wanted = typeof locale === "string" && locale !== "" ? [locale] : acceptLanguage.slice(0, 200).split(",");
  const codes = wanted.map((tag) => /^[a-z]+/.exec(tag.trim().toLowerCase())?.[0] ?? "");
  return codes.find((code) => Object.hasOwn(footerWords, code)) ?? "en";
}

export const footerWordsFor = (locale: unknown): FooterWords => footerWords[languageCode(locale)] ?? english;

/** The target of links in a previewed footer: those of a real mail belong to its recipient. */
export const FOOTER_HOST = "recipient.invalid";
export const FOOTER_LINK = `https://${FOOTER_HOST}/`;
