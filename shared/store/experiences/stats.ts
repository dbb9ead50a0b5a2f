// Statistics of an experience (INS-1 to INS-3), from the interactions that subscribers' devices reported.

import type { ExperienceStatus } from "../../rules/experience-states.ts";
import type { Interaction } from "../../rules/interactions.ts";
import type { StoreReader } from "../context.ts";
import { type InteractionTotals, interactionTotals } from "../sends/interactions/totals.ts";
import { getExperience } from "./experiences.ts";

interface Counts {
  impressions: number;
  clicks: number;
  dismissals: number;
  /** Clicks over impressions; 0 without impressions. */
  ctr: number;
}

export interface ExperienceStats extends Counts {
  experience_id: string;
  status: ExperienceStatus;
  /** Subscribers who have seen it. */
  unique_reach: number;
  /** Dismissals over impressions; 0 without impressions. */
  dismiss_rate: number;
  by_variant?: (Counts & { variant_id: "a" | "b" })[];
}

const ARMS = ["a", "b"] as const;

/** INX-41. Of the send that publishing started, whose audience is the experience's. @throws 404. */
export async function experienceStats(store: StoreReader, id: string): Promise<ExperienceStats> {
  const { status, notification_id, variant_b } = await getExperience(store, id);
  const totals = notification_id === undefined ? undefined : await interactionTotals(store, notification_id);
  const whole = countsOf(totals?.interactions);
  return {
    experience_id: id,
    status,
    ...whole,
    unique_reach: totals?.recipients.reached ?? 0,
    dismiss_rate: share(whole.dismissals, whole.impressions),
    ...(variant_b && { by_variant: ARMS.map((arm) => ({ variant_id: arm, ...countsOf(armOf(totals, arm)) })) }),
  };
}

const armOf = (totals: InteractionTotals | undefined, arm: string) => totals?.variants[arm]?.interactions;

function countsOf(reports: Record<Interaction, number> | undefined): Counts {
  const impressions = reports?.inapp_impression ?? 0;
  const clicks = reports?.inapp_click ?? 0;
  return { impressions, clicks, dismissals: reports?.inapp_dismiss ?? 0, ctr: share(clicks, impressions) };
}

const share = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);
