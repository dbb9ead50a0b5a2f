// Why one person got something or did not, asked in one call: of a send, a campaign or a journey, each by its id or its
// name, the person by id, external id or email address.
import * as v from "valibot";
import { Named } from "../contract/named.ts";
import { isUuid, said, titled } from "../contract/schemas.ts";
import { invalid } from "../kernel/errors.ts";
import { timeOfUuid } from "../kernel/ids.ts";
import { byText } from "../kernel/order.ts";
import { moment } from "../rules/why-details.ts";
import { atStart } from "../rules/why-journey-words.ts";
import { erasedInWords } from "../rules/why-words.ts";
import { getCampaign } from "./campaigns/campaigns.ts";
import { CampaignItem } from "./campaigns/items.ts";
import type { StoreReader } from "./context.ts";
import { JourneyItem } from "./journeys/items.ts";
import { getJourney, type Journey } from "./journeys/journeys.ts";
import { JourneyOfPerson, journeyOfPerson } from "./journeys/person.ts";
import { stepNames } from "./journeys/step-words.ts";
import { getVersion } from "./journeys/versions.ts";
import type { RootSecrets } from "./secrets.ts";
import { listJobs } from "./sends/jobs/job-list.ts";
import type { JobRecord } from "./sends/jobs/job-record.ts";
import { findJobs, getJob } from "./sends/jobs/jobs.ts";
import { placeInPlan } from "./sends/reports/audience-place.ts";
import { type ExplainDeps, explainRecipient, type SentRows, sentSince } from "./sends/reports/explain.ts";
import { Explanation } from "./sends/reports/explanation.ts";
import { messageRoom } from "./sends/reports/shown-messages.ts";
import { newestNamed } from "./status-index.ts";
import { Profile, type ProfileRow } from "./subscribers/items.ts";
import { listSubscribers } from "./subscribers/list.ts";
import { getProfile, isLiving, type LivingProfile, newestOfExternalId } from "./subscribers/subscribers.ts";

export const whyKinds = ["send", "campaign", "journey"] as const;
type WhyKind = (typeof whyKinds)[number];

export const Why = titled("Why", {
  subscriber: said("The person; the name is the external id", Named),
  about: said(
    "The send, campaign or journey that was asked about",
    v.object({ kind: v.picklist(whyKinds), ...Named.entries }),
  ),
  in_words: said("The answer in a few sentences", v.string()),
  sends: said(
    "The send, the messages of the campaign, or those that the journey sent to the person",
    v.array(Explanation),
  ),
  journey: said("What the journey did with the person", v.nullable(JourneyOfPerson)),
});
export type Why = v.InferOutput<typeof Why>;

interface WhyDeps extends ExplainDeps {
  root(): Promise<RootSecrets>;
}

const MAX_NAMED = 100;
/** Sends of a journey that are looked at, and of those the ones that are explained. */
const MAX_SENDS = 100;
const MAX_EXPLAINED = 10;
/** Other sends of the same name that are said. */
const MAX_OTHERS = 3;

/** @throws 404 for an unknown id, 422 naming `person`, `send`, `campaign` or `journey` for an unknown name */
export async function whyOf(given: WhyDeps, person: string, { kind, of }: { kind: WhyKind; of: string }): Promise<Why> {
  const deps = { ...given, room: messageRoom() };
  const profile = await personBy(deps, person);
  if (!isLiving(profile)) return whyOfErased(deps.store, profile, { kind, of });
  const subscriber = { id: profile.id, name: profile.external_id };
  if (kind === "journey") {
    const journey = await journeyBy(deps.store, of);
    return {
      subscriber,
      about: { kind, id: journey.id, name: journey.name },
      ...(await ofJourney(deps, journey, profile)),
    };
  }
  const { id, name, jobs, unsent, before } = await (kind === "send"
    ? sendBy(deps.store, of)
    : campaignBy(deps.store, of));
  const asked = {
    subscriber: profile.id,
    ...(jobs.length > 1 && { sent: await sentSinceFirst(deps.store, profile.id, jobs) }),
  };
  const sends = await Promise.all(jobs.map((job) => explainRecipient(deps, { job, ...asked })));
  const words = sends.map(({ in_words }, i) => (sends.length > 1 ? `Message ${i + 1}: ${in_words}` : in_words));
  const sentences = words.length === 0 ? [`Not sent: ${unsent ?? "the campaign has sent nothing yet"}.`] : words;
  const in_words = [...sentences, ...(before ?? []), ...(await sharedBy(deps, person, profile))].join("\n");
  return { subscriber, about: { kind, id, name }, in_words, sends, journey: null };
}

/** Every one of these sends was dispatched later than its id was made. */
const sentSinceFirst = (store: StoreReader, subscriber: string, jobs: readonly string[]): Promise<SentRows> =>
  sentSince(store, subscriber, Math.min(...jobs.map(timeOfUuid)));

/** An erased person's data is no longer found by name. */
async function whyOfErased(
  store: StoreReader,
  { id, erased_at = "" }: ProfileRow,
  { kind, of }: { kind: WhyKind; of: string },
): Promise<Why> {
  const find = { send: sendBy, campaign: campaignBy, journey: journeyBy }[kind];
  const about = await find(store, of);
  return {
    subscriber: { id, name: null },
    about: { kind, id: about.id, name: about.name },
    in_words: erasedInWords(erased_at),
    sends: [],
    journey: null,
  };
}

