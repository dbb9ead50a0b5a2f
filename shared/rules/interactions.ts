// Interactions of recipients with a message, and the stages that they prove (INT-3, AMB-68).
import { type ChannelType, channelOfPlatform, platforms as ofChannels } from "./channel-types.ts";

export const interactions = [
  "foreground_received",
  "tapped",
  "action_tapped",
  "dismissed",
  "email_opened",
  "email_clicked",
  "inapp_impression",
  "inapp_click",
  "inapp_dismiss",
] as const;
export type Interaction = (typeof interactions)[number];

/** INT-4. */
export const platforms = [...ofChannels, "server"] as const;
export type Platform = (typeof platforms)[number];

/**
 * `reached`: an in-app message was seen (`unique_reach`). `clicked`: implies `opened`. `opened_human`, `clicked_human`:
 * an open and a click that were not recognized as a machine's (F19).
 */
export const stages = ["reached", "opened", "clicked", "opened_human", "clicked_human"] as const;
export type Stage = (typeof stages)[number];

const clicks: readonly Stage[] = ["opened", "clicked"];

const stagesByInteraction: Record<Interaction, readonly Stage[]> = {
  foreground_received: ["opened"],
  tapped: clicks,
  action_tapped: clicks,
  dismissed: [],
  email_opened: ["opened"],
  email_clicked: clicks,
  inapp_impression: ["reached", "opened"],
  inapp_click: clicks,
  inapp_dismiss: [],
};

export function stagesOf(interaction: Interaction, isMachine: boolean): readonly Stage[] {
  const reached = stagesByInteraction[interaction];
  if (isMachine) return reached;
  return reached.flatMap((stage): Stage[] => {
    if (stage === "opened") return [stage, "opened_human"];
    return stage === "clicked" ? [stage, "clicked_human"] : [stage];
  });
}

/** The channel type of an interaction; undefined if it is unknown (AMB-68). */
export function channelOf(interaction: Interaction, platform: Platform): ChannelType | undefined {
  if (interaction.startsWith("inapp_")) return "in_app";
  if (interaction.startsWith("email_")) return "email";
  return channelOfPlatform(platform);
}
