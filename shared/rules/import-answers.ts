// The meaning of a cell about consent: yes, no, nothing, or a word for a negative (AMB-132).
import { isEnded } from "./import-endings.ts";
import { columnKey, withoutRemark } from "./import-names.ts";
import { WORDING } from "./import-sign-words.ts";
import { signOf } from "./import-signs.ts";
import { readTime, type TimeForm } from "./import-times.ts";

export const OPTED_IN = ["opted_in", "subscribed", "true", "yes", "1"];
export const OPTED_OUT = ["opted_out", "unsubscribed", "false", "no", "0"];

/** In a column about bounced mail, these words mean that the next mail may arrive. */
export const SOFT = /^(?:bounced?)?(?:soft|transient|temporary|undetermined)/;

/** Matches one of the forms as the whole text, between spaces; like column keys, forms have no marks. */
const any = (...lines: string[]) =>
  new RegExp(`^(?:${lines.flatMap((line) => line.normalize("NFKD").replaceAll(/\p{M}/gu, "").split(" ")).join("|")})$`);
const words = (...texts: string[]) => new Set(texts.flatMap((text) => text.split(" ")).map(columnKey));
export const IN_WORDS = words(
  "opted_in optin opt_in subscribed subscribe granted given agreed accepted allowed allow send confirmed erteilt erlaubt explicitly_opted_in explicit_opt_in",
);
/** In a column that says no, these words mean the contrary. */
export const CONTRARY = words(
  "opted_in optin opt_in subscribed subscribe allowed allow send erlaubt start unstop help",
);
const YES = words(
  "true yes y 1 t on x checked enabled aktiviert wahr ja j vrai oui verdadero sí si vero verdadeiro sim waar prawda tak",
  "はい する 希望する 希望 同意する 同意 許可 有 可 要 有効",
  "истина igaz igen ναι evet var onay onaylı kyllä joo ano áno да так 是 예 네 동의 نعم כן",
);
const NO_WORDS = words(
  "false no n 0 f off unchecked falsch nein faux non falso não onwaar nee fałsz nie",
  "いいえ しない 希望しない 同意しない 無 不可 不要 拒否 無効",
  "ложь hamis nepravda yanlış falskt falsk usann epätosi fals ψευδές хибність nem nu όχι hayır yok nej nei ei ne нет ні 否 不 不同意 아니오 아니요 거부 미동의 لا לא",
);
/** Words for no in a column that asks for consent. In a column that says no, they deny that. */
const REFUSED = words(
  "objected retiré retirée notwanted unwanted nichterwünscht nichtgewünscht nichtvorhanden liegtnichtvor",
  "denied rejected disallowed disagreed didnotagree doesnotagree expired abgelaufen nothanks nothankyou notinterested stop nope removed deleted neindanke keininteresse",
  "nonmerci nogracias nograzie naoobrigado neebedankt niedziekuje abgelehnt verweigert rechazado rifiutato recusado",
  "nichtinteressiert pasintéressé pasintéressée nointeresado nointeresada noninteressato noninteressata naointeressado nietgeinteresseerd niezainteresowany",
  "negato negata negado negada negadas nonegiven noneprovided geweigerd odmowa nolonger notanymore storniert annullato annulé plusintéressé out 停止 停止中 解除 غيرموافق aufkeinenfall keinesfalls absolutelynot noway surtoutpas deningunamanera assolutamenteno",
);
/** Words for a person who gets no mail elsewhere, for whatever reason. */
const SWITCHED_OFF = words(
  "disabled deactivated inactive inaktiv deaktiviert inactif desactive inactivo inattivo inativo inactief nieaktywny inactive inactiva inattiva inativa nieaktywna désactivé désactivée desactivado desactivada disattivato disattivata desativado desativada uitgeschakeld wyłączony wyłączona",
  "nichtaktiv nietactief nonactif noactivo nonattivo naoativo pasif неактивен неактивна неактивный 비활성 未激活 לאפעיל غيرنشط",
);
/** Whether a text says so, also with a remark: `Inactive (never confirmed)`. */
const isSwitchedOff = (text: string): boolean => SWITCHED_OFF.has(wordOf(withoutRemark(text)));
export const isIdle = (text: string): boolean => isSwitchedOff(text) || wordOf(withoutRemark(text)) === "pending";
const OVER = words(
  "canceled cancelled expired paused suspended ended stopped terminated churned onhold storniert gekündigt abgelaufen pausiert",
  "annulé annulée expiré expirée enpause suspendu suspendue cancelado cancelada caducado caducada expirado expirada pausado pausada",
  "suspendido suspendida suspenso suspensa annullato annullata scaduto scaduta inpausa sospeso sospesa disdetto disdetta geannuleerd",
  // In the Turkish register; in a log of orders these mean a return.
  "ret opgezegd verlopen gepauzeerd opgeschort anulowany anulowana anulowano wygasły wygasła wygasło wstrzymany wstrzymana zawieszony zawieszona",
);
const CANCELED_BY = "cancell?ed(?:subscriptions?|newsletter|by(?:the)?(?:user|customer|subscriber|contact|recipient))?";
const CANCELED = any(CANCELED_BY);
/** Whether a subscription or payment is over. */
export const isOver = (text: string): boolean =>
  OVER.has(wordOf(withoutRemark(text))) || CANCELED.test(columnKey(withoutRemark(text)));
