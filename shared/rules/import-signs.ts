// Which names of columns say something of consent, and what (AMB-132).
import { isTakenBack, saysEnded, saysNothing } from "./import-endings.ts";
import { isMessageLog, logColumn } from "./import-message-logs.ts";
import { columnKey, isLikeEmail, isUsualName, keysOf, perHeader } from "./import-names.ts";
import { isOfPurchase } from "./import-purchases.ts";
import { isOfMoment } from "./import-times.ts";

/**
 * What a true value in the column says: yes, an opt-out, or that the address is suppressed. Where something else may be
 * asked, only a no counts; of a status of no particular thing only the words for a negative, of several choices one that is
 * a no, of a code one below zero, and in a column of anything else the words that stand for nothing else. An endpoint of
 * Pinpoint is one that is not in use.
 */
type Sign = "in" | "asked" | "out" | "suppressed" | "status" | "choices" | "code" | "endpoint" | "word";

export type SignedChannel = "email" | "sms" | "chat_app";

/** A name that says something of consent, and of which channels. */
export interface SignedName {
  sign: Sign;
  channels: readonly SignedChannel[];
  /** It names no channel: the row may say of which it is. */
  isUnnamed?: true;
  /** It names a channel and nothing else: a yes or a no there is one to that channel. */
  isBare?: true;
  /** A time there is the moment of a yes. */
  isMoment?: true;
  /** A time there is when it ends, and may be one to come. */
  isUntil?: true;
  /** A time there is a yes, though no other column says one. */
  isProof?: true;
  /** Its answers may be numbered: 1 is a yes, 2 a no; of a status each but 1. */
  isNumbered?: true;
  /** What it is of, where another column may say why or how. */
  of?: "bounce" | "hard" | "suppression" | "reason" | "event" | "address" | "code";
  /** A status of customers or leads: who is inactive or pending there buys nothing. */
  isOfTrade?: true;
  /** A status of something that people pay for again and again: who canceled or let it end may still want mail. */
  isOfPurchase?: true;
}

/** Any of the forms, between spaces. */
const any = (...lines: string[]) => new RegExp(lines.flatMap((line) => line.normalize("NFKD").split(" ")).join("|"));

// Names about something else: the reason, the link or the count of a consent, what was opened, an order that was declined.
const ASIDE = any(
  "risk$ probab likelihood propensity ^predict reason (?<!excludedfrom|^e?mail|^sms|^marketing)campaign title url link token hash$ (?:unsub(?:scribe[rd]?)?|optout)(?:key|code|id|u?uid|guid)$ ^listunsubscribe$ page$ popup shown$ displayed$ language locale$ sprache$ langue$ idioma$ lingua$ (?<!be)taal$ jezyk$ (?:mails?|newsletters?)received (?:newsletter|subscri(?:ption|ber)|consent|optin)(?:id|version|mode|format|score|rating|revenue|coupon|discount|amount|edition|variant)$ rate$ count number ^total bounces$",
  "^(marketing)?emailsbounced bouncede?mails$ cookie analytics tracking totrack softbounc bounce[ds]?soft expir ablauf gu?e?ltigbis validuntil caduc scadenza vervald wygas (?<!newsletter|mail|marketing|sms)terms privacy source$ method$ (?<!hir)level$ (?<!optin|confirmation)pending(?!optin|confirmation) open click",
  "(?<!con)sent$ delivered$ order payment card invoice purchase pedido pago compra commande paiement ordine",
  "pagament rechnung zahlung betaling zamow ^(?:vertrag|contract)(?!.*(?:mail|news|werb|market)) gelesen gesehen geo?e?ffnet gelezen geopend grund$ raison motivo reden$ powod anzahl nombrede aantal liczba",
);

