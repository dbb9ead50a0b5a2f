// Which column names are about consent, and what they state (AMB-132).
import { isTakenBack, saysEnded, saysNothing } from "./import-endings.ts";
import { isMessageLog, logColumn } from "./import-message-logs.ts";
import { columnKey, isLikeEmail, isUsualName, keysOf, perHeader } from "./import-names.ts";
import { isOfPurchase } from "./import-purchases.ts";
import { ASIDE, ASKED, any, IN, OUT, SUPPRESSED, WORDING } from "./import-sign-words.ts";
import { isOfMoment } from "./import-times.ts";

/**
 * The meaning of a true value in the column: yes, an opt-out, or a suppressed address. If the column may ask something
 * else, only a no counts. In a status of unknown subject only the words for a negative count; among several choices one
 * that is a no; in a code a value below zero; in a column about valid addresses a no; and in any other column the words
 * with no other meaning. An endpoint of Pinpoint may be out of use.
 */
type Sign = "in" | "asked" | "out" | "suppressed" | "valid" | "status" | "choices" | "code" | "endpoint" | "word";

export type SignedChannel = "email" | "sms" | "chat_app";

/** A column name about consent, with its channels. */
export interface SignedName {
  sign: Sign;
  channels: readonly SignedChannel[];
  /** It names no channel: the row may tell which one. */
  isUnnamed?: true;
  /** It names a channel and nothing else: a yes or a no answers for that channel. */
  isBare?: true;
  /** A time in it is the moment of a yes. */
  isMoment?: true;
  /** A time in it is the end, and may be in the future. */
  isUntil?: true;
  /** A time in it is a yes, even if no other column says so. */
  isProof?: true;
  /** Its answers may be numbered: 1 is a yes, 2 a no; in a status every number but 1 is a no. */
  isNumbered?: true;
  /** The kind of its statement, if another column may have the reason. */
  of?: "bounce" | "hard" | "suppression" | "reason" | "event" | "address" | "code";
  /** It is about a confirmation: not yet given, or given. An open confirmation takes nothing back. */
  confirms?: "not yet" | "done";
  /** A status of customers or leads: an inactive or pending one buys nothing. */
  isOfTrade?: true;
  /** A status of a paid subscription: a person who canceled it may still want mail. */
  isOfPurchase?: true;
}

const CHANNELS: readonly (readonly [SignedChannel, RegExp])[] = [
  ["email", /(?<!direct)e?mail|newsletter|eposta/],
  [
    "sms",
    /sms|(?<!co)mms|textmess|^text(?:s|ing)?$|(?:not|dont|to|can|may|we|receives?|of|into|no|stop|by|via|send|accepts?|allow)text(?:s|ing|me|you)?$|^(?:handy|mobil)(?:opt|unsub|werb|einwillig|abgemeld)|^(?:cell(?:phone)?|gsm)(?:opt|unsub|consent|permission|izin|izni|onay)|^text(?:s|ing)?(?:opt|consent|alert|subscri|unsub|market|permission|status|allow|enabled|ok)|mobile(?!.*(?:push|app))/,
  ],
  ["chat_app", /whatsapp|wasubscri|^allowbroadcast|^wa(?:opt|consent|unsub|status|dnd|block)/],
];
const signedChannels = CHANNELS.map(([channel]) => channel);

/** The reason of a negative implies the negative. */
const REASON =
  /^(?!.*(?:rate|count|url|soft))(.*(?:bounced?|suppress\w*|unsub\w*|opt(?:ed)?out|complain\w*|dnc|donotcontact|abmelde|abbestell))(?:reason\w*|source|grund)$/;
const REASON_BEFORE =
  /^(?:motivo|motif|raison|razon|reden|powod)(?:del?|di|da|do|du|van|della|dela)?((?:hardbounce|(?:rebote|rebond|rimbalzo|rejeicao)(?!s?(?:temporal|suave|soft|temporaire|temporane))|desabonn|desinscri|baja|desuscri|disiscri|cancellaz|descadastr|uitschrij|afmeld|wypis|rezygn)\w*)$/;

/** A negative of every channel: the person must not be contacted. */
const EVERYWHERE =
  /kontaktsperre|(?:not|no|nolonger|kein|nicht|mehr|pas|plus|niet|meer|geen|nie|nao|non|piu)(?:contact|contat|kontakt)|^dnc$|all(?:channels|communications)$/;

/**
 * A status or preference that may be about mail or anything else; the reason or type in files of suppressed addresses.
 */