/** `Not opted in`, `nicht erlaubt`. */
const NEGATED = /^(?:not|nicht|pas|niet)(?:yet)?(.+)/;
const EMPTY = words(
  "none null na nan undefined never blank empty leer vide vuoto vacio vazio enblanco leeg puste unset notset nodata nodate",
  "notapplicable keineangabe ka nonrenseigne jamais nunca nooit nigdy niemals notyet nochnicht",
  "noresponse noanswer noinfo noinformation nopreference nopreferences nonspécifié nondéfini sinrespuesta sinespecificar",
);
const GOOD = words(
  "ok good valid clean deliverable delivered healthy accepted gültig valide válido valido geldig ważny",
);
/** Whether a text in a column about bounced mail says that it arrives. */
export const isGood = (text: string): boolean => GOOD.has(columnKey(text));
const TICK = /^[✓✔☑✅○◯]\uFE0F?$/u;
const CROSS = /^[✗✘✕✖❌❎☐×]\uFE0F?$/u;

/** A word without marks; a number with the decimals of a spreadsheet or a data frame, `1.0`, without them. */
const wordOf = (text: string): string => columnKey(text.trim().replace(/^(-?[012])[.,]0+$/, "$1"));

export const isYes = (text: string): boolean => TICK.test(text) || YES.has(wordOf(text)) || IN_WORDS.has(wordOf(text));
export const isNo = (text: string): boolean => CROSS.test(text) || NO_WORDS.has(wordOf(text));
/** Dynamics writes this in columns of ways to contact a person, and in those that say no already. */
export const isForbidden = (text: string): boolean => wordOf(text) === "donotallow";
/** The second answer of a numbered question. */
export const isSecond = (text: string): boolean => wordOf(text) === "2";
/** `Not checked`, but not a longer word that begins like it. */
const isNegated = (key: string): boolean => {
  const word = NEGATED.exec(key)?.[1] ?? "";
  return IN_WORDS.has(word) || (word.length > 3 && YES.has(word));
};
const NO = "no|nein|non|não|nao|nee|nie|nej|nei|нет|hayır";
/** A no with its subject: `No, I don't`, `No quiero recibir`. A no to objections is not one. */
const NO_AND_MORE = new RegExp(
  `^(?:${NO})(?:[\\s,;.!:-]+\\p{L}|\\s*\\()(?!.*(?:bjection|pposition|inwand|inwände|problem|biezion))`,
  "iu",
);
/** `No, still active`: in a column that says no, a no with a comma or a remark does not deny it. */
const NO_AND_COMMA = new RegExp(`^(?:${NO})\\s*[,;.!(]`, "iu");
export const beginsWithNo = (text: string): boolean => NO_AND_COMMA.test(text);
const isRefusal = (text: string): boolean =>
  [
    NO_AND_MORE.test(text) && !isNothing(text),
    isNo(text),
    REFUSED.has(wordOf(text)),
    isSwitchedOff(text),
    isNegated(wordOf(text)),
  ].some(Boolean);