const SUPPRESSED = any(
  "(?<!demandede)suppress bounced hardbounce isbounce ^bounce(d?(?:at|am|on|le|el|il|op)|date|datum|time|type|category|class|classification|status)?$ emailbounce bounceback complain cleaned",
  "^npai$ ^(?:ox)?e?mailfailed$ rejet(?:definitif|permanent) quarantin e?mail(address)?(is)?(invalid|disabled|notvalid) notvalide?mail e?mailadresseinvalide",
  "adressee?mailinvalide e?mail(adresse)?(ist)?(ungultig|ungueltig|nichtgultig) ungultigee?mail",
  "ungueltigee?mail e?mailinvalid[eoa] e?mailnonvalid[eoa] indirizzo(e?mail)?nonvalido",
  "correo(electronico)?(invalido|novalido|erroneo) e?mailno?valido ongeldige?mail e?mail(adres)?ongeldig",
  "e?mailnieprawidlow nieprawidlowye?mail nieprawidlowyadres cleantime spamreport (?<!anti)spam(at|date|time)?$ abuse(?:report|complain)",
  "spammed markedas(?:junk|spam) flaggedasspam rue?ckla[eu]+fer bade?mail e?mail(?:address)?\\d?(?:is)?bad$ invalidemail (?:un|non|not)deliverable unzustellbar zuruckgewiesen zurueckgewiesen beschwerde plainte rebond rebot queja",
  "quejas suprimid supprime rimbalz reclamo soppress devolvid reclamac gebounc?e?[td] studsa[dt] klacht onderdrukt",
  "不達 配信エラー 迷惑メール報告 odbity odbite odbita odbici odrzucon skarga unterdruckt unterdrueckt emailsuspended",
);

