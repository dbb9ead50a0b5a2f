// What columns of files are usually called, and which names say something of consent (AMB-132).

export type Standard =
  | "external_id"
  | "email"
  | "phone"
  | "first_name"
  | "last_name"
  | "timezone"
  | "locale"
  | "consent_status"
  | "consent_at"
  | "consent_source"
  | "tags";

/**
 * By field, the best name first, as OneSignal, Customer.io, Mailchimp, Klaviyo, Braze, HubSpot, Salesforce, Intercom,
 * Segment, Iterable, SendGrid, Brevo and Shopify write it. Case, spaces and punctuation do not matter.
 */
export const usualNames: Record<Standard, readonly string[]> = {
  external_id: [
    ...["external_id", "external user id", "ext id", "user id", "customer id", "subscriber key", "contact key"],
    ...["customer number", "kundennummer", "client id", "id client", "id cliente", "klantnummer"],
  ],
  email: [
    ...["email", "email address", "primary email", "customer email", "contact email", "user email", "work email"],
    ...[
      "e-mail-adresse",
      "adresse e-mail",
      "adresse électronique",
      "courriel",
      "correo electrónico",
      "indirizzo e-mail",
    ],
    ...["endereço de e-mail", "e-mailadres", "adres e-mail"],
  ],
  phone: [
    ...["phone", "mobile phone", "mobile phone number", "mobile number", "mobile", "cell phone", "cell", "sms number"],
    ...["sms phone number", "sms", "phone number", "primary phone", "telephone", "telephone number", "phone mobile"],
    ...["default address phone", "mobilnummer", "handynummer", "handy", "telefon", "telefonnummer", "téléphone"],
    ...["numéro de téléphone", "portable", "móvil", "celular", "teléfono", "cellulare", "telefono", "telemóvel"],
    ...["telefone", "mobiel", "telefoonnummer", "telefoon", "numer telefonu", "komórka"],
  ],
  first_name: [
    ...["first_name", "fname", "given name", "first", "vorname", "prénom", "nombre", "nome", "voornaam", "imię"],
  ],
  last_name: [
    ...["last_name", "lname", "surname", "family name", "last", "nachname", "nom", "nom de famille", "apellidos"],
    ...["apellido", "cognome", "sobrenome", "apelido", "achternaam", "nazwisko"],
  ],
  timezone: ["timezone", "time zone", "timezone id", "tz", "zeitzone", "fuseau horaire", "zona horaria", "tijdzone"],
  locale: ["locale", "language", "language code", "preferred language", "customer locale", "lang", "sprache", "langue"],
  consent_status: [
    ...["consent_status", "email marketing consent", "email consent", "email consent status", "email marketing status"],
    ...["email subscription status", "subscription status", "email subscribe", "opt in status", "marketing consent"],
  ],
  consent_at: [
    ...["consent_at", "email marketing consent timestamp", "email consent timestamp", "consent timestamp"],
    ...[
      "consent time",
      "consent date",
      "date of consent",
      "consented at",
      "confirm time",
      "opt in time",
      "opt in date",
    ],
    ...["opt in at", "opt in timestamp", "opted in at", "email opted in at", "email opt in at", "email opt in time"],
    ...["email opt in date", "double opt in date", "subscribed at", "subscribed on", "subscription date"],
    ...["einwilligung am", "einwilligungsdatum", "opt-in-datum", "date de consentement", "fecha de consentimiento"],
    ...["data do consentimento", "data consenso", "datum toestemming", "data zgody"],
  ],
  consent_source: ["consent_source", "opt in source", "email opt in source", "consent method", "signup source"],
  tags: ["tags", "tag"],
};

const COUNTRY = [
  ...["country", "country code", "country region", "default address country code", "address country", "land"],
  ...["pays", "país", "paese", "nazione", "kraj"],
];

const LETTERS: Record<string, string> = { ł: "l", ß: "ss", ø: "o", æ: "ae", œ: "oe" };