/** Whether a choice is of nothing. In a column that says no, that denies it. */
export const isNoneOf = (text: string): boolean => NONE_OF.has(columnKey(text));
/** `No bounce`. */
export const isNoBounce = (text: string): boolean =>
  /^(?:no|keine?|geen|aucune?|brak)(?:hard|soft)?(?:bounces?|complaints?|spam)$/.test(columnKey(text));
const NONE_OF = words(
  "never jamais nunca nooit nigdy niemals keine keiner aucun aucune ninguno ninguna nessuno nessuna nenhum nenhuma geen żaden żadne żadna nothing nichts rien nada niente",
);

/** An empty value, as platforms write it: `[]`, `null`, `0000-00-00`. */
export function isNothing(text: string): boolean {
  const key = columnKey(text);
  if (isNo(text)) return false;
  return (key === "" && !TICK.test(text)) || EMPTY.has(key) || /^00+$/.test(key);
}

/** Whether a text is a yes, a no, a time, or a word for a negative. */
export const isClear = (text: string, form: TimeForm): boolean =>
  isYes(text) || isNo(text) || readTime(text, form) !== undefined || negativeOf(text) !== undefined || saysOut(text);

/** Words for a person who never confirmed a double opt-in elsewhere: they have not agreed, and get no mail here. */
const UNCONFIRMED =
  /^pending$|^(?:un|not)confirmed|^notactiv(?:e|ated)|^(?:awaiting|waitingfor|pending)(?:double)?(?:confirm|optin)|^confirmation(?:pending|sent)|^(?:inattesa|nonconferm|oczekuj|doaktywacji|niepotwierdz|noconfirmad|pendiente|naoconfirmad|pendente|nichtbestat|unbestat|ausstehend|nonconfirm|enattente|nietbevestigd|onbevestigd|inafwachting|未確認|仮登録|неподтвержд|непідтвердж)/;

/**
 * A denied negative, `Not opted out`, and a negative that begins like a yes: `Non-marketable: Hard bounce`, `Not
 * subscribed (bounced)`.
 */
const DENIED = new RegExp(
  `^(?:is)?(?:not|never|nicht|nie|non|pas|niet|nao)(?!${[
    "subscri opt(?:ed)?in market e?mail(?:able|ed) contactable eligible permi allow deliver valid active confirm send",
    "abonn angemeldet erlaubt inscri suscri iscrit ingeschreven aangemeld zapisan",
  ]
    .flatMap((line) => line.split(" "))
    .join("|")})(.+)`,
);
/** Whether a text says only that: not `Pendiente de baja`, nor `Not active`, which may be a former subscriber. */
export function isUnconfirmed(text: string): boolean {
  const key = columnKey(text);
  const more = key.replace(UNCONFIRMED, "");
  const isMore =
    key.startsWith("notactive") || /^(?:out|suppressed)$/.test(signOf(more) ?? "") || /cancel|ann?ul/.test(more);
  return UNCONFIRMED.test(key) && !isMore;
}
export const isDenied = (key: string): boolean =>
  /^(?:out|suppressed)$/.test(signOf(DENIED.exec(key)?.[1] ?? "") ?? "");

export function negativeOf(status: string): "opted_out" | "suppressed" | undefined {
  const key = columnKey(status);
  if (isDenied(key) || SOFT.test(key) || WORDING.test(key)) return undefined;
  const sign = signOf(key);
  if (sign === "suppressed" || /^(hard)?bounce|^cleaned|^spam|^junk$|complaint|^invalid/.test(key)) return "suppressed";
  const isOut = sign === "out" || isRefusal(status) || isEnded(key) || isOver(status) || UNCONFIRMED.test(key);
  return isOut ? "opted_out" : standingOf(status);
}

