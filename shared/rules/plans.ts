// Plans: features, caps, requests per minute, and the response body of each refusal (D-PLAN).
import { ApiError } from "../kernel/errors.ts";
import { type ChannelType, channelTypes } from "./channel-types.ts";
import { channels } from "./channels.ts";

export const features = ["in_app", "webhooks", "smart_channel", "schedules", "agency"] as const;
export type Feature = (typeof features)[number];

interface Plan {
  requestsPerMinute: number;
  channelTypes: readonly ChannelType[];
  features: readonly Feature[];
  dynamicSegments: number;
  eventConditionsPerRule: number;
  /** Furthest look-back of a segment's event condition in days; null = no cap. */
  lookbackDays: number | null;
  /** Per billing period. */
  sends: number;
  events: number;
  subscribers: number;
  assetBytes: number;
  teamMembers: number;
}

const MB = 1_048_576;
const GB = 1_024 * MB;

const channelsOf = (...smallest: readonly string[]): ChannelType[] =>
  channelTypes.filter((type) => smallest.includes(channels[type].plan));

export const plans = {
  free: {
    requestsPerMinute: 60,
    channelTypes: channelsOf("free"),
    features: [],
    dynamicSegments: 0,
    eventConditionsPerRule: 1,
    lookbackDays: 30,
    sends: 10_000,
    events: 100_000,
    subscribers: 1_000,
    assetBytes: 50 * MB,
    teamMembers: 2,
  },
  starter: {
    requestsPerMinute: 300,
    channelTypes: channelsOf("free", "starter"),
    features: ["in_app", "webhooks"],
    dynamicSegments: 5,
    eventConditionsPerRule: 3,
    lookbackDays: 90,
    sends: 100_000,
    events: 1_000_000,
    subscribers: 25_000,
    assetBytes: GB,
    teamMembers: 5,
  },
  growth: {
    requestsPerMinute: 600,
    channelTypes: channelsOf("free", "starter", "growth"),
    features: ["in_app", "webhooks", "smart_channel"],
    dynamicSegments: 20,
    eventConditionsPerRule: 5,
    lookbackDays: 180,
    sends: 500_000,
    events: 5_000_000,
    subscribers: 100_000,
    assetBytes: 5 * GB,
    teamMembers: 10,
  },
  pro: {
    requestsPerMinute: 1_000,
    channelTypes,
    features: ["in_app", "webhooks", "smart_channel"],
    dynamicSegments: 50,
    eventConditionsPerRule: 10,
    lookbackDays: 365,
    sends: 2_000_000,
    events: 20_000_000,
    subscribers: 500_000,
    assetBytes: 20 * GB,
    teamMembers: 25,
  },
  premium: {
    requestsPerMinute: 3_000,
    channelTypes,
    features: ["in_app", "webhooks", "smart_channel", "schedules"],
    dynamicSegments: 200,
    eventConditionsPerRule: 20,
    lookbackDays: null,
    sends: 10_000_000,
    events: 100_000_000,
    subscribers: 2_000_000,
    assetBytes: 100 * GB,
    teamMembers: 100,
  },
  enterprise: {
    requestsPerMinute: 10_000,
    channelTypes,
    features: ["in_app", "webhooks", "smart_channel", "schedules", "agency"],
    dynamicSegments: 1_000,
    eventConditionsPerRule: 50,
    lookbackDays: null,
    sends: 100_000_000,
    events: 1_000_000_000,
    subscribers: 20_000_000,
    assetBytes: 1_024 * GB,
    teamMembers: 1_000,
  },
} as const satisfies Record<string, Plan>;

export type PlanName = keyof typeof plans;
export const planNames = Object.keys(plans) as PlanName[];

/** The response body for each missing feature (ERR-8, ERR-20); undefined: the standard envelope. */
export const refusals: Record<Feature, Record<string, unknown> | undefined> = {
  in_app: {
    error: "in_app_not_permitted",
    message: "In-app messaging is not part of this workspace's plan.",
    upgrade_required: true,
  },
  webhooks: { error: "feature_not_available" },
  smart_channel: { error: "feature_not_available", feature: "smart_channel" },
  schedules: { error: "PLAN_FEATURE_UNAVAILABLE", message: "Schedules need the Premium plan or higher." },
  agency: undefined,
};

export function planHas(plan: PlanName, feature: Feature): boolean {
  const permitted: readonly Feature[] = plans[plan].features;
  return permitted.includes(feature);
}

/** Requires a feature of the plan. @throws the refusal that the specification gives this feature (GEN-10) */
export function requireFeature(plan: PlanName, feature: Feature): void {
  if (planHas(plan, feature)) return;
  const body = refusals[feature];
  throw new ApiError(
    "FEATURE_NOT_AVAILABLE",
    `The feature ${feature} is not part of the plan ${plan}.`,
    body ? { body } : {},
  );
}
