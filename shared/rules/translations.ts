// Texts of hosted pages and of the footer of mails, by language (TPC-4, CHC-4). What a workspace writes, such as the names
// of its topics, is shown as it is.

export interface Translation {
  unsubscribe: string;
  /** Above the button: nothing has happened yet. */
  ask: string;
  /** What unsubscribing did. */
  noMoreMail: string;
  unsubscribed: string;
  preferences: string;
  choose: string;
  save: string;
  saved: string;
  noTopics: string;
  otherwise: string;
}

const en: Translation = {
  unsubscribe: "Unsubscribe",
  ask: "Press the button to get no more marketing e-mail from this sender.",
  noMoreMail: "You will get no more marketing e-mail from this sender.",
  unsubscribed: "You are unsubscribed",
  preferences: "Your preferences",
  choose: "Choose what you want to hear about.",
  save: "Save",
  saved: "Your choice is saved.",
  noTopics: "This sender has no topics to choose from.",
  otherwise: "Or unsubscribe from all marketing e-mail of this sender.",
};

const translations: Readonly<Record<string, Translation>> = {
  en,
  de: {
    unsubscribe: "Abmelden",
    ask: "Mit der Schaltfläche melden Sie sich von allen Werbe-E-Mails dieses Absenders ab.",
    noMoreMail: "Sie erhalten von diesem Absender keine Werbe-E-Mails mehr.",
    unsubscribed: "Sie sind abgemeldet",
    preferences: "Ihre Einstellungen",
    choose: "Wählen Sie, worüber Sie informiert werden möchten.",
    save: "Speichern",
    saved: "Ihre Auswahl ist gespeichert.",
    noTopics: "Dieser Absender bietet keine Themen zur Auswahl.",
    otherwise: "Oder melden Sie sich von allen Werbe-E-Mails dieses Absenders ab.",
  },
  fr: {
    unsubscribe: "Se désabonner",
    ask: "Cliquez sur le bouton pour ne plus recevoir d’e-mails promotionnels de cet expéditeur.",
    noMoreMail: "Vous ne recevrez plus d’e-mails promotionnels de cet expéditeur.",
    unsubscribed: "Vous êtes désabonné",
    preferences: "Vos préférences",
    choose: "Choisissez les sujets qui vous intéressent.",
    save: "Enregistrer",
    saved: "Votre choix est enregistré.",
    noTopics: "Cet expéditeur ne propose aucun sujet au choix.",
    otherwise: "Ou désabonnez-vous de tous les e-mails promotionnels de cet expéditeur.",
  },
  es: {
    unsubscribe: "Darse de baja",
    ask: "Pulse el botón para no recibir más correos promocionales de este remitente.",
    noMoreMail: "No recibirá más correos promocionales de este remitente.",
    unsubscribed: "Se ha dado de baja",
    preferences: "Sus preferencias",
    choose: "Elija sobre qué temas quiere recibir mensajes.",
    save: "Guardar",
    saved: "Su elección se ha guardado.",
    noTopics: "Este remitente no ofrece temas para elegir.",
    otherwise: "O dese de baja de todos los correos promocionales de este remitente.",
  },
  it: {
    unsubscribe: "Annulla l’iscrizione",
    ask: "Premi il pulsante per non ricevere più e-mail promozionali da questo mittente.",
    noMoreMail: "Non riceverai più e-mail promozionali da questo mittente.",
    unsubscribed: "Iscrizione annullata",
    preferences: "Le tue preferenze",
    choose: "Scegli gli argomenti che ti interessano.",
    save: "Salva",
    saved: "La tua scelta è stata salvata.",
    noTopics: "Questo mittente non offre argomenti tra cui scegliere.",
    otherwise: "Oppure annulla l’iscrizione a tutte le e-mail promozionali di questo mittente.",
  },
  pt: {
    unsubscribe: "Cancelar a subscrição",
    ask: "Prima o botão para não receber mais e-mails promocionais deste remetente.",
    noMoreMail: "Não receberá mais e-mails promocionais deste remetente.",
    unsubscribed: "A subscrição foi cancelada",
    preferences: "As suas preferências",
    choose: "Escolha os assuntos que lhe interessam.",
    save: "Guardar",
    saved: "A sua escolha foi guardada.",
    noTopics: "Este remetente não tem assuntos à escolha.",
    otherwise: "Ou cancele a subscrição de todos os e-mails promocionais deste remetente.",
  },
  nl: {
    unsubscribe: "Afmelden",
    ask: "Druk op de knop om geen reclamemails meer van deze afzender te ontvangen.",
    noMoreMail: "U ontvangt geen reclamemails meer van deze afzender.",
    unsubscribed: "U bent afgemeld",
    preferences: "Uw voorkeuren",
    choose: "Kies waarover u berichten wilt ontvangen.",
    save: "Opslaan",
    saved: "Uw keuze is opgeslagen.",
    noTopics: "Deze afzender heeft geen onderwerpen om uit te kiezen.",
    otherwise: "Of meld u af voor alle reclamemails van deze afzender.",
  },
  pl: {
    unsubscribe: "Wypisz się",
    ask: "Naciśnij przycisk, aby nie otrzymywać e-maili marketingowych od tego nadawcy.",
    noMoreMail: "Nie będziesz otrzymywać e-maili marketingowych od tego nadawcy.",
    unsubscribed: "Wypisano z listy",
    preferences: "Twoje preferencje",
    choose: "Wybierz tematy, o których chcesz otrzymywać wiadomości.",
    save: "Zapisz",
    saved: "Twój wybór został zapisany.",
    noTopics: "Ten nadawca nie oferuje tematów do wyboru.",
    otherwise: "Albo wypisz się ze wszystkich e-maili marketingowych tego nadawcy.",
  },
};

export interface Language {
  code: string;
  words: Translation;
}

/** By the subscriber's locale, such as `de-AT`, else by what the browser prefers; English for every other language. */
export function languageOf(locale: unknown, acceptLanguage = ""): Language {
  const wanted = typeof locale === "string" && locale !== "" ? [locale] : acceptLanguage.slice(0, 200).split(",");
  const codes = wanted.map((tag) => /^[a-z]+/.exec(tag.trim().toLowerCase())?.[0] ?? "");
  const code = codes.find((one) => Object.hasOwn(translations, one)) ?? "en";
  return { code, words: translations[code] ?? en };
}