const STATUS_OF_ADDRESS =
  /e?mail.*(?:verification|validation|validity|deliverability)(?:status|result)?$|e?mail(?:delivery)?error$|^(?:neverbounce|zerobounce)/;
const STATUS =
  /^(?:([a-z]+list|subscriber|contact|member|customer|profile|user|list|global(?:er)?|person|recipient|lead|subscription|(?:email)?confirmation|optin|doubleoptin|doi)?(status|state|statut|stato|estado)|status(?:explain|explanation|text|name)|sttext|статус|состояние|стан|状态|狀態|상태|(?:izin|onay)?durumu?|stav|الحالة|סטטוס|(removal|exclusion|deletion|stop)?reason|stopstatus|(event|subscribe)?type|event(?:name)?)$|(?:contact|communication|email|mail|marketing|sms|mobile|whatsapp)(?:permissionstatus|preferences?)$|(?:会員|配信|購読)(?:ステータス|状態|区分)$/;
/** Magento numbers them: 1 is a subscriber, and nothing else is. */
const NUMBERED_STATUS = /^subscriberstatus$/;
/** ActiveCampaign too, beside its counts of both kinds of bounces. */
const isNumberedStatus = (key: string, header: readonly string[]): boolean =>
  NUMBERED_STATUS.test(key) ||
  (key === "status" && ["bouncedhard", "bouncedsoft"].every((of) => keysOf(header).has(of)));
/** Consent to keep data is another question; a no to it may include mail. */
const OF_DATA = any(
  "gdpr dsgvo rgpd lgpd rodo(?![a-z]) kvkk dataproc dataprotec datahandl ^dataconsent personaldata datenverarb datenschutz",
  "donnees trattamento datipers datos dados persoonsgegeven gegevensverw przetwarz danych 個人情報",
);
const OF_MESSAGES = /mail|news|marketing|sms|whatsapp|werb|publici|pubblicit|promo|offer|メルマカ|配信/;
/** Other things that people agree to. */
const OF_SOMETHING_ELSE = any(
  "photo foto image(?!ry) bild(?:rechte|er) video recording aufzeichn enregistr medical treatment behandlung health gesundheit surgery",
  "parent guardian eltern child(?:ren)? research forschung survey umfrage biometr location standort geoloc ^(?:voice)?call credit(?!or)",
  "background conditions ^agb agb$ ^cg[uv] 利用規約 規約",
);

/** Knowledge about people, apart from messages. */
const OF_PROFILES = /profil(?:ing|az|ier|ag|ow|ad[oa])|perfil(?:ad|am)/;

/** Messages of other senders. */
const OF_OTHERS =
  /thirdpart|partneroffer|(?:optin|newsletters?|mails?|mailings?|offers?|offres?|werbung|angebote|infos?)(?:de|des|von|di|dei|del|nos|unserer)*(?:partenaires|partners|partnern|socios|parceiros)$|drittanbieter|drittpartei|(?:des|aux)tiers|terzi|terceros|terceiros|derden/;

/** The code of an error beside its text, as Mailgun writes it for bounced mails. */
const ERROR_CODE = /^(?:error|smtp|bounce|response)?code$/;
const ERROR_TEXT = /^(?:error(?:message|text)?|diagnostic(?:code)?|smtp(?:error|response|message))$/;

/** When a person left, at AWeber; the end of a shift elsewhere. */
const STOP_TIME = /^stop(?:time|date|at|on)$/;
/** 0 is never confirmed, or switched off, at CleverReach, phpList and AcyMailing. */
const SWITCHED_ON = /^(?:aktiviert|activated|enabled|accept)$/;

/** A person's choices among several lists or groups, as JSON or in a column each. */
const CHOICES = /subscription(?:preferences|groups?|states)(?!updated)/;
/** At OneSignal, a value below zero is a kind of "not subscribed". */
const CODE = /^notificationtypes$/;

/** A number that must not be texted; calls are another matter. */
const PHONE_REFUSED =
  /^(?!.*(?:calls?$|push|app))(?=.*(?<!i)phone)(?=.*(?:bl(?:ack|ock)list|opt(?:ed)?out|unsub|^(?:is|msg)?dnd|dnd$))/;

const BARE = /^(?:e?mails?|sms|texts?|textmessages?|whatsapp)$/;
/** A consent for a channel that we do not have. */
const ELSEWHERE =
  /(?:per|via)(?:post|brief)$|push|fax|messenger|telegram|viber|inapp|calls?$|call(?:permission|consent|optin)|phone|telefon|postal|directmail/;

/** Which of several addresses a column is about, as Constant Contact writes it: `Email status - other`. */
const OF_WHICH_ADDRESS = /\s-\s(?:other|work|home)$/i;

