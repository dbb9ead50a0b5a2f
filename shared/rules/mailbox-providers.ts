// The provider of a mailbox: its opinion of a sender applies to all of its mailboxes. Only the domain counts: a company
// whose mail is run by Google or Microsoft is among the others (docs/decisions/0149).

/** Providers that are counted separately. */
export const knownProviders = [
  "gmail",
  "microsoft",
  "yahoo",
  "apple",
  "gmx",
  "t_online",
  "orange",
  "free",
  "libero",
  "seznam",
  "mail_ru",
  "proton",
  "qq",
  "netease",
] as const;
export type KnownProvider = (typeof knownProviders)[number];

export const mailboxProviders = [...knownProviders, "other"] as const;
export type MailboxProvider = (typeof mailboxProviders)[number];

const DOMAINS: Record<KnownProvider, string> = {
  gmail: "gmail.com googlemail.com",
  microsoft: "msn.com windowslive.com passport.com",
  yahoo: "ymail.com rocketmail.com aim.com verizon.net",
  apple: "icloud.com me.com mac.com",
  gmx: "web.de mail.com email.com",
  t_online: "t-online.de magenta.de",
  orange: "orange.fr wanadoo.fr",
  free: "free.fr",
  libero: "libero.it virgilio.it iol.it inwind.it",
  seznam: "seznam.cz email.cz post.cz",
  mail_ru: "mail.ru inbox.ru list.ru bk.ru internet.ru",
  proton: "proton.me protonmail.com protonmail.ch pm.me",
  qq: "qq.com vip.qq.com foxmail.com",
  netease: "163.com vip.163.com 126.com yeah.net",
};

/** Names that a provider has under the top-level domains of many countries: `hotmail.co.uk`. */
const NAMES: readonly [name: string, KnownProvider][] = [
  ["hotmail", "microsoft"],
  ["outlook", "microsoft"],
  ["live", "microsoft"],
  ["yahoo", "yahoo"],
  ["aol", "yahoo"],
  ["gmx", "gmx"],
];
const UNDER_COUNTRY = /^([a-z]+)\.(?:com|net|[a-z]{2}|com?\.[a-z]{2})$/;

/** Domains with the name of a provider that belong to another company. */
const STRANGERS: readonly string[] = ["yahoo.co.jp"];

const byDomain = new Map(
  Object.entries(DOMAINS).flatMap(([provider, domains]) =>
    domains.split(" ").map((domain) => [domain, provider as KnownProvider] as const),
  ),
);
const byName = new Map(NAMES);

/** The provider of an address. @param address in its normalized form @returns undefined for every other provider */
export function mailboxProviderOf(address: string): KnownProvider | undefined {
  const domain = address.slice(address.lastIndexOf("@") + 1);
  const known = byDomain.get(domain);
  if (known || STRANGERS.includes(domain)) return known;
  return byName.get(UNDER_COUNTRY.exec(domain)?.[1] ?? "");
}

export const isKnownProvider = (name: string): name is KnownProvider =>
  knownProviders.some((knownProvider) => knownProvider === name);
