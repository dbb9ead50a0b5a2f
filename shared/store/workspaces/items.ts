// The stored form of workspaces: their settings and status, an agency's clients, usage of a billing period.
import * as v from "valibot";
import { Timestamp } from "../../contract/schemas.ts";
import type { TenantId } from "../../kernel/ids.ts";
import type { DefaultSafety } from "../../rules/brake.ts";
import type { FrequencyCap } from "../../rules/caps.ts";
import { planNames } from "../../rules/plans.ts";
import type { UtmDefaults } from "../../rules/utm.ts";
import { editFields } from "../edits.ts";
import { item, platformItem } from "../item.ts";
import { json } from "../json-text.ts";
import type { Key } from "../model.ts";
import type { QuietSettings } from "./settings.ts";

/** The id of a workspace, in rows that the product wrote itself. */
export const WorkspaceId = v.custom<TenantId>((value) => typeof value === "string");

/** Attributes of a workspace's row that are fields of the API as well. */
export const workspaceFields = {
  plan: v.picklist(planNames),
  status: v.picklist(["active", "suspended", "deleted"]),
  kind: v.picklist(["standard", "agency", "sandbox"]),
  created_at: Timestamp,
};

const PeriodUsage = v.object({ period: v.string(), sends: v.number(), events: v.number() });
export type PeriodUsage = v.InferOutput<typeof PeriodUsage>;

export const WorkspaceItem = platformItem({
  about: "A workspace: its settings, plan and status. After its purge the row stays as a tombstone.",
  pk: ({ tenant }: { tenant: string }) => `TENANT#${tenant}`,
  row: {
    id: WorkspaceId,
    ...workspaceFields,
    /** A tombstone has no name and no owners. */
    name: v.optional(v.string()),
    owners: v.optional(v.number()),
    timezone: v.optional(v.string()),
    /** ISO 3166: where phone numbers without a country code are from. */
    region: v.optional(v.string()),
    /** The currency of its revenue; absent: not set. */
    currency: v.optional(v.string()),
    email_consent_mode: v.optional(v.picklist(["opt_out", "opt_in"])),
    quiet_hours: v.optional(json<QuietSettings>()),
    frequency_caps: v.optional(json<FrequencyCap[]>()),
    /** The brake of large sends; `null`: none. Absent: as the service sets it. */
    safety: v.optional(json<DefaultSafety | null>()),
    monthly_send_cap: v.optional(v.number()),
    /** The keys that sign ids of users: at most two, none of them stored. */
    identity_keys: v.optional(json<{ id: string; created_at: string }[]>()),
    /** Calls with the publishable key that name a user carry the signed id. */
    identity_required: v.optional(v.boolean()),
    double_opt_in: v.optional(v.boolean()),
    /** Members reach it only in sessions with a second factor. */
    second_factor_required: v.optional(v.boolean()),
    /** Releases wait for a second person. */
    approval_required: v.optional(v.boolean()),
    /** Members reach it only in sessions that began at its identity provider. */
    sign_in_required: v.optional(v.boolean()),
    /** A digest of its identity provider and the client there: sessions that began at one before do not count as its own. */
    sign_in_client: v.optional(v.string()),
    /** When its identity provider was removed last: sessions that had begun there are over. */
    sign_in_ended_at: v.optional(Timestamp),
    /** The sender of its mail: name and postal address. */
    sender_name: v.optional(v.string()),
    postal_address: v.optional(v.string()),
    /** The UTM parameters on links of its marketing mail; absent: none. */
    utm_defaults: v.optional(json<UtmDefaults>()),
    ...editFields,
    /** The recipients of its test sends. */
    test_subscriber_ids: v.optional(v.array(v.string())),
    /** Attributes that agents without `read:pii` may ask for people by. */
    agent_attributes: v.optional(v.array(v.string())),
    /** Events that it receives go to the event bus of the deployment, if there is one. */
    events_on_bus: v.optional(v.boolean()),
    /** In a sandbox: how far its time is ahead, in milliseconds. */
    clock_offset: v.optional(v.number()),
    /** Where its time stands still during a move. */
    clock_still: v.optional(v.number()),
    /** Where its latest move ended: no clock of a process shows an earlier time. */
    clock_least: v.optional(v.number()),
    /** How many clients an agency has. */
    clients: v.optional(v.number()),
    /** The agency that made it. */
    agency: v.optional(WorkspaceId),
    /** The version of the team: the number of invitations and of members who accepted one. */
    team: v.optional(v.number()),
    deleted_at: v.optional(Timestamp),
    purging_at: v.optional(Timestamp),
    purge_until: v.optional(v.number()),
    purge_not_before: v.optional(v.number()),
    purge_from: v.optional(json<Key>()),
    purge_found: v.optional(v.number()),
    usage_record: v.optional(v.array(PeriodUsage)),
    purged_at: v.optional(Timestamp),
  },
  writers: ["api-auth", "api-account", "api-agency", "api-team", "api-billing", "operator", "purge", "move-clock"],
  lifetime: "without end: a tombstone stays after the purge",
  purge: "kept",
});

export const WorkspaceEntry = platformItem({
  about: "A workspace in the operator's list of all of them, by id.",
  pk: () => "WORKSPACES",
  sk: ({ tenant }: { tenant: string }) => tenant,
  row: { created_at: Timestamp },
  writers: ["api-auth", "api-agency", "operator"],
  lifetime: "without end, as the workspace's tombstone",
  purge: "kept",
});

export const ClientItem = platformItem({
  about: "A client's workspace, listed under its agency, oldest first.",
  pk: ({ agency }: { agency: string }) => `TENANT#${agency}`,
  sk: ({ tenant }: { tenant: string }) => `CLIENT#${tenant}`,
  prefix: "CLIENT#",
  row: { tenant: WorkspaceId, created_at: Timestamp },
  writers: ["api-agency", "purge"],
  purge: "by-tenant-attribute",
});

/** The agency and the client that a key names, if it is that of a client. */
export const clientKeyOf = ({ pk, sk }: Key, tenant: TenantId) =>
  sk === ClientItem.sk?.({ tenant }) ? { agency: pk.slice("TENANT#".length), tenant } : undefined;

export const Usage = item({
  about: "Sends of a billing period, taken before they are used.",
  pk: () => "USAGE",
  sk: ({ period }: { period: string }) => period,
  row: {
    sends: v.optional(v.number()),
    /** How many of them were taken ahead in a quarter-hour, until it is settled: `ahead:1975132`. */
    "ahead:*": v.number(),
    /** When an operator set the number last, in milliseconds. */
    set_at: v.optional(v.number()),
    /** The highest percentage of each limit that a warning was given for. */
    warned_sends: v.optional(v.number()),
    warned_events: v.optional(v.number()),
    warned_cap: v.optional(v.number()),
  },
  writers: ["api-notifications", "api-events", "run-schedule", "fan-out", "deliver", "recount", "operator"],
});

export const EventUsage = item({
  about: "Events of a billing period, in shards that each have their share of the quota.",
  pk: ({ shard }: { shard: number }) => `USAGE#${shard}`,
  sk: ({ period }: { period: string }) => period,
  row: { events: v.optional(v.number()) },
  writers: ["api-events", "operator"],
});
