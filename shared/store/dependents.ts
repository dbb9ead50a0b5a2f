// Active resources that depend on a channel, a template or a topic (AMB-119): they prevent its deletion, or are paused
// by a forced one.
import * as v from "valibot";
import { said } from "../contract/schemas.ts";
import { conflict } from "../kernel/errors.ts";
import { pauseCampaign } from "./campaigns/campaigns.ts";
import { CampaignItem } from "./campaigns/items.ts";
import type { Store, StoreReader } from "./context.ts";
import { pauseUndelivered, undeliveredBy } from "./experiences/moves.ts";
import type { RowOf } from "./item.ts";
import { ActiveJourney, JourneyItem } from "./journeys/items.ts";
import { pauseInUse } from "./journeys/journeys.ts";
import { fromJson } from "./json-text.ts";
import { ScheduleItem } from "./schedules/items.ts";
import { type ScheduleRow, switchOff } from "./schedules/schedules.ts";
import { Status } from "./status-index.ts";
import type { Timers } from "./timers.ts";

type JourneyRow = RowOf<typeof JourneyItem>;

const Named = v.object({ id: v.string(), name: v.string() });
type Named = v.InferOutput<typeof Named>;

interface Options {
  /** Pauses the dependents instead of refusing. */
  force: boolean;
}

/** Frees a template for deletion. @throws 409 naming an active schedule or journey that sends it, unless `force` */
export async function releaseTemplate(
  store: Store,
  timers: Timers,
  { id, name }: Named,
  { force }: Options,
): Promise<void> {
  const { schedules, journeys } = await templateUsers(store, id);
  if (!force) refuse("template", { schedules, journeys });
  await pauseAll(store, timers, { schedules, journeys }, `its template ${name} was deleted`);
}

/**
 * Frees a channel for deletion. @throws 409 naming a released campaign, an upcoming experience, an active schedule or
 * journey that sends by it, unless `force`
 */
export async function releaseChannel(
  store: Store,
  timers: Timers,
  { id, name }: Named,
  { force }: Options,
): Promise<void> {
  const { campaigns, schedules, journeys, experiences } = await channelUsers(store, id);
  const reason = `its channel ${name} was deleted`;
  if (!force) {
    if (campaigns[0])
      throw conflict(`The channel is used by the campaign ${campaigns[0].id}. With force=true it is paused.`);
    if (experiences[0])
      throw conflict(`The channel is used by the experience ${experiences[0].id}. With force=true it is paused.`);
    refuse("channel", { schedules, journeys });
  }
  for (const campaign of campaigns) await pauseCampaign(store, campaign, reason);
  for (const experience of experiences) await pauseUndelivered(store, experience.id, reason);
  await pauseAll(store, timers, { schedules, journeys }, reason);
}

/** The users of a channel: released campaigns, active schedules and journeys, and upcoming experiences. */
export async function channelUsers(store: StoreReader, id: string) {
  const [users, experiences] = await Promise.all([
    usersWhere(store, ({ channel_ids = [] }) => channel_ids.includes(id)),
    undeliveredBy(store, id),
  ]);
  return { ...users, experiences };
}

/** The users of a template: released campaigns, active schedules and journeys. */
export async function templateUsers(store: StoreReader, id: string) {
  return usersWhere(store, ({ template_id }) => template_id === id);
}

async function usersWhere(store: StoreReader, uses: (send: SendSettings) => boolean) {
  const [campaigns, schedules, journeys] = await Promise.all([
    releasedCampaigns(store),
    sendingSchedules(store, uses),
    activeJourneys(store, uses),
  ]);
  const isUser = ({ messages }: RowOf<typeof CampaignItem>) => fromJson(messages).some(uses);
  return { campaigns: campaigns.filter(isUser), schedules, journeys };
}

/** The form of `used_by`. */
export const UsedBy = v.object({
  campaigns: said("Campaigns that are scheduled or live", v.array(Named)),
  schedules: said(
    "Active schedules, and those that come back with their campaign",
    v.array(v.object({ id: v.string(), cron_expression: v.string() })),
  ),
  journeys: said("Active journeys", v.array(Named)),
});