async function ofJourney(
  deps: WhyDeps,
  journey: Journey,
  profile: LivingProfile,
): Promise<Pick<Why, "in_words" | "sends" | "journey">> {
  const { store, workspace } = deps;
  const found = await journeyOfPerson(store, journey, profile, workspace);
  const [run] = found.runs;
  const sent = run && (await sentSince(store, profile.id, Date.parse(run.entered_at)));
  const [jobs, version] =
    run && sent
      ? await Promise.all([
          jobsOfRun(store, { journey: journey.id, subscriber: profile.id, sent }, run),
          getVersion(store, journey.id, run.version),
        ])
      : [[]];
  const [nameOf, ...sends] = await Promise.all([
    stepNames(store, version?.graph),
    ...jobs.map(({ id }) => explainRecipient(deps, { job: id, subscriber: profile.id, ...(sent && { sent }) })),
  ]);
  const lines = sends.map((send, i) => `${atStart(nameOf(jobs[i]?.step?.id ?? "a message"))}: ${send.in_words}`);
  return { in_words: [found.in_words, ...lines].join("\n"), sends, journey: found };
}

/**
 * The sends of a journey to a person since a run began, oldest first: from the ledger, and waiting ones from the plans.
 */
async function jobsOfRun(
  store: StoreReader,
  { journey, subscriber, sent }: { journey: string; subscriber: string; sent: SentRows },
  { entered_at, steps }: JourneyOfPerson["runs"][number],
): Promise<JobRecord[]> {
  const query = { source_type: "journey" as const, source_id: journey, from: entered_at, limit: MAX_SENDS };
  const { jobs: newest } = await listJobs(store, query);
  const reached = new Set([...sent.ledger, ...sent.messages].map(({ job }) => job));
  const known = (await findJobs(store, [...reached])).flatMap((job) => job ?? []);
  const open = newest.filter(({ id }) => !reached.has(id));
  const places = await Promise.all(open.map((job) => placeInPlan(store, job, subscriber)));
  const ofJourney = [
    ...known.filter(({ source }) => source.id === journey),
    ...open.filter((_, i) => places[i]?.place),
  ];
  // Sends that follow each other without a wait are made at one moment.
  const placeOf = (job: JobRecord) => steps.findIndex(({ step }) => step === job.step?.id);
  const byPlace = ofJourney.sort((a, b) => placeOf(a) - placeOf(b));
  return byPlace.sort(byText(({ created_at }) => created_at)).slice(-MAX_EXPLAINED);
}

/** Who was asked for by an address gets at it what others with it get. */
async function sharedBy({ store, root }: WhyDeps, person: string, { id }: LivingProfile): Promise<string[]> {
  if (!person.includes("@")) return [];
  const { items } = await listSubscribers(store, await root(), { email: person, limit: MAX_OTHERS + 1 });
  const others = items.filter((item) => item.id !== id).slice(0, MAX_OTHERS);
  return others.length > 0
    ? [`Others have this address too: ${others.map(({ external_id }) => external_id).join(", ")}.`]
    : [];
}

/** A living person, or by its id or external id one that was erased. */
async function personBy({ store, root }: WhyDeps, person: string): Promise<ProfileRow> {
  const known = isUuid(person) ? await store.get(Profile, { id: person.toLowerCase() }) : undefined;
  if (known) return known;
  const secrets = await root();
  const byMail = async () => (await listSubscribers(store, secrets, { email: person, limit: 1 })).items[0];
  const named = await newestOfExternalId(store, secrets, person);
  if (named && isLiving(named)) return named;
  const found = person.includes("@") ? await byMail() : undefined;
  const profile = (found && (await getProfile(store, found.id))) ?? named;
  if (!profile) throw invalid({ person: "no such subscriber in this workspace" });
  return profile;
}

interface Sends {
  id: string;
  name: string | null;
  jobs: string[];
  /** Why there are none. */
  unsent?: string;
  /** A note that other subscribers have the same name. */
  before?: readonly string[];
}

async function sendBy(store: StoreReader, of: string): Promise<Sends> {
  if (isUuid(of)) return { id: of, name: (await getJob(store, of)).name, jobs: [of] };
  const { jobs } = await listJobs(store, { q: of, limit: MAX_NAMED });
  const [job, ...others] = jobs.filter(({ name, title }) => name === of || title === of);
  if (!job) throw invalid({ send: "no send has this id, name or title" });
  const times = others.slice(0, MAX_OTHERS).map(({ created_at }) => moment(created_at));
  const before = times.length > 0 ? [`Others of this name were made on ${times.join(", ")}.`] : [];
  return { id: job.id, name: of, jobs: [job.id], before };
}

async function campaignBy(store: StoreReader, of: string): Promise<Sends> {
  const id = isUuid(of) ? of : await newestNamed(store, CampaignItem, of);
  if (id === undefined) throw invalid({ campaign: "no campaign has this id or name" });
  const campaign = await getCampaign(store, id);
  const jobs = campaign.messages.flatMap(({ job_id }) => (job_id ? [job_id] : []));
  const unsent =
    campaign.status === "draft"
      ? "the campaign is a draft, which was not released"
      : `the campaign is ${campaign.status} and has sent nothing yet`;
  return { id: campaign.id, name: campaign.name, jobs, unsent };
}

async function journeyBy(store: StoreReader, of: string): Promise<Journey> {
  const id = isUuid(of) ? of : await newestNamed(store, JourneyItem, of);
  if (id === undefined) throw invalid({ journey: "no journey has this id or name" });
  return getJourney(store, id);
}
