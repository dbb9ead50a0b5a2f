// Column names that say with a verb and its object that mail is no longer wanted, with any words in between: `Canceló
// la suscripción a todos los correos`, `Iscrizione annullata`, `Optou por não receber e-mails` (AMB-132).

/** Matches any of the forms, between spaces. */
const any = (...lines: string[]) => new RegExp(lines.flatMap((line) => line.split(" ")).join("|"));

// English, German, French, Spanish and Portuguese, Italian, Dutch, Polish.
const ENDINGS = [
  "objects?(?:ed|ion)?(?:to|from|against) reject refus declin removedfrom removefrom ^neverwant",
  "storn untersag verbot verbiet unerwue?nscht gestoppt stopp abgelehn ablehn abgebrochen beendet geloe?scht austrag ku?e?ndigung",
  "annul oppos revoqu resili",
  "cancel(?:o|a|ou|ad[oa]s?|ar)(?!nce) anul revoc revog rechaz recus denegad retirad oposi(?:cion|cao|tor) opuso elimin removid remocao",
  "annull rifiut negat[oa] opposizion rimoss revocat ritirat",
  "geweiger weiger bezwaar stopgezet beeindig verwijderd",
  "cofn wycof odmow sprzeciw anulow odwol usuniet",
];
const ENDED = any(...ENDINGS);
const BEGINS_ENDED = new RegExp(`^(?:${ENDED.source})`);

const OF_MAIL = any(
  "e?mails? sms whatsapp correo courriel newsletter mailing infolettre nieuwsbrief bolet[ii][nm] marketing rundschreiben wiadomosc",
  "suscri subscri[cp] assinatura inscri iscri abonn?ement abonnement subskryp",
  "werb reklam reclame publicid pubblicit prospection demarchage promo(?!cod|tionscode|tioncode) communicat comunica",
  "consent einwillig zustimm einverst consenso consenti toestem zgod kontakt contact contat contatt",
);

/** Forms without a word for mail, or with a denial in the middle. */
const NOT_WANTED = any(
  "(?:opt(?:o|ou|e|a)?por)no n(?:o|ao|on)(?:recib|receb|ricev|envi|invi|mand|contat|contact|quier|quer|vogli|vorrei|vuole|dese|desid|acept|aceit|accett)",
  "(?:veut|souhaite|desire)(?:plus|pas) geen(?:\\w*ontvangen|aanbied|reclame|nieuws) nie(?:chce|zycze)?otrzymyw",
  "^never(?:e?mail|contact|text|market)(?!ed) ^blocke?mails?$ ^(?:is)?(?:e?mail|contact|newsletter|marketing)s?(?:is)?muted?$ ^removeme$",
  "^left(?:the)?(?:mailing|e?mail|newsletter)?list(?:at|on|date)?$ removedfrom(?:the)?(?:mailing|e?mail|newsletter)?list",
  "^remover(?:da|de)(?:la)?list[ae] (?:e?mail|newsletter|marketing|sms|contact)stop(?:ped|(?:ped)?(?:at|on|date))$",
  "(?:removid[oa]|excluid[oa]|rimoss[oa]|retiree?|eliminad[oa])(?:da|de|du|dalla|del)?(?:la)?list[ae]",
  "(?:mail|mailings?|sms|whatsapp|kontakt|werbe|werbungs|newsletter|anschreib)(?:verbot|stopp|sperre) ^sperre(?:e?mail|sms|whatsapp|newsletter|werbung) werbesperr sperrkennzeichen(?:werb|mail|newsletter)",
);

export const saysEnded = (key: string): boolean => NOT_WANTED.test(key) || (ENDED.test(key) && OF_MAIL.test(key));

const TAKEN_BACK = any(
  "(?:newsletters?|marketing|e?mails?|sms|whatsapp)stop$ (?:newsletters?|optin|consentement|abonnement|inscription|einwilligung|zustimmung|toestemming|werbung|marketing|e?mails?)(?:nein(?:danke)?|non|nee)$",
  "cancell?ed (?:^|newsletters?|consent|optin|marketing|sms|mails?|abonnement)ended ^left(?:the)?newsletter$ newsletterleft(?:at|on|date)?$",
  "disabled deactivat(?:ed|ion) deaktiviert desactiv disattiv desativ gedeactiveerd uitgeschakeld wylacz geblockt blockiert",
  "paused(?!until) pausiert(?!bis) pausad[oa] enpause inpausa gepauzeerd suspended deleted removed",
  "(?<!opt|login|sign|a[ck]tiv[aeo]?(?:or|oder|ou|o)?)ina[ck]tiv(?!it|ec|at) inattiv inativ[oa] inactief nieaktywn",
);
const NOT_GIVEN = any(
  "denied missing fehlt fehlend falta mancante manquant ontbreekt invalid ungue?ltig failed fehlgeschlagen ausstehend",
  "(?:un|not|nicht|non|niet)(?:confirm|conferm|besta|bevestig) niepotwierdz onbevestig pendiente pendente enattente inattesa nicht(?:abgeschlossen|vorhanden)",
);
const OF_WHICH_NOTHING_IS_KNOWN =
  /(?:consents?|optin|einwilligung|zustimmung|consentement|consentimiento|consenso|toestemming)(?:is|ist)?(?:requested|required|needed|unknown|unclear|unklar|erforderlich|benotigt|angefragt|angefordert|requis|requerido|richiesto|vereist|gevraagd)$/;
/** Whether a yes in a column of this name only means that the person was asked, or will be. */
export const saysNothing = (key: string): boolean => OF_WHICH_NOTHING_IS_KNOWN.test(key);

/** Whether the name of a consent says that there is none, or no longer: `Newsletter deaktiviert`, `Consent missing`. */
export const isTakenBack = (key: string): boolean => TAKEN_BACK.test(key) || NOT_GIVEN.test(key);

/** Whether an answer about a consent says that it was taken back: `Révoqué`, `Retirado`. */
export const isEnded = (key: string): boolean => BEGINS_ENDED.test(key);
