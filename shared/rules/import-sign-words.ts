// The words that make a column name about consent, in many languages (AMB-132).

/** Matches any of the forms, between spaces. */
export const any = (...lines: string[]) =>
  new RegExp(lines.flatMap((line) => line.normalize("NFKD").split(" ")).join("|"));

// Names about something else: the reason, the link or the count of a consent, an opening, a declined order.
export const ASIDE = any(
  "risk$ probab likelihood propensity ^predict reason (?<!excludedfrom|^e?mail|^sms|^marketing)campaign title url link token hash$ (?:unsub(?:scribe[rd]?)?|optout)(?:key|code|id|u?uid|guid)$ ^listunsubscribe$ page$ popup shown$ displayed$ language locale$ sprache$ langue$ idioma$ lingua$ (?<!be)taal$ jezyk$ (?:mails?|newsletters?)received (?:newsletter|subscri(?:ption|ber)|consent|optin)(?:id|version|mode|format|score|rating|revenue|coupon|discount|amount|edition|variant)$ rate$ count number ^total bounces$",
  "^(marketing)?emailsbounced bouncede?mails$ cookie analytics tracking totrack softbounc bounce[ds]?soft expir ablauf gu?e?ltigbis validuntil caduc scadenza vervald wygas (?<!newsletter|mail|marketing|sms)terms privacy source$ method$ (?<!hir)level$ (?<!optin|confirmation|unsubscribe|unsubscription|optout)pending(?!optin|confirmation) open click",
  "(?<!con)sent$ delivered$ order payment card invoice purchase pedido pago compra commande paiement ordine",
  "pagament rechnung zahlung betaling zamow ^(?:vertrag|contract)(?!.*(?:mail|news|werb|market)) gelesen gesehen geo?e?ffnet gelezen geopend grund$ raison motivo reden$ powod anzahl nombrede aantal liczba",
);

export const SUPPRESSED = any(
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

export const OUT = any(
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

export const IN = any(
  "subscribed ^(is)?(email|newsletter|marketing)?subscri(ber|bed|ption|be)$ optin optedin newsletter",
  "accepts?(email|sms|marketing|newsletter|promo|advert) (email|marketing|sms|promo)accept consent permission$",
  "permissionto(send|contact|e?mail|text|sms|market) marketingallowed allow(s|ed)?(e?mail|news|marketing|sms|contact) mailinglist emailme$ cancontact",
  "marketingmaterials?$ ^(is)?(mailable|emailable|contactable|marketable)$ ^allowbroadcasts?$ ^msg(e?mail|sms|whatsapp)$",
  "(e?mail|newsletter)frequency receives?(e?mail|sms|text|news|promo|market|offer|update) ^(e?mail|sms|whatsapp)?(marketing|werbung)$ ^werbung(e?mail|sms|whatsapp)$ (email|marketing|sms|whatsapp)(subscri|enabled|agreed|allowed|stat(?:e|us)$) wasubscri (?:e?mail|newsletter|sms|whatsapp|marketing)\\w*subscriptionstat(?:e|us)$ (?:e?mail|sms|whatsapp)channel\\w*stat(?:e|us)$ contactallowed$ ^(?:is)?reachable(?:by|via|per)(?:e?mail|sms|whatsapp)$ (?:e?mail|sms|whatsapp)reachable$",
  "agreed?to(marketing|email|newsletter) wants(email|mail|news) angemeldet abonniert einwillig zustimmung willigeich ichstimme(?!nicht) stimmeich aceitoreceber",
  "zugestimmt werbung(erlaubt|ok|per|via) (mail|sms|newsletter|whatsapp)erlaubt keepme(posted|updated|informed) kontakt(per|via|erlaubt|erlaubnis) darfkontaktiert werbeerlaubnis abonne$ abonnee$",
  "(recevoir|recoit|recibir|recibe|riceve(re)?|recebe[r]?|ontvangt?|ontvangen|otrzymuje|otrzymywac)(les|la|el|los|o|os|le|de|een|dela|des|nos|vos|lo|gli|as)?(e?mail|news|correo|nieuws|novidad|novedad|nouvelle|actu|notizi|nowosc|promo|offre|ofert|offert|boletin|publici|pubblicita|comunica|communica|informa|reclame|reklam)",
  "(mail|news|newsletter|infos?|werbung|angebote)erhalten$ (mail|nieuws|news|aanbiedingen|reclame|informatie)ontvangen$ abonne(alanewsletter|newsletter) ^abonn inscrit consentement accepte",
  "infolettre lettred?informations? suscrit suscriptor suscripcion consiente consentimiento acepta boletin iscritt iscrizione consenso accetta inscrito",
  "inscricao subscricao assinante consentimento aceita aceite subscrito boletim ingeschreven inschrijving aangemeld",
  "toestemming nieuwsbrief zapisan zgod subskryb subskrypc",
  "ニュースレター メルマカ メール配信 メール購読 購読 配信希望 受信許可 配信許可 同意 承諾",
  "(?:eposta|sms|gsm|ileti|pazarlama|kampanya|ticari|iys)[a-z]*(?:izin|izni|onay) ebulten bulten(?:abone|$) ^abone$ aboneol",
  "nyhetsbrev nyhedsbrev uutiskirje samtyck samtykk prenumerer tilmeld suostumus markkinointilupa souhlas suhlas odbernovin",
  "الاشتراك مشترك النشرةالبريدية موافق استقبالالعروض استقبالالرسائل הסכמה דיוור ניוזלטר hirlevel feliratkoz ενημερωτικ подпис рассылк согласи підпис розсилк 订阅 訂閱 接收邮件 接收郵件 수신동의 마케팅동의 구독",
);

/**
 * Names that may ask for something else, such as a privacy notice: a no there refuses mail, a yes agrees to nothing.
 */
export const ASKED = any(
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

/** The text of a form beside its question, which tells how to leave later: `You can unsubscribe at any time.` */
export const WORDING =
  /anytime|jederzeit|atoutmoment|cualquiermomento|qualsiasimomento|qualquermomento|op(?:elk|ieder)(?:gewenst)?moment|teallentijde|kazdejchwili|n[a-z]{1,2}rsomhelst|can(?:always|also)?(?:unsub|optout|withdraw|revok)/;