/** The letters and digits of a text, without marks and in lower case: the form in which usual names are compared. */
export const columnKey = (name: string): string =>
  name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[łßøæœ]/g, (letter) => LETTERS[letter] ?? "")
    .replaceAll(/[^\p{L}\p{N}]/gu, "");

const ranks = new Map(
  Object.entries(usualNames).map(([field, names]) => [
    field as Standard,
    new Map(names.map((name, i) => [columnKey(name), i])),
  ]),
);

/** How usual a name is for a field: 0 for the best; undefined for a name that does not stand for it. */
export const rankOf = (field: Standard, key: string): number | undefined => ranks.get(field)?.get(key);

const countryKeys = new Set(COUNTRY.map(columnKey));
export const isCountryColumn = (name: string): boolean => countryKeys.has(columnKey(name));

/** A column in which a platform writes international numbers without their plus. */
export const isPlusless = (name: string): boolean => columnKey(name) === "sms";

/** What a true value in the column says: yes, an opt-out, or that the address is suppressed. */
export type Sign = "in" | "out" | "suppressed";

export type SignedChannel = "email" | "sms" | "chat_app";

/** A name that says something of consent, and of which channels. */
export interface SignedName {
  sign: Sign;
  channels: readonly SignedChannel[];
}

const any = (...parts: string[]) => new RegExp(parts.join("|"));

// Names about a consent that is not its status: a reason, a link, a count.
const ASIDE = any(
  ...["reason", "campaign", "title", "url", "link", "token", "page$", "rate$", "count", "number", "^total", "bounces$"],
  ...[
    "^(marketing)?emailsbounced",
    "cookie",
    "analytics",
    "tracking",
    "terms",
    "privacy",
    "source$",
    "method$",
    "level$",
  ],
  ...["grund$", "raison", "motivo", "reden$", "powod", "anzahl", "nombrede", "aantal", "liczba"],
);

const SUPPRESSED = any(
  ...[
    "suppress",
    "bounced",
    "hardbounce",
    "isbounce",
    "^bounce(d?at|date|time)?$",
    "emailbounce",
    "complain",
    "cleaned",
  ],
  ...["cleantime", "spamreport", "markedasspam", "reportedspam", "^spam$", "invalidemail", "undeliverable"],
  ...[
    "unzustellbar",
    "zuruckgewiesen",
    "zurueckgewiesen",
    "beschwerde",
    "plainte",
    "rebond",
    "rebot",
    "queja",
    "quejas",
  ],
  ...["suprimid", "supprime", "rimbalz", "reclamo", "soppress", "devolvid", "reclamac", "gebouncet", "gebounced"],
  ...["klacht", "onderdrukt", "odbity", "odbite", "odbita", "odrzucon", "skarga", "unterdruckt", "unterdrueckt"],
);