/** Whether mail arrives at an address: a no means a bounce. */
const VALID =
  /^(?:is|ist)?(?:(?:valid[eoa]?|ge?u?e?ltige?|deliverable)e?mail(?:address|adresse)?|(?:e?mail|correo(?:electronico)?|courriel)(?:address|adresse)?(?:is|ist|est|es)?(?:valid[eoa]?|gue?ltig|geldig|deliverable|zustellbar))$/;

/** Without spaces, `fecha de suscripción` would read as its end: `desuscripción`. */
const OF_A_SUBSCRIPTION = /(?:(?<!\p{L})des?[\s_.-]+|(?<=\p{Ll})Des?)(?=su(?:s|bs)cri|inscri|abonn)/giu;

const BETWEEN_PARTS = /(?<=[.?!:;,])\s|[()[\]]|\s(?:[–-]|and|und|et|y|e|en|i)\s/;

/** A name without the note of a form about leaving later. */
function questionIn(name: string): string {
  const isWording = (text: string) => WORDING.test(columnKey(text));
  if (!isWording(name)) return name;
  const asked = name.split(BETWEEN_PARTS).filter((part) => !isWording(part));
  return asked.join(" ").trim() || name;
}

/**
 * The statement of a column name about consent; undefined for a subject that we do not have. A name without a channel
 * is about mail, and one that forbids all contact is about every channel. @param header the names of the file
 */
export function signedName(name: string, header: readonly string[] = []): SignedName | undefined {
  const key = columnKey(questionIn(name).replaceAll(OF_A_SUBSCRIPTION, "").replace(OF_WHICH_ADDRESS, ""));
  // A block of houses, in a Spanish address.
  if (key === "bloque" && keysOf(header).has("piso")) return undefined;
  if (STOP_TIME.test(key)) return hasStarts(header) ? undefined : { sign: "out", channels: ["email"], isUnnamed: true };
  if ((SWITCHED_ON.test(key) || key === "disabled") && isOfMailings(header))
    return { sign: key === "disabled" ? "out" : "asked", channels: ["email"], isUnnamed: true };
  if (logColumn(name, header)) return undefined;
  if (ERROR_CODE.test(key) && hasErrorTexts(header)) return { sign: "status", channels: ["email"], isUnnamed: true };
  // Postmark has it in each row of its log, whatever the type.
  if (key === "bouncedat" && keysOf(header).has("typecode")) return undefined;
  const negative = (REASON.exec(key) ?? REASON_BEFORE.exec(key))?.[1];
  const sign = (negative !== undefined ? signOf(negative) : nameSign(key)) ?? "word";
  // A message may be canceled.
  if (sign === "status" && isMessageLog(header)) return undefined;
  const channels = CHANNELS.flatMap(([channel, form]) => (form.test(key) ? [channel] : []));
  if (channels.length === 0 && PHONE_REFUSED.test(key)) return { sign, channels: ["sms"] };
  // Emarsys and Brevo number the answers to a question of consent.
  const isNumbered = sign === "status" ? isNumberedStatus(key, header) : sign === "in" && /optin(?!statusid)/.test(key);
  const numbered = isNumbered && ({ isNumbered: true } as const);
  const moment = sign === "in" && isOfMoment(key) && ({ isMoment: true } as const);
  // Airship has one of these times for subscribers of mail, and nothing else.
  const proof = key === "commercialoptedin" && ({ isProof: true } as const);
  const until = sign === "out" && /^(?:newsletter|subscribed)(?:bis|until)$/.test(key) && ({ isUntil: true } as const);
  const confirms = sign === "word" ? undefined : confirmationIn(key);
  const kind = ofKind(key, sign, negative !== undefined);
  const of = kind && ({ of: kind } as const);
  if (channels.length > 0)
    return {
      sign,
      channels,
      ...of,
      ...moment,
      ...until,
      ...(BARE.test(key) && { isBare: true }),
      ...numbered,
      ...(confirms && { confirms }),
    };
  if (ELSEWHERE.test(key)) return undefined;
  if (sign === "out" && EVERYWHERE.test(key)) return { sign, channels: signedChannels };
  const ofTrade = sign === "status" && /^(?:customer|lead)/.test(key) && ({ isOfTrade: true } as const);
  const ofPurchase = sign === "status" && isOfPurchase(key, header) && ({ isOfPurchase: true } as const);
  return {
    sign,
    channels: ["email"],
    isUnnamed: true,
    ...of,
    ...moment,
    ...until,
    ...proof,
    ...numbered,
    ...ofTrade,
    ...ofPurchase,
    ...(confirms && { confirms }),
  };
}

