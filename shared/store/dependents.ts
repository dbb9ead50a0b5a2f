// What is active and depends on a segment or a channel (AMB-119): it refuses the deletion, or is paused by a forced one.
import { conflict } from "../http/errors.ts";
import type { Store } from "../resources.ts";
import { pauseCampaign } from "./campaigns/campaigns.ts";
import { CampaignItem } from "./campaigns/items.ts";
import { fromJson } from "./item.ts";
import { ActiveJourney } from "./journeys/items.ts";
import { pauseJourney } from "./journeys/journeys.ts";
import { State } from "./status-index.ts";

interface Named {
  id: string;
  name: string;
}

interface Options {
  /** Pauses what depends on it, instead of refusing. */
  force: boolean;
}

/** @throws 409 naming an active journey that the segment triggers, unless `force`. */
export async function releaseSegment(store: Store, { id, name }: Named, { force }: Options): Promise<void> {
  const active = await store.queryAll(ActiveJourney, {});
  const journeys = active.filter(({ trigger }) => fromJson(trigger).segment_id === id).map(({ sk }) => sk);
  if (force) for (const journey of journeys) await pauseJourney(store, journey, `its segment ${name} was deleted`);
  else if (journeys.length > 0)
    throw conflict(`The segment triggers the active journey ${journeys[0]}. With force=true it is paused.`);
}

/** @throws 409 naming a campaign that is scheduled or live and sends by the channel, unless `force`. */
export async function releaseChannel(store: Store, { id, name }: Named, { force }: Options): Promise<void> {
  const states = await store.queryAll(State, { kind: "campaign" });
  const released = states
    .filter(({ state }) => state === "scheduled" || state === "live")
    .map(({ sk }) => ({ id: sk }));
  const rows = (await store.getAll(CampaignItem, released)).filter((row) => row !== undefined);
  const campaigns = rows.filter(({ messages }) => fromJson(messages).some((one) => one.channel_ids.includes(id)));
  if (force) for (const campaign of campaigns) await pauseCampaign(store, campaign, `its channel ${name} was deleted`);
  else if (campaigns[0])
    throw conflict(`The channel is used by the campaign ${campaigns[0].id}. With force=true it is paused.`);
}