/** Klaviyo lists several reasons; an address that only unsubscribed is not dead. */
export function suppressionOf(text: string): "opted_out" | "suppressed" | undefined {
  if (isNothing(text) || isNo(text)) return undefined;
  const reasons = text
    .split(/[\s,;|]+/)
    .map(columnKey)
    .filter(Boolean);
  return reasons.length > 0 && reasons.every((reason) => signOf(reason) === "out") ? "opted_out" : "suppressed";
}

/** Words of a status, a reason or a type that may be about anything: an opt-out, or a suppressed address. */
const OUT_WORDS = [
  "unsub[a-z]*\\d* opt(ed)?out\\d* (global(ly)?|group|list|manual(ly)?|self|auto(matic)?(ally)?|user|admin)(unsub[a-z]*|opt(ed)?out) bl(ock|ack)listed donot(email|contact|mail)",
  "noemails? nomarketing nonewsletters? dnc dne onholdoptout (un|non)marketable nonmarketingcontacts? (kein|nicht)marketingkontakte? contactnonmarketing contactono(de)?marketing contattonon(di)?marketing contatonao(de)?marketing (niet|geen)marketingcontact abgemeldet abbestellt desabonnee? desinscrite? (dad[oa])?debaja desuscrit[oa] disiscritt[oa]",
  "leiratkozott dezabonat[a]? απεγγραφ[α-ω]* descadastrad[oa] cancelouinscricao uitgeschreven afgemeld wypisan[yae]",
  "werbewiderspr(?:uch|ueche) werbesperre werbeverbot",
  // The names of lists and groups
  "optouts? bl(ack|ock)list donot(email|contact|mail)list dnclist desabonnes desinscrits bajas desuscrit[oa]s disiscritti descadastrad[oa]s",
  "abgemeldete abmelder abmeldungen sperrliste afmeldingen wypisani",
  // Turkish, the languages of the north, Czech and Slovak; Russian and Ukrainian; Chinese, Korean and Japanese
  "aboneliktencikt[a-z]+ abonelikiptali? avregistrerad[ea]? avanmald afmeldt frameldt avmeldt peruut(?:ettu|tanut) odhlasen[aey]?",
  "отписан[аы]? отписал[а-я]+ отписка відписан[ао]? відписав[а-я]* 已?(?:退订|退訂|取消订阅|取消訂閱) 未(?:订阅|訂閱) 拒收 拒绝接收 拒絕接收 黑名单 黑名單",
  "(?:(?:تم)?الغاء|الغي|الغى)الاشتراك غيرمشترك הוסר(?:ה)? הסיר(?:ה)? ביטל(?:ה)?הרשמה לאמנוי 수신거부 수신차단 구독취소 구독해지 탈퇴 配信停止 配信不要 配信解除 登録解除 購読解除 購読停止 受信拒否 退会済?",
].flatMap((line) => line.split(" "));
/** Words that mean an opt-out in any column: `unsubscribed`, `newsletter-optout`, `Please unsubscribe`. */
const STANDING_ANYWHERE = any(
  ...OUT_WORDS.map(
    (word) =>
      `(?:please|pls|bitte|wantsto|askedto)?(?:sms|texts?|whatsapp|e?mail|newsletter|marketing)*${word}(?:(?:on|am|le|el|il|em|op|dnia)?\\d+)?`,
  ),
);
/** A key of JSON, or a word before a colon, with a negative answer: `"unsubscribed":false`, `Werbesperre: nein`. */
const ANSWERED_NO = new RegExp(`[:=]\\s*(?:"?(?:false|${NO}|0|null)"?|"")[\\s}\\]]*$`, "iu");
/** Whether one of several words or tags in a cell is such a word. */
export const saysOut = (value: string): boolean =>
  value
    .split(/[,;|\n]/)
    .filter((word) => !ANSWERED_NO.test(word))
    .flatMap((word) => (/[:=]/.test(word) ? [word, ...word.split(/[:=]/)] : [word]))
    .some((name) => STANDING_ANYWHERE.test(columnKey(name)));
