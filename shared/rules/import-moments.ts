// Which names of columns say when somebody agreed (AMB-132).

/** A longer name is not tried: the form below has more than one way through a text. */
const MAX_MOMENT = 60;
/** A name that is nothing but words for a consent and for a time: no time of a request, a reminder or a mail. */
const OF_A_MOMENT = new RegExp(
  `^(?:${[
    "subscription subscribed subscriber subscribe confirmation confirmed confirm permission agreement agreed acceptance accepted accepts accept",
    "consented consents consent registration registered signedup signup joined double single optin opted opt in newsletter marketing",
    "emails email mails mail sms whatsapp text status state granted given obtained collected timestamp datetime date time at on of the is was",
    "since first last updated update changed change modified when einwilligung zustimmung anmelde(?:datum)? anmeldung angemeldet abonniert",
    "bestatigung bestatigt erteilt werbe werbung zeitpunkt datum zeit seit der des am um consentement inscription inscrit abonnement",
    "abonne acceptation accepte recueilli depuis de du la le suscripcion consentimiento suscrito aceptacion alta fecha desde del el",
    "iscrizione iscritto consenso accettazione dal il data della di consentimento inscricao subscricao inscrito assinatura aceite em da do toestemming",
    "gegeven ingeschreven inschrijving aangemeld aanmelding sinds op van zgody zgoda zapisu zapisany subskrypcji od dnia utc gmt",
    "nieuwsbrief nyhetsbrev nyhedsbrev boletin infolettre newsletters newslettera a al na no aux au les alla zum zur fur voor do wyrazenia udzielenia 同意 登録 購読 開始 承諾 許可 配信 メルマカ 日時 日 s d",
  ]
    .flatMap((line) => line.normalize("NFKD").split(" "))
    .join("|")})+$`,
);

export const isOfMoment = (key: string): boolean => key.length <= MAX_MOMENT && OF_A_MOMENT.test(key);