const OUT = any(
  "unsub unsuscri newsletterbis$ (?:subscribed|newsletter)until$ optout optedout optingout robinson dont?o?t?(e?mail|contact|send|market)",
  "donot(?!modify|edit|delete|change|track|sell|share) nolonger(contact|e?mail|send) nomail noemail nomarketing nonewsletter nocontact no(?:more)?(?:sms|texts) blacklist",
  "blocklist blocked denylist revoked revocat withdraw ^dnc(email|mail|sms)?$ dnc$ ^(is)?dne$ removed?frommailing emailoff(?!er|ic|lin)",
  "marketingoff ^(is|msg)?dnd dnd$ rejects?(ed)?(e?mail|sms|market|newsletter|promo) globallyunsub no[nt]subscribed declined excluded?(?:from|for)(?:campaign|e?mail|market|newsletter) (marketing|e?mail|contact|sms)notallowed",
  "marketingsuspended ^deactivated(at|on|date)?$ ^deaktiviert(am|seit)?$ ^(?:desactiv|disattiv|desativ)(?:e|ee|ado|ada|ato|ata)(?:le|el|il|em)?$ ^gedeactiveerd(op)?$ ^(is)?deleted(at|on|date)?$ ^removed(at|on|date)$ ^(is)?deceased(at|on|date)?$ ^verstorben ^nontransactional$ ^archived?(at|on|date|time)?$ (un|non)(market|mail|e?mail|contact)able invalididentifier",
  "(?:global(?:ly)?|email|marketing)(?:is)?ineligible",
  "^(?:is|has|hat)?(?:not?|never|nicht|keine?n?|ohne|pas|sans|sin|senza|sem|non|nao|niet|geen|zonder|nie|bez)(?:yet|mehr)?(?:opt(?:ed)?in|subscri|consent|agree|accept|permi|allow|einwillig|zustimm|angemeld|abonn|inscri|suscri|iscri|consen|acept|aceit|toestem|ingeschr|aangem|zgod|zapis)",
  "(?:no|not|without)(?:consent|permission)(?!s?set) (optin|confirmation)pending pending(optin|confirmation) ^(is)?unconfirmed$ ^(gdpr)?forgetme$ righttobeforgotten (?:gdprdelete|erasure|deletion)request lo?e?sch(?:antrag|ersuchen|wunsch|anfrage) demande(?:de|d)(?:suppression|effacement) (?:solicitud|solicitacao)(?:de)?(?:supresion|eliminac|exclusao) verwijder(?:ings)?verzoek (?:wniosek|zadanie)ousun",
  // German
  "abgemeldet abbestell abmeldung abmelde ausgetragen austragung widerruf(?!s[bfr]) widerspr werbesperre gesperrt",
  "sperrliste sperrvermerk mailsperre kontaktsperre zuru?e?ckgezogen entzogen keine?(?:n|r)?(?:werbung|newsletter|e?mails?|sms|whatsapp) keinkontakt nichtanschreiben nichtkontaktieren",
  "nichtmailen nichtstor nichtstoer nichtmehr gekundigt gekuendigt",
  "keine?(?:einwilligung|einverstandnis|einverstaendnis|zustimmung|erlaubnis)",
  // French
  "desabonn desinscri pasdesms nepas neplus nesouhaite ^stop(e?mail|sms|pub|newsletter|contact|market) consentementretire listenoire refus oppos(e|ition) bloque retrait exclue?(de|des|du)?(e?mail|news|market|campagne)",
  // Spanish
  "dadode?baja dadadebaja diode?baja ^baja(?!da|cal) debaja$ fechabaja bajanewsletter desuscri dessuscri cancelad",
  "cancelacionde(la)?suscripcion ^no(contactar|enviar|molestar|desea|quiere) listanegra bloquead revoca rechaza(publicidad|correo|e?mail|news|market|promo)",
  // Italian
  "disiscri opposizion cancellat(?!ion) cancellaz ^non(disturb|contattare|inviare|mandare|desidera|vuole) nonpiu listanera bloccat",
  // Portuguese
  "descadastr desinscri dessubscri desubscri ^(?:datadea?)?remocao ^nao(perturb|incomod|contatar|contactar|enviar|deseja|quer) cancelou",
  // Dutch
  "uitgeschreven uitschrij afgemeld afmeld opgezegd uitgeslotenvan ^niet(storen|mailen|smsen|e?mailen|contact|benader) geene?mail geensms nietmeer",
  "geennieuwsbrief geenreclame geblokkeerd zwartelijst ingetrokken intrekking",
  // Polish
  "wypisan wypis rezygn zrezygn ^nie(wysyl|kontakt|subskryb|chce|wyraza) czarnalista zablokowan brakzgod",
  "wycofan cofniet niezgod sprzeciw odmowa",
  // Japanese, without the marks that soften a sign
  "配信停止 配信不要 配信解除 登録解除 購読解除 購読停止 受信拒否 退会 解約 フラックリスト 送信禁止 連絡不可",
  // Turkish; Swedish, Danish, Norwegian and Finnish; Czech and Slovak
  "aboneliktencik aboneliksonlan abonelikiptal listedencik karaliste istemiyor reddet reddedil iptaledil (?:izni|izin)yok izinsiz onaysiz",
  "avregistrer avanmal avmeld afmeld frameld nejtack reservert reservera[dt] peruut markkinointikielto",
  "odhlas odvolan nesouhlas nesuhlas nezasilat neposilat neposielat",
  // Hungarian, Romanian, Greek; Russian and Ukrainian, Chinese, Korean
  "leiratkoz dezabon απεγγραφ διαγραφ",
  "الغاءالاشتراك الغىالاشتراك غيرمشترك הסרה הוסר ביטולהרשמה ביטולמנוי отписа отписк отказ нерассыл неотправл черныисписок отозва відписа відмов",
  "退订 取消订阅 拒收 拒绝接收 黑名单 退訂 取消訂閱 拒絕接收 黑名單 수신거부 수신차단 구독취소 구독해지 탈퇴",
);