/** The form of `used_by` of a channel. */
export const ChannelUsedBy = v.object({
  ...UsedBy.entries,
  experiences: said("Live experiences whose send is still to come", v.array(Named)),
});

export function usedBy({ campaigns, schedules, journeys }: Awaited<ReturnType<typeof usersWhere>>) {
  const nameOf = ({ id, name }: Named) => ({ id, name });
  return {
    campaigns: campaigns.map(nameOf),
    schedules: schedules.map(({ id, cron_expression }) => ({ id, cron_expression })),
    journeys: journeys.map(nameOf),
  };
}

/**
 * Refuses the deletion of a topic in use: sends without it would reach subscribers who have not opted in. A scheduled
 * notification has a copy of its topic, so it does not count. @throws 409 naming a released campaign, an active
 * schedule or journey of the topic
 */
export async function refuseUsedTopic(store: StoreReader, key: string): Promise<void> {
  const [campaign] = (await releasedCampaigns(store)).filter(({ topic }) => topic === key);
  if (campaign) throw conflict(`The topic is used by the campaign ${campaign.id}.`);
  const [schedule] = await sendingSchedules(store, ({ topic }) => topic === key);
  if (schedule) throw conflict(`The topic is used by the ${words(schedule)}.`);
  const [journey] = await activeJourneys(store, ({ topic }) => topic === key);
  if (journey) throw conflict(`The topic is used by the active journey ${journey.id}.`);
}

/** Campaigns whose messages are still to be sent. */
export async function releasedCampaigns(store: StoreReader): Promise<RowOf<typeof CampaignItem>[]> {
  const states = await store.queryAll(Status, { kind: "campaign" });
  const released = states
    .filter(({ status }) => status === "scheduled" || status === "live")
    .map(({ sk }) => ({ id: sk }));
  return (await store.getAll(CampaignItem, released)).filter((row) => row !== undefined);
}

/** Resources that send repeatedly. */
interface Users {
  schedules: readonly Pick<ScheduleRow, "id" | "held_by">[];
  journeys: readonly { id: string }[];
}

function refuse(what: string, { schedules, journeys }: Users): void {
  if (schedules[0])
    throw conflict(`The ${what} is used by the ${words(schedules[0])}. With force=true it is switched off.`);
  if (journeys[0])
    throw conflict(`The ${what} is used by the active journey ${journeys[0].id}. With force=true it is paused.`);
}

async function pauseAll(store: Store, timers: Timers, { schedules, journeys }: Users, reason: string): Promise<void> {
  for (const { id } of schedules) await switchOff(store, timers, id, reason);
  for (const { id } of journeys) await pauseInUse(store, id, reason);
}

/** Active schedules, and those that a pause of their campaign holds: its resume switches them on again. */
async function sendingSchedules(store: StoreReader, uses: (send: SendSettings) => boolean): Promise<ScheduleRow[]> {
  const rows = await store.queryAll(ScheduleItem, {});
  return rows.filter((row) => (row.active || row.held_by !== undefined) && uses(row));
}

const words = ({ id, held_by }: Users["schedules"][number]): string =>
  held_by === undefined ? `active schedule ${id}` : `schedule ${id}, which comes back with its campaign`;

/** The settings that a message, a schedule and a step of a journey share. */
interface SendSettings {
  template_id?: string | undefined;
  channel_ids?: readonly string[];
  topic?: string | null | undefined;
}

async function activeJourneys(store: StoreReader, uses: (send: SendSettings) => boolean): Promise<JourneyRow[]> {
  const active = await store.queryAll(ActiveJourney, {});
  const keys = active.flatMap(({ sk, paused }) => (paused ? [] : [{ id: sk }]));
  const rows = await store.getAll(JourneyItem, keys);
  const isUser = ({ steps }: JourneyRow) =>
    Object.values((fromJson(steps) as { steps?: Record<string, { send?: SendSettings }> }).steps ?? {}).some(
      ({ send }) => uses(send ?? {}),
    );
  return rows.flatMap((row) => (row && isUser(row) ? [row] : []));
}
