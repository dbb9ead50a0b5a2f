// The usual names of columns in files (AMB-133).
import { folded, plainDigits } from "./folded.ts";

/** The languages of known names of columns, regions and months. */
export const LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "pl"];

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

/** Names between bars. */
const listed = (text: string): string[] => text.split("|").map((name) => name.trim());

/**
 * By field, the best name first, as OneSignal, Customer.io, Mailchimp, Klaviyo, Braze, HubSpot, Salesforce, Intercom,
 * Segment, Iterable, SendGrid, Brevo and Shopify write it. Case, spaces and punctuation do not matter.
 */
export const usualNames: Record<Standard, readonly string[]> = {
  external_id: listed(`
    external_id | external user id | ext id | user id | customer id | subscriber key | contact key | customer no |
    customer nr | kundennr | kunden id | codice cliente | numero cliente | código cliente | código de cliente |
    número de cliente | n° client | no client | n° cliente | no cliente | numéro client | identifiant client | id klienta | numer klienta | klant id | member id |
    membership number | mitgliedsnummer | réf client | référence client | 会員id | 会員番号 | 顧客id | 顧客番号 | お客様番号 |
    kd nr | mitglieds nr | code client | numéro de client | id de cliente | nº de cliente | id do cliente | código do cliente |
    nº do cliente | número do cliente | id utente | codice utente | klantnr | nr klienta | identyfikator klienta | klant nummer |
    id utilisateur | id de usuario | id usuario | benutzer id | nutzer id | gebruikers id | id użytkownika | id do usuário |
    id do utilizador |
    customer number | named user | named user id | extern id | kundennummer | client id | id client | id cliente | klantnummer | identity |
    müşteri no | müşteri numarası | kundnummer | kundenr | asiakasnumero | 用户id | 会员id | 会员编号 | 客户编号 | номер клиента | رقم العميل | מספר לקוח | 會員id | 會員編號 | 客户id | 회원id | 회원번호 | 고객번호 | local id
  `),
  email: listed(`
    email | email address | primary email | customer email | contact email | user email | work email |
    e-mail-adresse | adresse e-mail | adresse électronique | courriel | correo electrónico | indirizzo e-mail |
    endereço de e-mail | e-mailadres | adres e-mail | mail address | mailadresse | adresse mail | email id | correo |
    posta elettronica | e-mail 1 value | email address other | adresse de messagerie | mail | メールアドレス | eメール |
    eメールアドレス | 電子メール | メール
  `),
  phone: listed(`
    phone | mobile phone | mobile phone number | mobile number | mobile | cell phone | cell | sms number |
    sms phone number | sms | phone number | primary phone | telephone | telephone number | phone mobile |
    default address phone | mobilnummer | handynummer | handy | telefon | telefonnummer | téléphone |
    numéro de téléphone | portable | móvil | celular | teléfono | cellulare | telefono | telemóvel | telefone |
    mobiel | telefoonnummer | telefoon | numer telefonu | komórka | téléphone mobile | téléphone portable |
    numéro de mobile | teléfono móvil | número de teléfono | celular | telefono cellulare | numero di telefono |
    numero de telefone | mobiele telefoon | telefon komórkowy | mobile no | mobile phone no | contact number | tel |
    tél | gsm | handynr | mobiltelefonnummer | nr telefonu | numéro mobile | teléfono celular | phone 1 value |
    mobiltelefon | mobil | rufnummer | mobiel nummer | mobile telephone | cell number |
    cell phone number | numero cellulare | número de telemóvel | numer komórkowy | numéro de portable |
    número de celular | número móvil | phone number mobile | msisdn | natel |
    mobilfunknummer | mobilfunk | mobilfunknr | mobilnr | mobilrufnummer | telefon mobil | tel mobil | telefon privat | phone e164 |
    mobile e164 | tlf | tlf móvil | teléfono de contacto | número de contacto | telefone de contacto | numero di cellulare |
    telefoonnummer mobiel | mobiele nummer | gsm nummer | tel komórkowy | nr telefonu komórkowego | nr tel | tel cellulare | telefon kom | tel kom | sms address | channels sms address | billing phone | customer phone |
    customer mobile | shipping phone | telefonszám | mobilszám | telefonní číslo | puhelin | puhelinnumero | τηλέφωνο | κινητό | cep telefonu | cep | telefon numarası | телефон | رقم الجوال | الجوال | رقم الهاتف | الهاتف | טלפון | טלפון נייד | 手机 | 手机号 | 手机号码 | 手機 | 手機號碼 | 行動電話 | 전화 | 휴대폰번호 | 휴대폰 | 전화번호 | 携帯電話 | 携帯電話番号 | 携帯番号 | 携帯 | 電話番号 | 電話 |
    whatsapp number | wa id | whatsapp id
  `),
  first_name: listed(`
    first_name | fname | given name | forename | first | vorname | rufname | prénom | nombre | nombres | primer nombre | nome |
    primeiro nome | nome próprio | voornaam | imię | 名 | förnamn | fornavn | etunimi | keresztnév | adı | isim | الاسم الأول | имя | שם פרטי
  `),
  last_name: listed(`
    last_name | lname | surname | family name | last | nachname | familienname | nom | nom de famille | apellidos | apellido |
    primer apellido | cognome | sobrenome | apelido | último nome | achternaam | familienaam | nazwisko | 姓 | 苗字 | efternamn | efternavn | sukunimi | vezetéknév | soyad | soyadı | soyisim | اسم العائلة | фамилия | שם משפחה
  `),
  timezone: listed(`
    timezone id | iana time zone | timezone | time zone | timezone name | tz | zeitzone | fuseau horaire | zona horaria |
    huso horario | fuso orario | fuso horário | tijdzone | strefa czasowa
  `),
  locale: listed(`
    locale | language | language code | preferred language | preferred locale | customer locale | lang | sprache | langue |
    idioma | lingua | taal | język | korrespondenzsprache | bevorzugte sprache | langue préférée | idioma preferido |
    lingua preferita | voorkeurstaal | preferowany język | 言語
  `),
  consent_status: listed(`
    consent_status | email marketing consent | email consent | email consent status | email marketing status |
    email subscription status | subscription status | email subscribe | opt in status | marketing consent
  `),
  consent_at: listed(`
    consent_at | email marketing consent timestamp | email consent timestamp | consent timestamp | consent time |
    consent date | date of consent | consented at | confirm time | opt in time | opt in date | opt in at |
    opt in timestamp | opted in at | email opted in at | email opt in at | email opt in time | email opt in date |
    double opt in date | subscribed at | subscribed on | subscription date | einwilligung am | einwilligungsdatum |
    opt-in-datum | date de consentement | fecha de consentimiento | data do consentimento | data consenso |
    datum toestemming | data zgody | permission date | date d'abonnement | izin tarihi | onay tarihi | تاريخ الموافقة | дата согласия | 同意日 | 同意日時
  `),
  consent_source: listed(`
    consent_source | opt in source | email opt in source | consent method | signup source | marketing consent source |
    email consent source
  `),
  tags: ["tags", "tag"],
};

