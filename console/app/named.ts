// Search of campaigns, lists and others by name: without case and accents in the first pages, then as the API finds them.
import { api, call } from "./api.ts";
import { createLookup, type Found, numbered, PAGE } from "./lookup.ts";
import { personName } from "./person-name.ts";
import { sendName } from "./send-name.ts";

export interface NamedChoice {
  id: string;
  name: string;
  /** People, of a list or a segment. */
  count?: number;
}

interface FindOptions {
  signal: AbortSignal;
  /** Pages of each kind in which case and accents are ignored. */
  most?: number;
}

export type Find = (text: string, options: FindOptions) => Promise<Found<NamedChoice>>;

const MAX_FOUND = 20;

const lookup = createLookup<NamedChoice>(MAX_FOUND);

/** The next search reads all pages again. */
export const forgetNames = lookup.forget;

type Search = (text: string, options: { signal: AbortSignal }) => Promise<readonly NamedChoice[]>;

const byBoth =
  (kind: string, read: (page: number) => Promise<readonly NamedChoice[]>, search: Search): Find =>
  async (text, { signal, most }) => {
    const [near, far] = await Promise.all([
      lookup.find(kind, text, numbered(read, PAGE), most),
      search(text, { signal }),
    ]);
    const all = [...new Map([...near.all, ...far].map((one) => [one.id, one])).values()];
    // The API has looked at all of them, but for another spelling.
    return { all, isPart: near.isPart === true && far.length === 0 };
  };

/** As a page of lists names them. */
export const asList = ({ id, name, subscriber_count }: { id: string; name: string; subscriber_count: number }) => ({
  id,
  name,
  count: subscriber_count,
});

export const findCampaign = byBoth(
  "campaigns",
  async (page) => (await call("campaigns.list", [{ page, page_size: PAGE }])).items,
  async (q, options) => (await api.campaigns.list({ q, page_size: MAX_FOUND }, options)).items,
);

type ReadPage = Parameters<typeof lookup.find>[2];

/** The API has no search of them. */
const byPages =
  (kind: string, read: ReadPage): Find =>
  (text, { most }) =>
    lookup.find(kind, text, read, most);

export const findExperience = byPages(
  "experiences",
  numbered(async (page) => (await call("experiences.list", [{ page, page_size: PAGE }])).items, PAGE),
);

export const findJourney = byPages("journeys", async (cursor) => {
  const { journeys: items, next_cursor } = await api.journeys.list({ cursor });
  return { items, next_cursor };
});

export const findSegment = byPages("segments", async (cursor) => {
  const { segments: items, next_cursor } = await api.segments.list({ cursor });
  return { items, next_cursor };
});

export const findTemplate = byBoth(
  "templates",
  async (page) => (await call("templates.list", [{ page, per_page: PAGE }])).data,
  async (name, options) => (await api.templates.list({ name, per_page: MAX_FOUND }, options)).data,
);

export const findList = byBoth(
  "lists",
  async (page) => (await api.lists.list({ page, page_size: PAGE })).items.map(asList),
  async (name, options) => (await api.lists.list({ name, page_size: MAX_FOUND }, options)).items.map(asList),
);

/** Of which there are few, in one answer. */
const whole = (kind: string, read: () => Promise<readonly NamedChoice[]>): Find =>
  byPages(kind, async () => ({ items: await read(), next_cursor: "" }));

const saying = (...parts: readonly (string | null | undefined)[]): string => parts.filter(Boolean).join(", ");

export const findChannel = whole("channels", async () => (await api.channels.list()).channels);

export const findEndpoint = whole("webhooks", async () =>
  (await api.webhooks.list()).items.map(({ id, target_url, description }) => ({
    id,
    name: saying(target_url, description),
  })),
);

export const findTopic = whole("topics", async () =>
  (await api.topics.list()).items.map(({ key, name }) => ({ id: key, name })),
);

export const findMember = whole("members", async () =>
  (await api.team.listMembers()).items.map(({ user_id, name, email }) => ({ id: user_id, name: saying(name, email) })),
);

const asImage = ({ id, filename }: { id: string; filename: string }) => ({ id, name: filename });

export const findImage = byPages(
  "assets",
  numbered(async (page) => (await api.assets.list({ page, page_size: PAGE })).items.map(asImage), PAGE),
);

/** People whose external ID, email, phone or last name begins with it. Several have one name. */
export const findPerson: Find = async (q, { signal }) => ({
  all: (await api.subscribers.list({ q, limit: MAX_FOUND }, { signal })).items.map((person) => ({
    id: person.id,
    name: saying(personName(person), person.email),
  })),
});

/** @param from the kinds of sources; by default all but journeys */
export const findSend =
  (from?: readonly string[]): Find =>
  async (q, { signal }) => ({
    all: (await api.notifications.list({ q, limit: MAX_FOUND, exclude_source_type: "journey" }, { signal })).items
      .filter(({ source }) => !from || from.includes(source.type))
      .map((send) => ({ id: send.id, name: sendName(send) })),
  });