const IN = any(
  "subscribed ^(is)?(email|newsletter|marketing)?subscri(ber|bed|ption|be)$ optin optedin newsletter",
  "accepts?(email|sms|marketing|newsletter|promo|advert) (email|marketing|sms|promo)accept consent permission$",
  "permissionto(send|contact|e?mail|text|sms|market) marketingallowed allow(s|ed)?(e?mail|news|marketing|sms|contact) mailinglist emailme$ cancontact",
  "marketingmaterials?$ ^(is)?(mailable|emailable|contactable|marketable)$ ^msg(e?mail|sms|whatsapp)$",
  "(e?mail|newsletter)frequency receives?(e?mail|sms|text|news|promo|market|offer|update) ^(e?mail|sms|whatsapp)?(marketing|werbung)$ ^werbung(e?mail|sms|whatsapp)$ (email|marketing|sms|whatsapp)(subscri|enabled|agreed|allowed|stat(?:e|us)$) wasubscri (?:e?mail|newsletter|sms|whatsapp|marketing)\\w*subscriptionstat(?:e|us)$ (?:e?mail|sms|whatsapp)channel\\w*stat(?:e|us)$ contactallowed$ ^(?:is)?reachable(?:by|via|per)(?:e?mail|sms|whatsapp)$ (?:e?mail|sms|whatsapp)reachable$",
  "agreed?to(marketing|email|newsletter) wants(email|mail|news) angemeldet abonniert einwillig zustimmung willigeich ichstimme(?!nicht) stimmeich aceitoreceber",
  "zugestimmt werbung(erlaubt|ok|per|via) (mail|sms|newsletter|whatsapp)erlaubt keepme(posted|updated|informed) kontakt(per|via|erlaubt|erlaubnis) darfkontaktiert werbeerlaubnis abonne$ abonnee$",
  "(recevoir|recoit|recibir|recibe|riceve(re)?|recebe[r]?|ontvangt?|ontvangen|otrzymuje|otrzymywac)(les|la|el|los|o|os|le|de|een|dela|des|nos|vos|lo|gli|as)?(e?mail|news|correo|nieuws|novidad|novedad|nouvelle|actu|notizi|nowosc|promo|offre|ofert|offert|boletin|publici|pubblicita|comunica|communica|informa|reclame|reklam)",
  "(mail|news|newsletter|infos?|werbung|angebote)erhalten$ (mail|nieuws|news|aanbiedingen|reclame|informatie)ontvangen$ abonne(alanewsletter|newsletter) ^abonn inscrit consentement accepte",
  "infolettre lettred?informations? suscrit suscriptor suscripcion consiente consentimiento acepta boletin iscritt iscrizione consenso accetta inscrito",
  "inscricao subscricao assinante consentimento aceita aceite subscrito boletim ingeschreven inschrijving aangemeld",
  "toestemming nieuwsbrief zapisan zgod subskryb subskrypc",
  "ニュースレター メルマカ メール配信 メール購読 購読 配信希望 受信許可 配信許可 同意 承諾",
  "(?:eposta|sms|ileti|pazarlama|kampanya|ticari|iys)[a-z]*(?:izin|izni|onay) ebulten bulten(?:abone|$) ^abone$ aboneol",
  "nyhetsbrev nyhedsbrev uutiskirje samtyck samtykk prenumerer tilmeld suostumus markkinointilupa souhlas suhlas odbernovin",
  "الاشتراك مشترك النشرةالبريدية موافقة הסכמה דיוור ניוזלטר hirlevel feliratkoz ενημερωτικ подпис рассылк согласи підпис розсилк 订阅 訂閱 接收邮件 接收郵件 수신동의 마케팅동의 구독",
);