/** Beside a status, these are the time of any change; other times of a consent are those of a yes: `Opt-in Time`. */
const OF_EITHER = new Set(["consentat", "consenttimestamp", "emailconsenttimestamp", "emailmarketingconsenttimestamp"]);
export const isTimeOfYes = (name: string): boolean => !OF_EITHER.has(columnKey(bareName(name)));

const OF_SOMEBODY_ELSE =
  /owner|besitzer|inhaber|referr|sender|^from|from$|reply|salesrep|agent|manager|assistant|emergency|notfall|invitedby|createdby|modifiedby|fax/;
const SECOND = /secondary|alternat|backup|second/;
/** Whether a name is about another person, or a second address. */
export const isOfOthers = (name: string): boolean =>
  OF_SOMEBODY_ELSE.test(columnKey(name)) || SECOND.test(columnKey(name));

const NAMES_ADDRESS = new RegExp(
  "mail|courriel|correo|epost|sahkopost|メール|邮箱|郵箱|邮件|郵件|почт|пошт|이메일|بريد|אימייל|דואל".normalize("NFKD"),
);
/** Whether a column of mail addresses may be the person's. */
export const isLikeEmail = (name: string): boolean => NAMES_ADDRESS.test(columnKey(name)) && !isOfOthers(name);

/** Names of texts: an address in them may be another person's. */
const OF_A_MAIL = /subject|betreff|body|text|message|error|content|html|template|campaign/;
/** Whether it may be one of the person's addresses, including a second one. */
export const namesOwnEmail = (name: string): boolean => {
  const key = columnKey(name);
  return NAMES_ADDRESS.test(key) && !OF_SOMEBODY_ELSE.test(key) && !OF_A_MAIL.test(key);
};

