// Texts of hosted pages and of the footer of mails, by language (TPC-4, CHC-4). Texts of a workspace, such as the names
// of its topics, are shown as they are.
import { type FooterWords, footerWordsFor, languageCode } from "./footer-words.ts";

const en = {
  /** Above the button: nothing has happened yet. */
  ask: "Press the button to get no more marketing email from this sender.",
  /** The effect of unsubscribing. */
  noMoreMail: "You will get no more marketing email from this sender.",
  unsubscribed: "You are unsubscribed",
  choose: "Choose what you want to hear about.",
  save: "Save",
  saved: "Your choice is saved.",
  noTopics: "This sender has no topics to choose from.",
  otherwise: "Or unsubscribe from all marketing email of this sender.",
  /** The button and the subject of the mail that asks to confirm an opt-in. */
  confirm: "Confirm your subscription",
  confirmAsk: "Somebody, hopefully you, asked for messages to this address. Please confirm that it was you.",
  confirmIgnore: "If it was not you, ignore this mail: you will get nothing else.",
  /** Above the button: nothing has happened yet. */
  confirmPage: "Press the button to confirm that you want these messages.",
  confirmed: "Your subscription is confirmed",
  confirmedMore: "You will get these messages from now on.",
  confirmGone: "This link no longer applies",
  confirmGoneMore: "Nothing was changed. Sign up again to get a new link.",
};

type PageWords = { [N in keyof typeof en]: string };
type Translation = FooterWords & PageWords;