/** A no among several choices. */
export const A_NO = /\bfalse\b|unsub|opt(?:ed)?[ _-]?out/i;
const STANDING_OUT = any(
  ...OUT_WORDS,
  CANCELED_BY,
  "blocked stop(ped|all)? arret removed deleted noconsent unerwue?nscht rejetee? redacted ausgetragen gesperrt baja archived revoked",
  "widerrufen gel(?:o|oe)scht erased gdprdeleted anonymi[sz]ed avregistrerad aboneliktencikti unactivated",
  "заблокирован[аы]? заблокован[ао]? bloque[e]? bloquead[oa] bloccat[oa] geblokkeerd zablokowan[ye] removid[oa] eliminad[oa] eliminat[oa] borrad[oa] exclu(?:id[oa]|ded|e)? esclus[oa] ausgeschlossen uitgesloten wykluczon[yae] supprimee? usuniet[ya] verwijderd entfernt manuallydeactivated",
  "zuru?e?ckgewiesen abmeldung widerruf widersprochen widerspruch bajavoluntaria not(?:yet)?opt(?:ed)?in resilie[e]? gekundigt gekuendigt",
  // Who never subscribed elsewhere
  "(?:non|not|never)(?:yet)?subscri(?:bed|bers?) (?:nicht|niemals)abonniert nonabonnee? no(?:esta)?suscrit[oa] noniscritt[oa] naoinscrit[oa] niet(?:ingeschreven|aangemeld) niezapisan[ya]",
  "(?:former|ex)subscribers? anciens?abonnes? askedtoberemoved (?:only)?(?:transactional|service)(?:e?mails?|messages?)?only onlytransactional reddetti (?:nur|uniquement|seulement|solo|so|apenas|alleen|tylko)(?:transa[kcn]|service|servizio|servicio)[a-z]* (?:dsgvo|rgpd|avg|rodo)(?:geloscht|loschung|supprime|eliminad[oa]|verwijderd|usuniety)",
  "withdrawn nopermission optoutrequested cancellat[oa] no(?:more)?(?:e?mails?|marketing|newsletters?|contact|communications?|promotions?|sms|texts?)",
);
const STANDING_SUPPRESSED = any(
  "(hard|permanent)?bounced? bounced?(?:hard|perm[a-z]+|definit[a-z]+|dur[oa]?) (?:rebond|rebote|rimbalzo|rejeicao)(?:perm[a-z]+|definit[a-z]+|dur[oa]|hard) (?:harter|dauerhafter|permanenter)bounce e?mail(?:hard)?bounced? e?mail(?:spam)?complain[a-z]* gebounce?d?t? rebotad[oa] rimbalzat[oa] devolvid[oa] odbit[aey](?:twardo)? bereinigt nettoyee? opgeschoond bade?mail(?:address)? cleaned (spam|direct|iss?p)?complain[a-z]* spam(report(ed)?)? mark(?:ed)?asspam",
  "(?!un|not)[a-z]*suppressed markedspam abused? bouncing junk quarantined mailblocked",
  "feedbackloop previous(?:spamcomplaint|bounced?) reportedspam (?:contact)?flaggedasspam markedasjunk rejectedby(?:the)?(?:mail)?server (?:abuse|fbl)complain[a-z]* (?:spam)?beschwerde plainte rebond reclamo queja klacht skarga e?mail(?:address)?invalid onholdbounced?",
  "недоступ[а-я]+ недеиствит[а-я]+ жалоба(?:наспам)? скарга(?:наспам)? 退信 投诉 投訴 无效 無效 반송 스팸신고 不達 配信エラー 迷惑メール報告",
  "(shared|domain|global)suppression nomxrecord invalid(email|address)? undeliverable unzustellbar held",
);
/** A permanent failure as mail servers write it: `5.1.1`, `550 No such user`; Mailgun has 605 to 607 for what it keeps back. */
const PERMANENT_FAILURE = /^(?:5(?:\.\d{1,3}\.\d{1,3}|\d\d)|60[5-7])(?:[\s:;-]|$)/;