/** `Telefon (mobil)`, `Inactive (never confirmed)`. */
const REMARK = /(?<=\S)\s*[([][^()[\]]*[)\]]\s*$/;
export const withoutRemark = (text: string): string => text.replace(REMARK, "");
const NAMES_PHONE =
  /(?<!i|smart|head)(?:phone|mobile|telephone|telefon|telefono|telefone|telefoon|handy|cellulare|celular|movil|portable|telemovel)(?:no|nr|num|number|nummer|s|\d)?$|numero(?:de|di)?(?:telephone|telefono|telefone|mobile|portable|movil)$/;
/** Whether a column may be the phone number, if none has a usual name for it. */
export const isLikePhone = (name: string): boolean =>
  NAMES_PHONE.test(columnKey(withoutRemark(name))) && !isOfOthers(name);

const OF_AN_ADDRESS = new Set(["subscriber", "recipient", "address"]);
/** Whether a column may identify people by address, if no other one identifies them: MailerLite's `Subscriber`. */
export const maybeAddress = (key: string): boolean => OF_AN_ADDRESS.has(key);

/** Columns that occur in a log of sends, and not in a list of people. */
const OF_SENDS = /^(?:delivered|bounced|unsubscribed|deliveryid|deliverystatus|messageid|campaign(?:id|name)?)$/;
export const isOfSends = perHeader((header) => [...keysOf(header)].some((key) => OF_SENDS.test(key)));
/** Whether a name means the recipient of a message, beside an id of the person. */
export const isRecipient = (name: string, header: readonly string[]): boolean =>
  columnKey(name) === "recipient" && isOfSends(header);

const OF_NUMBERS = new Set(["number", "numbers", "no", "nummer", "numero", "contact", "recipient", "subscriber", "to"]);
/** Whether a column of digits has phone numbers, if no column identifies people. */
export const isNumber = (name: string): boolean => OF_NUMBERS.has(columnKey(name));

const COUNTRY = listed(`
  country | country code | country region | default address country code | address country | land | mailing country |
  mailing country code | billing country | shipping country | home country | country name | pays | país | paese |
  nazione | kraj | mobile country | address 1 country | address 1 country region | home country region |
  business country region | location country | land region | pays région | país región | país região | paese regione |
  paese area geografica | kraj region | country iso | country iso code | country of residence | ländercode | länderkennung |
  landcode | landescode | wohnland | code pays | pays de résidence | código de país | código país | país de residencia |
  código do país | país de residência | codice paese | paese di residenza | kod kraju | land regio | 国 | 国名 | 国家 | 國家 | 국가 | страна | країна | ülke | země | krajina | maa | phone country code | dial code | calling code |
  country calling code
`);
const CC = "cc"; // Mailchimp writes the code of a country in it, and others an address.