const translations: Readonly<Record<string, PageWords>> = {
  en,
  de: {
    ask: "Mit der Schaltfläche melden Sie sich von allen Werbe-E-Mails dieses Absenders ab.",
    noMoreMail: "Sie erhalten von diesem Absender keine Werbe-E-Mails mehr.",
    unsubscribed: "Sie sind abgemeldet",
    choose: "Wählen Sie, worüber Sie informiert werden möchten.",
    save: "Speichern",
    saved: "Ihre Auswahl ist gespeichert.",
    noTopics: "Dieser Absender bietet keine Themen zur Auswahl.",
    otherwise: "Oder melden Sie sich von allen Werbe-E-Mails dieses Absenders ab.",
    confirm: "Anmeldung bestätigen",
    confirmAsk:
      "Jemand, hoffentlich Sie, hat Nachrichten an diese Adresse bestellt. Bitte bestätigen Sie, dass Sie es waren.",
    confirmIgnore: "Waren Sie es nicht, ignorieren Sie diese E-Mail: Sie erhalten nichts weiter.",
    confirmPage: "Bestätigen Sie mit der Schaltfläche, dass Sie diese Nachrichten erhalten möchten.",
    confirmed: "Ihre Anmeldung ist bestätigt",
    confirmedMore: "Sie erhalten diese Nachrichten ab jetzt.",
    confirmGone: "Dieser Link gilt nicht mehr",
    confirmGoneMore: "Es wurde nichts geändert. Melden Sie sich erneut an, um einen neuen Link zu erhalten.",
  },
  fr: {
    ask: "Cliquez sur le bouton pour ne plus recevoir d’e-mails promotionnels de cet expéditeur.",
    noMoreMail: "Vous ne recevrez plus d’e-mails promotionnels de cet expéditeur.",
    unsubscribed: "Vous êtes désabonné",
    choose: "Choisissez les sujets qui vous intéressent.",
    save: "Enregistrer",
    saved: "Votre choix est enregistré.",
    noTopics: "Cet expéditeur ne propose aucun sujet au choix.",
    otherwise: "Ou désabonnez-vous de tous les e-mails promotionnels de cet expéditeur.",
    confirm: "Confirmez votre inscription",
    confirmAsk:
      "Quelqu’un, vous sans doute, a demandé des messages à cette adresse. Veuillez confirmer qu’il s’agit bien de vous.",
    confirmIgnore: "Si ce n’est pas vous, ignorez cet e-mail : vous ne recevrez rien d’autre.",
    confirmPage: "Cliquez sur le bouton pour confirmer que vous souhaitez recevoir ces messages.",
    confirmed: "Votre inscription est confirmée",
    confirmedMore: "Vous recevrez désormais ces messages.",
    confirmGone: "Ce lien n’est plus valable",
    confirmGoneMore: "Rien n’a été modifié. Inscrivez-vous à nouveau pour recevoir un nouveau lien.",
  },
  es: {
    ask: "Pulse el botón para no recibir más correos promocionales de este remitente.",
    noMoreMail: "No recibirá más correos promocionales de este remitente.",
    unsubscribed: "Se ha dado de baja",
    choose: "Elija sobre qué temas quiere recibir mensajes.",
    save: "Guardar",
    saved: "Su elección se ha guardado.",
    noTopics: "Este remitente no ofrece temas para elegir.",
    otherwise: "O dese de baja de todos los correos promocionales de este remitente.",
    confirm: "Confirme su suscripción",
    confirmAsk: "Alguien, seguramente usted, pidió mensajes para esta dirección. Confirme que fue usted.",
    confirmIgnore: "Si no fue usted, ignore este correo: no recibirá nada más.",
    confirmPage: "Pulse el botón para confirmar que desea recibir estos mensajes.",
    confirmed: "Su suscripción está confirmada",
    confirmedMore: "A partir de ahora recibirá estos mensajes.",
    confirmGone: "Este enlace ya no es válido",
    confirmGoneMore: "No se ha cambiado nada. Suscríbase de nuevo para recibir otro enlace.",
  },
  it: {
    ask: "Premi il pulsante per non ricevere più e-mail promozionali da questo mittente.",
    noMoreMail: "Non riceverai più e-mail promozionali da questo mittente.",
    unsubscribed: "Iscrizione annullata",
    choose: "Scegli gli argomenti che ti interessano.",
    save: "Salva",
    saved: "La tua scelta è stata salvata.",
    noTopics: "Questo mittente non offre argomenti tra cui scegliere.",
    otherwise: "Oppure annulla l’iscrizione a tutte le e-mail promozionali di questo mittente.",
    confirm: "Conferma la tua iscrizione",
    confirmAsk: "Qualcuno, probabilmente tu, ha chiesto messaggi a questo indirizzo. Conferma di essere stato tu.",
    confirmIgnore: "Se non sei stato tu, ignora questa e-mail: non riceverai altro.",
    confirmPage: "Premi il pulsante per confermare che desideri ricevere questi messaggi.",
    confirmed: "La tua iscrizione è confermata",
    confirmedMore: "Da ora riceverai questi messaggi.",
    confirmGone: "Questo link non è più valido",
    confirmGoneMore: "Non è stato modificato nulla. Iscriviti di nuovo per ricevere un nuovo link.",
  },
  pt: {
    ask: "Prima o botão para não receber mais e-mails promocionais deste remetente.",
    noMoreMail: "Não receberá mais e-mails promocionais deste remetente.",
    unsubscribed: "A subscrição foi cancelada",
    choose: "Escolha os assuntos que lhe interessam.",
    save: "Guardar",
    saved: "A sua escolha foi guardada.",
    noTopics: "Este remetente não tem assuntos à escolha.",
    otherwise: "Ou cancele a subscrição de todos os e-mails promocionais deste remetente.",
    confirm: "Confirme a sua subscrição",
    confirmAsk: "Alguém, provavelmente você, pediu mensagens para este endereço. Confirme que foi você.",
    confirmIgnore: "Se não foi você, ignore este e-mail: não receberá mais nada.",
    confirmPage: "Prima o botão para confirmar que pretende receber estas mensagens.",
    confirmed: "A sua subscrição está confirmada",
    confirmedMore: "A partir de agora receberá estas mensagens.",
    confirmGone: "Esta ligação já não é válida",
    confirmGoneMore: "Nada foi alterado. Inscreva-se de novo para receber uma nova ligação.",
  },
  nl: {
    ask: "Druk op de knop om geen reclamemails meer van deze afzender te ontvangen.",
    noMoreMail: "U ontvangt geen reclamemails meer van deze afzender.",
    unsubscribed: "U bent afgemeld",
    choose: "Kies waarover u berichten wilt ontvangen.",
    save: "Opslaan",
    saved: "Uw keuze is opgeslagen.",
    noTopics: "Deze afzender heeft geen onderwerpen om uit te kiezen.",
    otherwise: "Of meld u af voor alle reclamemails van deze afzender.",
    confirm: "Bevestig uw aanmelding",
    confirmAsk: "Iemand, hopelijk u, heeft berichten op dit adres aangevraagd. Bevestig dat u dit was.",
    confirmIgnore: "Was u het niet, negeer deze mail dan: u ontvangt verder niets.",
    confirmPage: "Druk op de knop om te bevestigen dat u deze berichten wilt ontvangen.",
    confirmed: "Uw aanmelding is bevestigd",
    confirmedMore: "U ontvangt deze berichten vanaf nu.",
    confirmGone: "Deze link is niet meer geldig",
    confirmGoneMore: "Er is niets gewijzigd. Meld u opnieuw aan voor een nieuwe link.",
  },
  pl: {
    ask: "Naciśnij przycisk, aby nie otrzymywać e-maili marketingowych od tego nadawcy.",
    noMoreMail: "Nie będziesz otrzymywać e-maili marketingowych od tego nadawcy.",
    unsubscribed: "Wypisano z listy",
    choose: "Wybierz tematy, o których chcesz otrzymywać wiadomości.",
    save: "Zapisz",
    saved: "Twój wybór został zapisany.",
    noTopics: "Ten nadawca nie oferuje tematów do wyboru.",
    otherwise: "Albo wypisz się ze wszystkich e-maili marketingowych tego nadawcy.",
    confirm: "Potwierdź subskrypcję",
    confirmAsk: "Ktoś, prawdopodobnie Ty, zamówił wiadomości na ten adres. Potwierdź, że to Ty.",
    confirmIgnore: "Jeśli to nie Ty, zignoruj tę wiadomość: nie otrzymasz nic więcej.",
    confirmPage: "Naciśnij przycisk, aby potwierdzić, że chcesz otrzymywać te wiadomości.",
    confirmed: "Subskrypcja została potwierdzona",
    confirmedMore: "Od teraz będziesz otrzymywać te wiadomości.",
    confirmGone: "Ten link nie jest już ważny",
    confirmGoneMore: "Nic nie zostało zmienione. Zapisz się ponownie, aby otrzymać nowy link.",
  },
};

export interface Language {
  code: string;
  words: Translation;
}

/** By the subscriber's locale, else by what the browser prefers; English for every other language. */
export function languageOf(locale: unknown, acceptLanguage = ""): Language {
  const code = languageCode(locale, acceptLanguage);
  return { code, words: { ...footerWordsFor(code), ...(translations[code] ?? en) } };
}