const CONFIRMED = "confirm|verif|bestat|bestaet|conferm|bevestig|potwierdz";
const NOT_YET = new RegExp(
  `(?:un|not|nicht|non|no|nao|niet|nie|on(?=bevestig))(?:yet)?(?:${CONFIRMED})[a-z]*|pending|awaiting|ausstehend|pendiente|pendente|enattente|inattesa|oczekuj[a-z]*`,
);

/** A no to `I confirm that I want the newsletter` takes it back. */
const DONE = new RegExp(`(?:${CONFIRMED})[a-z]{0,8}$|confirmed|confirmation|verified|verification`);

/** The statement of a name about a confirmation, except one that the person has yet to confirm leaving. */
function confirmationIn(key: string): SignedName["confirms"] {
  if (!NOT_YET.test(key)) return DONE.test(key) ? "done" : undefined;
  return signOf(key.replace(NOT_YET, "")) === "out" ? undefined : "not yet";
}

/** Survey tools write each answer to a question in a column of its own, of which only the first has a name. */
export function askedBefore(i: number, header: readonly string[]): SignedName | undefined {
  if (header[i]?.trim() !== "") return undefined;
  const question = header.slice(0, i).findLast((name) => name.trim() !== "");
  const signed = question === undefined ? undefined : signedName(question);
  return signed?.sign === "in" || signed?.sign === "asked" ? { ...signed, sign: "asked" } : undefined;
}

function ofKind(key: string, sign: Sign, isReason: boolean): SignedName["of"] {
  if (isReason || (sign === "status" && key.endsWith("reason"))) return "reason";
  if (/^(?:error|smtp|bounce|response)code$/.test(key)) return "code";
  if (sign === "status" && STATUS_OF_ADDRESS.test(key)) return "address";
  if (sign === "status") return /^(?:event(?:type|name)?|type)$/.test(key) ? "event" : undefined;
  if (sign !== "suppressed") return undefined;
  if (/hardbounce|bouncedhard/.test(key)) return "hard";
  if (/suppress/.test(key)) return "suppression";
  return /bounce/.test(key) ? "bounce" : undefined;
}

const hasStarts = perHeader((header) =>
  [...keysOf(header)].some((key) => /^start(?:ed)?(?:time|date|at|on)?$/.test(key)),
);
const isOfMailings = perHeader((header) => [...keysOf(header)].some((key) => /^dea[ck]tiv|^confirmed$/.test(key)));
const hasErrorTexts = perHeader((header) => [...keysOf(header)].some((key) => ERROR_TEXT.test(key)));

export const isKnownName = (name: string): boolean =>
  isUsualName(name) || isLikeEmail(name) || nameSign(columnKey(name)) !== undefined;

function nameSign(key: string): Sign | undefined {
  if (CODE.test(key)) return "code";
  if (key === "endpointstatus") return "endpoint";
  if (CHOICES.test(key)) return "choices";
  if (VALID.test(key)) return "valid";
  if (STATUS.test(key) || STATUS_OF_ADDRESS.test(key)) return "status";
  if (ASIDE.test(key)) return undefined;
  const sign = signOf(key);
  if (sign === "in" && OF_OTHERS.test(key)) return undefined;
  if ((sign === "in" || /newsletter|marketing(?:e?mail|sms|messag|communic)/.test(key)) && isTakenBack(key))
    return /given|granted|erteilt/.test(key) ? "asked" : "out";
  // A no, or the number of one.
  if (sign === "in" && (saysNothing(key) || /(?:newsletter|consent|optin|marketing)no$/.test(key))) return "asked";
  // A no to profiles for marketing, or to both, is a no to all of it.
  if (sign === "in" && OF_PROFILES.test(key)) return OF_MESSAGES.test(key) ? "asked" : undefined;
  if (sign === "out" || sign === "suppressed" || (sign === "in" && OF_MESSAGES.test(key))) return sign;
  const isAsked = sign === undefined && ASKED.test(key);
  if ((sign === undefined && !isAsked) || (!OF_MESSAGES.test(key) && OF_SOMETHING_ELSE.test(key))) return undefined;
  return isAsked || OF_DATA.test(key) ? "asked" : sign;
}

/** The statement of a text without spaces and marks: a name, or a value in a column about consent. */
export function signOf(key: string): "suppressed" | "out" | "in" | undefined {
  if (SUPPRESSED.test(key)) return "suppressed";
  if (OUT.test(key) || saysEnded(key)) return "out";
  return IN.test(key) ? "in" : undefined;
}