/** Prefixes of platforms before the name of a field: `traits.email`, `context_traits_phone`. */
const OF_A_PERSON =
  /^(?:(?:context[._])?traits[._](?=\S)|(?:User\.UserAttributes|Attributes|Demographic|Location)\.(?=\S)|(?:traits|user|contact|subscriber|profile|customer|person|attributes|fields|properties)(?:\s*[.:/]|\s+-)\s*(?=\S))/i;
/** Suffixes of platforms: `Email (Standard)`, `Person - Phone - Mobile`. */
const WHICH_ONE =
  /(?<!\s)\s*(?:\((?:standard|default|primary|main|work|home|mobile?)\)|\s-\s(?:primary|main|work|home|mobile)|\s1)$/iu;
/** The same suffix as a word, which may also be a part of the name. */
const WHOSE =
  /(?<!\s)\s(?:privat|privé|prive|personal|persönlich|geschäftlich|dienstlich|beruflich|büro|work|home|business|office|perso|pro|personale|ufficio|trabajo|trabalho|zakelijk|prywatny|służbowy)$/iu;
/** Whether a name ends with such a word: every other name of a field comes before it. */
export const saysWhose = (name: string): boolean => name.length <= MAX_NAME && WHOSE.test(name.trim());
/** A longer text is not a name or a word with a meaning. */
const MAX_NAME = 4_096;
/** The name of a column without prefixes and suffixes. */
export const bareName = (name: string): string =>
  name.length > MAX_NAME ? name : name.trim().replace(OF_A_PERSON, "").replace(WHICH_ONE, "").replace(WHOSE, "");

/** The letters and digits of a text in lower case, without marks: the form in which usual names are compared. */
export const columnKey = (name: string): string =>
  name.length > MAX_NAME
    ? ""
    : plainDigits(folded(name))
        .replaceAll("ı", "i")
        .replaceAll(/[^\p{L}\p{N}]/gu, "");

/** Computes a fact about a header once, however many of its columns ask: each is compared with all others. */
export function perHeader<T>(find: (header: readonly string[]) => T): (header: readonly string[]) => T {
  const found = new WeakMap<readonly string[], { of: T }>();
  return (header) => {
    const known = found.get(header) ?? { of: find(header) };
    found.set(header, known);
    return known.of;
  };
}

/** The keys of all columns of a file. */
export const keysOf = perHeader((header): ReadonlySet<string> => new Set(header.map(columnKey)));

const ranks = new Map(
  Object.entries(usualNames).map(([field, names]) => [
    field as Standard,
    new Map(names.map((name, i) => [columnKey(name), i])),
  ]),
);

/** How usual a name is for a field: 0 for the best; undefined for a name of another field. */
export const rankOf = (field: Standard, key: string): number | undefined => ranks.get(field)?.get(key);

/** Whether it is a usual name of the address, or of a further one: `Email 2`. */
export const isEmailAgain = (name: string): boolean =>
  rankOf("email", columnKey(bareName(name)).replace(/\d$/, "")) !== undefined;

const MOBILE =
  /mobil|mobiel|cell|handy|gsm|sms|portable|movil|celular|telemovel|komork|msisdn|natel|手机|手機|行動|携帯|휴대/;

const OF_CHATS =
  /^(?:whatsapp|wa)(?:id|n[or]|num|number|nummer|numero|phone|phonenumber|mobile|contact|telefon|telefono)$|^whatsapp$|^(?:phone|number|numero|telefon|mobile|celular|telefono)(?:de|di|do|del)?whatsapp$/;
const OF_TEXTS =
  /^(?:sms|text|mms)(?:n[or]|num|number|nummer|phone|phonenumber|mobile|telefon|address)$|^sms$|^channelssmsaddress$/;
/** The only channel of the numbers in a column, by its name. */
export function channelOfNumbers(name: string): "sms" | "chat_app" | undefined {
  const key = columnKey(bareName(name));
  if (OF_CHATS.test(key)) return "chat_app";
  return OF_TEXTS.test(key) ? "sms" : undefined;
}