const OUT = any(
  ...[
    "unsub",
    "optout",
    "optedout",
    "optingout",
    "dont?o?t?(e?mail|contact|send|market)",
    "donot",
    "nomail",
    "noemail",
  ],
  ...[
    "nomarketing",
    "nonewsletter",
    "nocontact",
    "blacklist",
    "blocklist",
    "blocked",
    "denylist",
    "revoked",
    "withdrawn",
  ],
  ...["dnc$", "dne$", "removed?frommailing", "emailoff", "marketingoff", "globallyunsub", "notsubscribed", "declined"],
  // German
  ...["abgemeldet", "abbestell", "abmeldung", "ausgetragen", "austragung", "widerruf", "widerspr", "werbesperre"],
  ...[
    "gesperrt",
    "sperrliste",
    "mailsperre",
    "keinewerbung",
    "keinnewsletter",
    "keinee?mail",
    "keinkontakt",
    "nichtanschreiben",
  ],
  ...["nichtkontaktieren", "nichtmailen", "gekundigt", "gekuendigt"],
  // French
  ...["desabonn", "desinscri", "nepas", "listenoire", "refus", "oppos(e|ition)", "bloque", "retrait"],
  // Spanish
  ...[
    "dadode?baja",
    "dadadebaja",
    "^baja",
    "debaja$",
    "fechabaja",
    "bajanewsletter",
    "desuscri",
    "dessuscri",
    "cancelad",
  ],
  ...["^no(contactar|enviar|molestar|desea|quiere)", "listanegra", "bloquead", "revocad"],
  // Italian
  ...["disiscri", "cancellat", "^non(contattare|inviare|mandare|desidera|vuole)", "listanera", "bloccat", "revocat"],
  // Portuguese
  ...["descadastr", "desinscri", "dessubscri", "desubscri", "^nao(contatar|contactar|enviar|deseja|quer)", "cancelou"],
  // Dutch
  ...[
    "uitgeschreven",
    "uitschrij",
    "afgemeld",
    "afmeld",
    "opgezegd",
    "^niet(mailen|e?mailen|contact|benader)",
    "geene?mail",
  ],
  ...["geennieuwsbrief", "geenreclame", "geblokkeerd", "zwartelijst", "ingetrokken"],
  // Polish
  ...["wypisan", "wypis", "rezygn", "zrezygn", "^nie(wysyl|kontakt|subskryb|chce|wyraza)", "czarnalista", "zablokowan"],
  ...["brakzgod", "wycofan", "cofniet", "niezgod", "sprzeciw"],
);

const IN = any(
  ...["subscribed", "^(is)?(email|newsletter|marketing)?subscri(ber|bed|ption|be)$", "optin", "optedin", "newsletter"],
  ...["accepts?(email|sms|marketing|newsletter|promo|advert)", "(email|marketing|sms|promo)accept", "consent"],
  ...[
    "permission$",
    "marketingallowed",
    "allow(s|ed)?(email|marketing|sms|contact)",
    "mailinglist",
    "emailme$",
    "cancontact",
  ],
  ...[
    "(email|marketing|sms)(subscri|enabled|agreed|allowed|status$)",
    "agreed?to(marketing|email|newsletter)",
    "wants(email|mail|news)",
  ],
  ...["angemeldet", "abonniert", "einwillig", "zustimmung", "zugestimmt", "werbung(erlaubt|ok)", "abonne$", "abonnee$"],
  ...["abonne(alanewsletter|newsletter)", "^abonn", "inscrit", "consentement", "accepte", "infolettre"],
  ...["suscrit", "suscripcion", "consentimiento", "acepta", "boletin", "iscritt", "iscrizione", "consenso", "accetta"],
  ...["inscrito", "inscricao", "assinante", "consentimento", "aceita", "aceite", "subscrito", "boletim"],
  ...[
    "ingeschreven",
    "inschrijving",
    "aangemeld",
    "toestemming",
    "nieuwsbrief",
    "zapisan",
    "zgod",
    "subskryb",
    "subskrypc",
  ],
);

const CHANNELS: readonly (readonly [SignedChannel, RegExp])[] = [
  ["email", /(?<!direct)e?mail|newsletter/],
  ["sms", /sms|textmessage/],
  ["chat_app", /whatsapp/],
];
/** A consent that no channel here has. */
const ELSEWHERE = /push|messenger|telegram|viber|inapp|calls?$|callpermission|phone|telefon|postal|directmail/;

/** What the name of a column says of consent; undefined for a column of something else. One without a channel is of e-mail. */
export function signedName(name: string): SignedName | undefined {
  const key = columnKey(name);
  const sign = ASIDE.test(key) ? undefined : signOf(key);
  if (!sign) return undefined;
  const channels = CHANNELS.flatMap(([channel, form]) => (form.test(key) ? [channel] : []));
  if (channels.length > 0) return { sign, channels };
  return ELSEWHERE.test(key) ? undefined : { sign, channels: ["email"] };
}

/** What a text without spaces and marks says: in a name, or as the value of a column that is about consent. */
export function signOf(key: string): Sign | undefined {
  if (SUPPRESSED.test(key)) return "suppressed";
  if (OUT.test(key)) return "out";
  return IN.test(key) ? "in" : undefined;
}