const TRANSIENT_FAILURE = /^4(?:\.\d{1,3}\.\d{1,3}|\d\d)(?:[\s:;-]|$)/;
/** Whether the reason of an end is a bounce or a complaint. */
export const saysDead = (value: string): boolean =>
  /^(?:hard|permanent)?bounce[ds]?$/.test(columnKey(value)) || STANDING_SUPPRESSED.test(columnKey(value));
export const saysTransient = (value: string): boolean => TRANSIENT_FAILURE.test(value);
export const saysPermanent = (value: string): boolean =>
  PERMANENT_FAILURE.test(value) || /^(?:hard|permanent)/.test(columnKey(value));

/** Replies of a mail server about an address that does not exist: `No such user here`, `Domain is unknown`. */
const NO_SUCH =
  /адрес\p{L}* не существует|адреса не існує|\b(?:no such|unknown|invalid|non-?existent|bad destination)\b.{0,20}\b(?:user|mailbox|recipient|address|domain|account)\b|\b(?:user|mailbox|recipient|address|domain|account)\b.{0,60}\b(?:unknown|does ?n[o']t exist|does not exist|not found|unavailable|rejected|invalid)\b/iu;
/** Words that mean a permanent bounce in any column. */
const SUPPRESSED_ANYWHERE = any(
  "hardbounce[ds]? onholdbounced? suppressionlist spamcomplaint spamreport(?:ed)? mark(?:ed)?asspam (?:contact)?flaggedasspam bouncerule",
);
/** A quick check, because few cells have one of these words and every cell of a file is checked. */
const MAY_SUPPRESS = /bounce|spam|suppress/i;
/** Whether a text means a permanent bounce or a complaint. */
export const saysSuppressed = (value: string): boolean =>
  MAY_SUPPRESS.test(value) && value.split(/[,;|\n]/).some((word) => SUPPRESSED_ANYWHERE.test(columnKey(word)));

/** Beginnings of a status with further text: `Opted out (STOP)`, `Bounced - mailbox full`. */
const BEGINS_OUT =
  /^(?:(?:un|non)(?:market|mail|e?mail|contact)able|退会|解約|配信停止|購読停止|unsub|opt(?:ed)?out|bl(?:ock|ack)listed|donot(?:email|contact)|abgemeldet|desabonn|desinscri)/;
const BEGINS_SUPPRESSED = /^(?:hard)?bounced|^(?:spam)?complain|^spamreport|^cleaned|^suppressed/;

/** The last part of the name of an event: `users.messages.email.Unsubscribe`. */
export const eventIn = (name: string): string => /[a-z]\.([a-z]+)$/i.exec(name)?.[1] ?? "";

/** The only words for a yes in a status of anything: `Opt-in`, `Double opted in`. */
export const agreedIn = (status: string): "opted_in" | undefined =>
  /^(?:re|double|single|confirmed)?opt(?:ed)?in$/.test(columnKey(status)) ? "opted_in" : undefined;

/** The meaning of a status word in any column; undefined for all other words. */
export function standingOf(value: string): "opted_out" | "suppressed" | undefined {
  const key = columnKey(value);
  if (SOFT.test(key) || WORDING.test(key)) return undefined;
  const isDead = STANDING_SUPPRESSED.test(key) || BEGINS_SUPPRESSED.test(key);
  if (isDead || PERMANENT_FAILURE.test(value) || NO_SUCH.test(value)) return "suppressed";
  const isOut =
    [key, columnKey(withoutRemark(value))].some((name) => STANDING_OUT.test(name) || STANDING_ANYWHERE.test(name)) ||
    BEGINS_OUT.test(key) ||
    UNCONFIRMED.test(key) ||
    isSwitchedOff(value);
  return isOut ? "opted_out" : undefined;
}