/** How much a column of mobile numbers comes before others as the phone. */
export const phoneLead = (name: string): number => (MOBILE.test(columnKey(name)) ? 1_000 : 0);

export const isUsualName = (name: string): boolean =>
  [...ranks.values()].some((names) => names.has(columnKey(bareName(name)))) || maybeAddress(columnKey(name));
/** Whether a line above the rows of a file may be its title and not the header: `Subscribers on 1 May`. */
export function isTitle(cells: readonly string[]): boolean {
  const [text = "", ...others] = cells.filter((cell) => cell.trim() !== "");
  return others.length === 0 && !isUsualName(text) && !isLikeEmail(text) && !/@|\d{7}/.test(text);
}

/** Whether column names identify people: by an id, an address or a number. */
export const saysWho = (names: readonly string[]): boolean =>
  names.some(
    (name) =>
      !/@|\d{7}/.test(name) &&
      (isLikeEmail(name) ||
        (["external_id", "email", "phone"] as const).some(
          (field) => rankOf(field, columnKey(bareName(name))) !== undefined,
        )),
  );

/**
 * Whether a row repeats column names: most of its cells are names of the header too, and one identifies people.
 * @returns whether they are those of the header; undefined for any other row
 */
export function namesAgain(cells: readonly string[], header: readonly string[]): "same" | "others" | undefined {
  const [again, keys] = [cells, header].map((names) => names.map(columnKey).filter((key) => key !== "")) as [
    string[],
    string[],
  ];
  const known = again.filter((key) => keys.includes(key));
  if (known.length < 2 || known.length * 2 < again.length || !saysWho(cells)) return undefined;
  return again.join(" ") === keys.join(" ") ? "same" : "others";
}

const countryKeys = new Set(COUNTRY.map(columnKey));
export const isCountryColumn = (name: string): boolean => countryKeys.has(columnKey(name)) || columnKey(name) === CC;

/**
 * Which numbers of a column are international ones without their plus: `all`, in any case; `most`, by the evidence of
 * other rows; `long`, those with enough digits; `within`, none, by the evidence of other rows; `none`, unknown.
 */
export type PluslessNumbers = "all" | "most" | "long" | "within" | "none";

/** The evidence of a column's rows; null if there is none, or of both kinds. */
export type ShownNumbers = "most" | "within" | null;

const PLUSLESS = new Set(["msisdn", "waid", "whatsappid"]);
/** Brevo drops every plus. */
const IN_BREVO = new Set(["sms", "whatsapp"]);
const OF_BREVO = /^(?:email|sms|whatsapp)blacklisted$|^addedtime$/;
/** MoEngage and CleverTap require the country code. */
const OF_APPS = /^moe(?:unsubscribe|hardbounce|smssubscription|wasubscription)$|^msg(?:email|sms|whatsapp)$/;
/**
 * Files of Brevo and columns called MSISDN have no plus; others have the numbers as they were entered. @param header
 * the names of the file
 */
export function pluslessOf(name: string, header: readonly string[]): PluslessNumbers {
  const key = columnKey(name);
  if (PLUSLESS.has(key) || (IN_BREVO.has(key) && isOfBrevo(header))) return "all";
  if (key === "sms") return "most";
  return isOfApps(header) ? "long" : "none";
}

const isOfBrevo = perHeader((header) => [...keysOf(header)].some((key) => OF_BREVO.test(key)));
const isOfApps = perHeader((header) => [...keysOf(header)].some((key) => key === "cioid" || OF_APPS.test(key)));

/** Whether `ID` is the sender's own id of a person: Customer.io and MoEngage write it so, beside columns of theirs. */
export const hasOwnIds = perHeader((header) =>
  header.some((name) => /^(?:cio|moe)[_ ]|\(standard\)$/i.test(name.trim()) || columnKey(name) === "cioid"),
);