/** Names that may ask for something else, such as a privacy notice: a no there is one to mail, a yes agrees to nothing. */
const ASKED = any(
  "^(gdpr|dsgvo|rgpd|lgpd|rodo)(ok|okay|status|accepted)?$ ^opt$ ^doi$ ^signmeup$ permissionstat(e|us)$ ^(is)?confirmed$ hearfromus (?:like|want|wish|love|happy)to(?:hear|receive|get|know) keepyouinformed etreinforme informiertwerden (may|can)we(contact|e?mail|text) ^contactme can(e?mail|contact|text)",
  "ok(ay)?to(e?mail|contact|sms|text|market) ^send(me|us)?(e?mail|offer|news|promo|market|sms) keepintouch tobecontacted$",
  "(marketing|promotional|promo|commercial)(e?mails|sms|messages|offers)$ (e?mail|sms)(updates|notifications|alerts)$ ^(e?mail|special|exclusive)?offers$",
  "^bulke?mails?$ ^canbe(?:contact|e?mail|text) ^promotions$ ^mailings?$ ^doi(?:confirmed|bestatigt|bestaetigt)$ autori[zs] akkoord einverstand einverstaend accordcommercial magmailen darf\\w*kontaktiert",
  "(?:mailings?|e?mailings?|e?mails?|e?mailcontact|sms|texting|texts|whatsapp|newsletters?|marketing|subscription)(?:is|ist|are|status)*(?:aktiv|active|actif|activo|attivo|ativo|enabled|ok|okay|allowed)$",
  "^(?:preferences?|notifications?|prefs?|settings?|comm?s?prefs?|contact(?:by|via)|reach(?:by|via))(?:e?mails?|sms|whatsapp|newsletters?|marketing)$ (?:e?mail|sms|marketing)campaigns$ ^mailing(?:s|list)?status$ ^abo(?:nnement)?s?status$ ^(?:statut|etat|estado|stato|situacao)(?:de|del|della|do|da|d|la|l)*(?:emailing|e?mail|correo|abonnement|assinatura)$",
  "^(?:mkt|mktg|marketing)perm(?:ission)?s?(?:e?mail|sms|whatsapp)?$ ^active(?:(?:e?mail|newsletter)subscri|subscriber) ^(?:wants|gets)(?:e?mail|market|update|offer|promo|sms|text|news) ^marketing(?:e?mail|sms|whatsapp|and|und)+$",
  "(?:electronic|commercial|marketing|promotional|digital)communications?$ communicationscommerciales$ comunicac(?:iones|oes)(?:comerciales|comerciais|electronicas|eletronicas)$ comunicazionicommerciali$ ^prospection(?:commerciale|e?mail|sms)?$",
  "^permi(?:so|te|sao|ssao|tido|tir)(?:de|para|o|el|la)*(?:e?mail|correo|contact|contat|envi|sms|whatsapp|public|comunic|market)",
  "(?:mailings?|infos?|informationen|news|kontakt|kontaktaufnahme|werbung|angebote|e?mails?|sms|whatsapp)(?:ist)?(?:er|ge)wue?nscht ^(?:handy|mobil)werbung$",
);

const CHANNELS: readonly (readonly [SignedChannel, RegExp])[] = [
  ["email", /(?<!direct)e?mail|newsletter|eposta/],
  [
    "sms",
    /sms|(?<!co)mms|textmess|^text(?:s|ing)?$|(?:not|dont|to|can|may|we|receives?|of|into|no|stop|by|via|send|accepts?|allow)text(?:s|ing|me|you)?$|^(?:handy|mobil)(?:opt|unsub|werb|einwillig|abgemeld)|^cell(?:phone)?(?:opt|unsub|consent|permission)|^text(?:s|ing)?(?:opt|consent|alert|subscri|unsub|market|permission|status|allow|enabled|ok)|mobile(?!.*(?:push|app))/,
  ],
  ["chat_app", /whatsapp|wasubscri|^wa(?:opt|consent|unsub|status|dnd|block)/],
];
const signedChannels = CHANNELS.map(([channel]) => channel);

/** The reason of a negative: where there is one, so was the negative. */
const REASON =
  /^(?!.*(?:rate|count|url|soft))(.*(?:bounced?|suppress\w*|unsub\w*|opt(?:ed)?out|complain\w*|dnc|donotcontact|abmelde|abbestell))(?:reason\w*|source|grund)$/;
const REASON_BEFORE =
  /^(?:motivo|motif|raison|razon|reden|powod)(?:del?|di|da|do|du|van|della|dela)?((?:hardbounce|(?:rebote|rebond|rimbalzo|rejeicao)(?!s?(?:temporal|suave|soft|temporaire|temporane))|desabonn|desinscri|baja|desuscri|disiscri|cancellaz|descadastr|uitschrij|afmeld|wypis|rezygn)\w*)$/;

/** A negative of every way to reach somebody: nobody is to be contacted. */
const EVERYWHERE =
  /kontaktsperre|(?:not|no|nolonger|kein|nicht|mehr|pas|plus|niet|meer|geen|nie|nao|non|piu)(?:contact|contat|kontakt)|^dnc$|all(?:channels|communications)$/;

