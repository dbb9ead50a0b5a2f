// Deletes a segment, unless something active depends on it (AMB-119).
import { conflict, notFound } from "../../kernel/errors.ts";
import { pauseCampaign } from "../campaigns/campaigns.ts";
import type { CampaignItem } from "../campaigns/items.ts";
import type { Store } from "../context.ts";
import { countChange } from "../counters.ts";
import { releasedCampaigns } from "../dependents.ts";
import { watchWrites } from "../events/watchers.ts";
import { pauseUndelivered } from "../experiences/moves.ts";
import { changeItem, type RowOf } from "../item.ts";
import { ActiveJourney } from "../journeys/items.ts";
import { pauseInUse } from "../journeys/journeys.ts";
import { fromJson } from "../json-text.ts";
import { membershipDeletionWrite, planSecondPass } from "../lists/membership-deletion.ts";
import { removeNamed } from "../name-index.ts";
import type { Timers } from "../timers.ts";
import { type User, usersOf } from "../uses.ts";
import { DynamicSegmentCount, SegmentItem } from "./items.ts";
import { groupOf, requireRow } from "./segments.ts";

interface Options {
  /** Pauses what depends on the segment, instead of refusing. */
  force: boolean;
}

/**
 * SEG-9: deletes a segment at once, and its memberships in the background.
 * @throws 404, 409 while it triggers an active journey, unless `force` (AMB-119).
 */
export async function removeSegment(store: Store, timers: Timers, id: string, options: Options): Promise<void> {
  const { name, is_dynamic } = await requireRow(store, id);
  const dependents = await dependentsOf(store, id);
  if (!options.force) refuseDependents(dependents);
  await pauseDependents(store, dependents, `its segment ${name} was deleted`);

  await planSecondPass(store, timers, groupOf(id));
  const extraItems = [membershipDeletionWrite(store, groupOf(id))];
  if (is_dynamic)
    extraItems.push(changeItem(DynamicSegmentCount, {}, countChange({ n: -1 })), ...watchWrites("segment", id, []));
  const removed = await removeNamed(store, SegmentItem, id, { extraItems });
  if (removed === "missing") throw notFound("segment");
}

interface Dependents {
  /** Ids of the active journeys that the segment triggers. */
  journeys: readonly string[];
  /** Released campaigns that send to it. */
  campaigns: readonly RowOf<typeof CampaignItem>[];
  users: readonly User[];
}

async function dependentsOf(store: Store, id: string): Promise<Dependents> {
  const [active, released, users] = await Promise.all([
    store.queryAll(ActiveJourney, {}),
    releasedCampaigns(store),
    usersOf(store, { kind: "segment", id }),
  ]);
  const journeys = active
    .filter(({ trigger, paused }) => !paused && fromJson(trigger).segment_id === id)
    .map(({ sk }) => sk);
  const campaigns = released.filter((row) => {
    const target = fromJson(row.target);
    return target.type === "segment" && target.segment_id === id;
  });
  return { journeys, campaigns, users };
}

/** Refuses the deletion of a used segment. @throws 409 naming the first user, and the effect of `force` */
function refuseDependents({ journeys: [journey], campaigns: [campaign], users: [user] }: Dependents): void {
  if (journey !== undefined)
    throw conflict(`The segment triggers the active journey ${journey}. With force=true it is paused.`);
  if (campaign)
    throw conflict(`The segment is the target of the campaign ${campaign.id}. With force=true it is paused.`);
  if (user) throw conflict(`The segment is named by ${user.kind} ${user.id}. force=true deletes it anyway.`);
}

/** A scheduled notification cannot be paused: after a forced deletion it fails at its time, and says why. */
async function pauseDependents(
  store: Store,
  { journeys, campaigns, users }: Dependents,
  reason: string,
): Promise<void> {
  for (const journey of journeys) await pauseInUse(store, journey, reason);
  for (const campaign of campaigns) await pauseCampaign(store, campaign, reason);
  for (const user of users) if (user.kind === "experience") await pauseUndelivered(store, user.id, reason);
}
