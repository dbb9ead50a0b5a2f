// The people of the demo workspace: most are imported with a file, the others sign up in the app.
import { DAY, timestamp } from "../shared/kernel/clock.ts";
import type { Client } from "./demo-client.ts";

const FIRST =
  "Ada Grace Alan Mary Emmy Linus Edith Omar Sofia Noah Mina Jonas Priya Lucas Hana Felix Amara Theo Ines Kofi".split(
    " ",
  );
const LAST =
  "Keller Okafor Lindqvist Moreau Santos Tanaka Novak Rossi Haddad Larsen Petrov Silva Weber Kaya Dubois".split(" ");
const PLACES = [
  ["Berlin", "DE", "Europe/Berlin"],
  ["Paris", "FR", "Europe/Paris"],
  ["London", "GB", "Europe/London"],
  ["Lisbon", "PT", "Europe/Lisbon"],
  ["Warsaw", "PL", "Europe/Warsaw"],
] as const;

/** The domains of their addresses, in turn. Nobody can have such an address at Gmail. */
const MAILBOXES =
  "example.com gmail.com outlook.com gmail.com yahoo.com gmail.com icloud.com outlook.com gmail.com gmx.net".split(" ");
/** How long before the week the people of the file gave their consent. */
const ASKED_BEFORE = 30 * DAY;
/** Every fifth person signs up in the app. */
const APP_EVERY = 5;

export interface Person {
  external_id: string;
  isPro: boolean;
}

interface DescribedPerson extends Person {
  email: string;
  timezone: string;
  consent: "opted_in" | "opted_out" | undefined;
  attributes: { first_name: string; last_name: string; city: string; country: string; plan: string };
}

function consentAt(draw: number): DescribedPerson["consent"] {
  if (draw < 0.85) return "opted_in";
  return draw < 0.93 ? "opted_out" : undefined;
}

function describePerson(n: number, random: () => number): DescribedPerson {
  const first_name = FIRST[n % FIRST.length]!;
  const last_name = LAST[Math.floor(n / FIRST.length) % LAST.length]!;
  const [city, country, timezone] = PLACES[n % PLACES.length]!;
  const isPro = random() < 0.35;
  const draw = random();
  const external_id = n === 0 ? "ada" : `${first_name}.${last_name}`.toLowerCase();
  return {
    external_id,
    email: `${external_id}${n === 0 ? "" : "_demo"}@${MAILBOXES[n % MAILBOXES.length]}`,
    timezone,
    isPro,
    consent: consentAt(draw),
    attributes: { first_name, last_name, city, country, plan: isPro ? "pro" : "free" },
  };
}

interface Population {
  size: number;
  /** The list of the imported people. */
  newsletter: string;
  now: number;
  random(): number;
}

export async function addPeople(client: Client, { size, newsletter, now, random }: Population): Promise<Person[]> {
  const people = Array.from({ length: size }, (_, n) => describePerson(n, random));
  const isOfApp = (n: number) => n % APP_EVERY === 3;
  const form = new FormData();
  form.set("listId", newsletter);
  const rows = fileOf(
    people.filter((_, n) => !isOfApp(n)),
    timestamp(now - ASKED_BEFORE),
  );
  form.set("file", new File([rows], "newsletter.csv", { type: "text/csv" }));
  await client.upload("POST /api/v1/lists/import", form);
  for (const { external_id, email, timezone, attributes, consent } of people.filter((_, n) => isOfApp(n)))
    await client.app("POST /api/v1/subscribers/upsert", {
      external_id,
      email,
      timezone,
      attributes,
      ...(consent && { consent: { channel: "email", status: consent, source: "sign-up form" } }),
    });
  return people;
}

/** The file looks like an export of another service. Each consent has its time, because without it proves nothing. */
function fileOf(people: readonly DescribedPerson[], asked: string): string {
  const rows = people.map(({ external_id, email, timezone, consent, attributes }) => [
    external_id,
    email,
    timezone,
    ...Object.values(attributes),
    ...(consent ? [consent, asked] : ["", ""]),
  ]);
  const header = "external_id,email,timezone,first_name,last_name,city,country,plan,consent_status,consent_at";
  return [header, ...rows.map(String)].join("\n");
}
