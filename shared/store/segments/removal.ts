// Deletes a segment, unless something active depends on it (AMB-119).
import { conflict, notFound } from "../../kernel/errors.ts";
import { pauseCampaign } from "../campaigns/campaigns.ts";
import type { Store } from "../context.ts";
import { countChange } from "../counters.ts";
import { releasedCampaigns } from "../dependents.ts";
import { watchWrites } from "../events/watchers.ts";
import { pauseUndelivered } from "../experiences/moves.ts";
import { changeItem } from "../item.ts";
import { ActiveJourney } from "../journeys/items.ts";
import { pauseInUse } from "../journeys/journeys.ts";
import { fromJson } from "../json-text.ts";
import { membershipDeletionWrite, planSecondPass } from "../lists/membership-deletion.ts";
import { removeNamed } from "../name-index.ts";
import type { Timers } from "../timers.ts";
import { usersOf } from "../uses.ts";
import { DynamicSegmentCount, SegmentItem, type SegmentRow } from "./items.ts";
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
  await releaseSegment(store, { id, name }, options);
  await planSecondPass(store, timers, groupOf(id));
  const extraItems = [membershipDeletionWrite(store, groupOf(id))];
  if (is_dynamic)
    extraItems.push(changeItem(DynamicSegmentCount, {}, countChange({ n: -1 })), ...watchWrites("segment", id, []));
  const removed = await removeNamed(store, SegmentItem, id, { extraItems });
  if (removed === "missing") throw notFound("segment");
}

/**
 * A scheduled notification cannot be paused: after a forced deletion it fails at its time, and says why.
 * @throws 409 naming an active journey that the segment triggers, or what sends to it, unless `force`.
 */
async function releaseSegment(
  store: Store,
  { id, name }: Pick<SegmentRow, "id" | "name">,
  { force }: Options,
): Promise<void> {
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
  if (!force) {
    if (journeys[0] !== undefined)
      throw conflict(`The segment triggers the active journey ${journeys[0]}. With force=true it is paused.`);
    if (campaigns[0])
      throw conflict(`The segment is the target of the campaign ${campaigns[0].id}. With force=true it is paused.`);
    if (users[0])
      throw conflict(`The segment is named by ${users[0].kind} ${users[0].id}. force=true deletes it anyway.`);
  }
  const reason = `its segment ${name} was deleted`;
  for (const journey of journeys) await pauseInUse(store, journey, reason);
  for (const campaign of campaigns) await pauseCampaign(store, campaign, reason);
  for (const user of users) if (user.kind === "experience") await pauseUndelivered(store, user.id, reason);
}