/** A status or preference that may be one of mail, or of anything; the reason or the type of an entry in files of suppressed addresses. */
const STATUS_OF_ADDRESS =
  /e?mail.*(?:verification|validation|validity|deliverability)(?:status|result)?$|e?mail(?:delivery)?error$|^(?:neverbounce|zerobounce)/;
const STATUS =
  /^(?:([a-z]+list|subscriber|contact|member|customer|profile|user|list|global(?:er)?|person|recipient|lead|subscription|(?:email)?confirmation|optin|doubleoptin|doi)?(status|state|statut|stato|estado)|status(?:explain|explanation|text|name)|sttext|статус|состояние|стан|状态|狀態|상태|(?:izin|onay)?durumu?|stav|الحالة|סטטוס|(removal|exclusion|deletion|stop)?reason|stopstatus|(event|subscribe)?type|event(?:name)?)$|(?:contact|communication|email|mail|marketing|sms|mobile|whatsapp)(?:permissionstatus|preferences?)$|(?:会員|配信|購読)(?:ステータス|状態|区分)$/;
/** Magento numbers them: 1 is a subscriber, and nothing else is. */
const NUMBERED_STATUS = /^subscriberstatus$/;
/** Whether somebody's data may be kept is another question; whoever says no to it may mean mail too. */
const OF_DATA = any(
  "gdpr dsgvo rgpd lgpd rodo(?![a-z]) kvkk dataproc dataprotec datahandl ^dataconsent personaldata datenverarb datenschutz",
  "donnees trattamento datipers datos dados persoonsgegeven gegevensverw przetwarz danych 個人情報",
);
const OF_MESSAGES = /mail|news|marketing|sms|whatsapp|werb|publici|pubblicit|promo|offer|メルマカ|配信/;
/** What else people agree to. */
const OF_SOMETHING_ELSE = any(
  "photo foto image(?!ry) bild(?:rechte|er) video recording aufzeichn enregistr medical treatment behandlung health gesundheit surgery",
  "parent guardian eltern child(?:ren)? research forschung survey umfrage biometr location standort geoloc ^(?:voice)?call credit(?!or)",
  "background conditions ^agb agb$ ^cg[uv] 利用規約 規約",
);

/** What is known of people, beside messages or for them. */
const OF_PROFILES = /profil(?:ing|az|ier|ag|ow|ad[oa])|perfil(?:ad|am)/;

/** Messages of others. */
const OF_OTHERS =
  /thirdpart|partneroffer|(?:optin|newsletters?|mails?|mailings?|offers?|offres?|werbung|angebote|infos?)(?:de|des|von|di|dei|del|nos|unserer)*(?:partenaires|partners|partnern|socios|parceiros)$|drittanbieter|drittpartei|(?:des|aux)tiers|terzi|terceros|terceiros|derden/;

/** The code of an error beside its text, as Mailgun writes those of mails that came back. */
const ERROR_CODE = /^(?:error|smtp|bounce|response)?code$/;
const ERROR_TEXT = /^(?:error(?:message|text)?|diagnostic(?:code)?|smtp(?:error|response|message))$/;

/** When somebody left, at AWeber; of a shift, when it ended. */
const STOP_TIME = /^stop(?:time|date|at|on)$/;
/** 0 is for who never confirmed or is switched off, at CleverReach, phpList and AcyMailing. */
const SWITCHED_ON = /^(?:aktiviert|activated|enabled|accept)$/;

/** The choices of somebody among several lists or groups, as JSON or each in a column of its own. */
const CHOICES = /subscription(?:preferences|groups?|states)(?!updated)/;
/** OneSignal: what is below zero is a kind of "not subscribed". */
const CODE = /^notificationtypes$/;

/** A number that is not to be written to; calls are another matter. */
const PHONE_REFUSED =
  /^(?!.*(?:calls?$|push|app))(?=.*(?<!i)phone)(?=.*(?:bl(?:ack|ock)list|opt(?:ed)?out|unsub|^(?:is|msg)?dnd|dnd$))/;

