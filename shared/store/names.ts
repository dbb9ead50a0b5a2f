// The names of things that are mentioned by id: a short form of a UUIDv7 is its time, so different things look alike.
import * as v from "valibot";
import { Named } from "../contract/named.ts";
import { CampaignItem } from "./campaigns/items.ts";
import { ChannelItem } from "./channels/items.ts";
import type { StoreReader } from "./context.ts";
import { AssetItem } from "./experiences/asset-items.ts";
import { ExperienceItem } from "./experiences/items.ts";
import { idKeys } from "./item.ts";
import { JourneyItem } from "./journeys/items.ts";
import { ListItem } from "./lists/items.ts";
import { listNames } from "./name-index.ts";
import { ScheduleItem } from "./schedules/items.ts";
import { SegmentItem } from "./segments/items.ts";
import { withContents } from "./sends/jobs/job-content.ts";
import { findJobs } from "./sends/jobs/jobs.ts";
import { Status } from "./status-index.ts";
import { displayName, getProfiles } from "./subscribers/subscribers.ts";
import { TemplateItem } from "./templates/items.ts";
import { TopicItem } from "./topics/items.ts";
import { WebhookItem } from "./webhooks/items.ts";
import { AgentKeyItem, ServerKeyItem } from "./workspaces/identity-items.ts";

export const namedKinds = [
  "campaign",
  "journey",
  "segment",
  "list",
  "template",
  "channel",
  "experience",
  "image",
  "schedule",
  "topic",
  "webhook",
  "server_key",
  "agent_key",
  "notification",
  "subscriber",
] as const;
export type NamedKind = (typeof namedKinds)[number];

export const NamedSource = v.object({ type: v.string(), ...Named.entries });

interface Names {
  of(kind: NamedKind, id: string): string | null;
}

type Reader = (store: StoreReader, ids: readonly string[]) => Promise<readonly (string | null | undefined)[]>;

type Item = typeof CampaignItem | typeof JourneyItem | typeof SegmentItem | typeof ListItem | typeof TemplateItem;
type OtherItem = typeof ChannelItem | typeof ExperienceItem | typeof ServerKeyItem | typeof AgentKeyItem;

const byRow =
  (item: Item | OtherItem): Reader =>
  async (store, ids) => {
    const rows = await store.getAll(item as Item, idKeys(ids), { eventual: true });
    return rows.map((row) => row?.name);
  };

/** Entities of a status have their name beside it: they themselves may have 400 KB. */
const byStatus =
  (item: typeof CampaignItem | typeof JourneyItem): Reader =>
  async (store, ids) => {
    const keys = ids.map((id) => ({ kind: item.kind, id }));
    const rows = await store.getAll(Status, keys, { eventual: true });
    // One that was made before names were kept there has none.
    return Promise.all(ids.map(async (id, i) => rows[i]?.name ?? (await byRow(item)(store, [id]))[0]));
  };

/** So many are read whole; of more all names are read, which are the rows of an index. */
const FEW = 5;

const templateNames: Reader = async (store, ids) => {
  if (ids.length <= FEW) return byRow(TemplateItem)(store, ids);
  const all = await listNames(store, TemplateItem);
  return ids.map((id) => all.find((named) => named.id === id)?.name);
};

const readers: Record<NamedKind, Reader> = {
  campaign: byStatus(CampaignItem),
  journey: byStatus(JourneyItem),
  segment: byRow(SegmentItem),
  list: byRow(ListItem),
  template: templateNames,
  channel: byRow(ChannelItem),
  experience: byRow(ExperienceItem),
  image: async (store, ids) => {
    const rows = await store.getAll(AssetItem, idKeys(ids), { eventual: true });
    return rows.map((row) => row?.filename);
  },
  schedule: async (store, ids) => {
    const rows = await store.getAll(ScheduleItem, idKeys(ids), { eventual: true });
    const templates = [...new Set(rows.flatMap((row) => row?.template_id ?? []))];
    const found = await templateNames(store, templates);
    const names = new Map(templates.map((id, i) => [id, found[i]]));
    return rows.map((row) => row && names.get(row.template_id));
  },
  topic: async (store, ids) => {
    const keys = ids.map((key) => ({ key }));
    const rows = await store.getAll(TopicItem, keys, { eventual: true });
    return rows.map((row) => row?.name);
  },
  webhook: async (store, ids) => {
    const rows = await store.getAll(WebhookItem, idKeys(ids), { eventual: true });
    return rows.map((row) => row && new URL(row.target_url).host);
  },
  server_key: byRow(ServerKeyItem),
  agent_key: byRow(AgentKeyItem),
  notification: async (store, ids) => {
    const jobs = (await findJobs(store, ids)).flatMap((job) => job ?? []);
    const names = new Map((await withContents(store, jobs)).map(({ id, name, title }) => [id, name ?? title]));
    return ids.map((id) => names.get(id));
  },
  subscriber: async (store, ids) =>
    (await getProfiles(store, ids, { eventual: true })).map((profile) => profile && displayName(profile)),
};

/** The names of these things, each kind read together. */
export async function namesOf(store: StoreReader, wanted: readonly { kind: NamedKind; id: string }[]): Promise<Names> {
  const known = new Map<string, string>();
  const groups = [...Map.groupBy(wanted, ({ kind }) => kind)];
  await Promise.all(
    groups.map(async ([kind, things]) => {
      const ids = [...new Set(things.map(({ id }) => id))];
      const names = await readers[kind](store, ids);
      for (const [i, id] of ids.entries()) if (names[i]) known.set(`${kind} ${id}`, names[i]);
    }),
  );
  return { of: (kind, id) => known.get(`${kind} ${id}`) ?? null };
}

export const isNamedKind = (kind: string): kind is NamedKind => namedKinds.some((namedKind) => namedKind === kind);

interface Source {
  type: string;
  id: string | null;
}

/** The reference of a source; nothing if it has no name of its own. */
export const wantedSource = ({ type, id }: Source): { kind: NamedKind; id: string }[] =>
  id !== null && isNamedKind(type) ? [{ kind: type, id }] : [];

/** A source with its name; `null` where it has no id. */
export const namedSource = ({ type, id }: Source, names: Names): v.InferOutput<typeof NamedSource> | null =>
  id === null ? null : { type, id, name: isNamedKind(type) ? names.of(type, id) : null };
