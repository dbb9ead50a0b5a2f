// The areas of the product that mutations are drawn from, with the tests and the scenarios that must notice them.

export interface Area {
  /** Files, or folders with a slash at their end. */
  code: readonly string[];
  /** Beginnings of test files. */
  suites: readonly string[];
  scenarios: readonly string[];
}

const api = (...names: string[]) => names.map((name) => `test/api/${name}`);

export const areas: Readonly<Record<string, Area>> = {
  sends: {
    code: [
      "functions/workers/deliver/",
      "functions/workers/fan-out/",
      "shared/store/sends/",
      "shared/rules/progress.ts",
      "shared/rules/reasons.ts",
      "shared/rules/caps.ts",
      "shared/rules/quiet-hours.ts",
      "shared/rules/split.ts",
    ],
    suites: [
      "test/rules/progress",
      "test/rules/quiet-hours",
      "test/rules/split",
      ...api("delivery", "rounds", "single-sends", "notifications", "quiet-hours", "frequency-caps", "split-holdout"),
      ...api("smart", "ledger-crash", "late-delivery", "inbox", "recipients", "brake", "preview", "pacing", "stops"),
    ],
    scenarios: ["sends", "pushes", "nights", "timers", "topics", "chat app", "brakes"],
  },
  events: {
    code: ["shared/store/events/", "functions/api/events/"],
    suites: api("events", "identify"),
    scenarios: ["events", "segments"],
  },
  journeys: {
    code: ["shared/store/journeys/", "functions/workers/step-journey/", "shared/rules/journey-"],
    suites: ["test/rules/journeys", ...api("journeys", "journey-funnel")],
    scenarios: ["journeys"],
  },
  segments: {
    code: ["shared/store/segments/", "shared/store/lists/", "functions/workers/segment/"],
    suites: ["test/rules/segment", ...api("segments", "lists")],
    scenarios: ["segments"],
  },
  webhooks: {
    code: ["shared/store/webhooks/", "functions/workers/post-webhook/"],
    suites: api("webhook"),
    scenarios: ["webhooks"],
  },
  timers: {
    code: ["functions/workers/due/", "functions/workers/react/", "shared/store/timers.ts"],
    suites: api("notifications-schedule", "schedules", "segments-dynamic", "journeys-waits"),
    scenarios: ["timers", "sends", "journeys"],
  },
  subscribers: {
    code: ["shared/store/subscribers/", "functions/workers/erase/"],
    suites: api(
      "subscribers",
      "subscriber-counts",
      "identify",
      "devices",
      "ledger-erasure",
      "imports",
      "erasures",
      "smart",
    ),
    scenarios: ["sends", "events"],
  },
};