const BARE = /^(?:e?mails?|sms|texts?|textmessages?|whatsapp)$/;
/** A consent that no channel here has. */
const ELSEWHERE =
  /(?:per|via)(?:post|brief)$|push|fax|messenger|telegram|viber|inapp|calls?$|call(?:permission|consent|optin)|phone|telefon|postal|directmail/;

/** Which of several addresses a column is of, as Constant Contact writes it: `Email status - other`. */
const OF_WHICH_ADDRESS = /\s-\s(?:other|work|home)$/i;

/** Without spaces, `fecha de suscripción` would read as its end: `desuscripción`. */
const OF_A_SUBSCRIPTION = /(?:(?<!\p{L})des?[\s_.-]+|(?<=\p{Ll})Des?)(?=su(?:s|bs)cri|inscri|abonn)/giu;

/**
 * What the name of a column says of consent; undefined for one of what no channel here has. One without a channel is of
 * e-mail, and one that forbids all contact is of every channel.
 * @param header the names of the file
 */
export function signedName(name: string, header: readonly string[] = []): SignedName | undefined {
  const key = columnKey(name.replaceAll(OF_A_SUBSCRIPTION, "").replace(OF_WHICH_ADDRESS, ""));
  // A block of houses, beside the rest of a Spanish address.
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
  const isNumbered = sign === "status" ? NUMBERED_STATUS.test(key) : sign === "in" && /optin(?!statusid)/.test(key);
  const numbered = isNumbered && ({ isNumbered: true } as const);
  const moment = sign === "in" && isOfMoment(key) && ({ isMoment: true } as const);
  // Airship has one of these times for who gets mail, and nothing else.
  const proof = key === "commercialoptedin" && ({ isProof: true } as const);
  const until = sign === "out" && /^(?:newsletter|subscribed)(?:bis|until)$/.test(key) && ({ isUntil: true } as const);
  const kind = ofKind(key, sign, negative !== undefined);
  const of = kind && ({ of: kind } as const);
  if (channels.length > 0)
    return { sign, channels, ...of, ...moment, ...until, ...(BARE.test(key) && { isBare: true }), ...numbered };
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
  };
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

/** Whether a name is one of a column as files have them. */
export const isKnownName = (name: string): boolean =>
  isUsualName(name) || isLikeEmail(name) || nameSign(columnKey(name)) !== undefined;

function nameSign(key: string): Sign | undefined {
  if (CODE.test(key)) return "code";
  if (key === "endpointstatus") return "endpoint";
  if (CHOICES.test(key)) return "choices";
  if (STATUS.test(key) || STATUS_OF_ADDRESS.test(key)) return "status";
  if (ASIDE.test(key)) return undefined;
  const sign = signOf(key);
  if (sign === "in" && OF_OTHERS.test(key)) return undefined;
  if ((sign === "in" || /newsletter|marketing(?:e?mail|sms|messag|communic)/.test(key)) && isTakenBack(key))
    return /given|granted|erteilt/.test(key) ? "asked" : "out";
  // A no, or the number of one.
  if (sign === "in" && (saysNothing(key) || /(?:newsletter|consent|optin|marketing)no$/.test(key))) return "asked";
  // Whoever says no to profiles for marketing, or to both, wants none of it.
  if (sign === "in" && OF_PROFILES.test(key)) return OF_MESSAGES.test(key) ? "asked" : undefined;
  if (sign === "out" || sign === "suppressed" || (sign === "in" && OF_MESSAGES.test(key))) return sign;
  const isAsked = sign === undefined && ASKED.test(key);
  if ((sign === undefined && !isAsked) || (!OF_MESSAGES.test(key) && OF_SOMETHING_ELSE.test(key))) return undefined;
  return isAsked || OF_DATA.test(key) ? "asked" : sign;
}

/** What a text without spaces and marks says: in a name, or as the value of a column that is about consent. */
export function signOf(key: string): "suppressed" | "out" | "in" | undefined {
  if (SUPPRESSED.test(key)) return "suppressed";
  if (OUT.test(key) || saysEnded(key)) return "out";
  return IN.test(key) ? "in" : undefined;
}
