// A page of a shop that reports by Segment's library for browsers.
import { AnalyticsBrowser } from "@segment/analytics-next";

/** Resolves when the library has sent both messages, or has them in a batch. */
async function report(
  settings: { writeKey: string; cdnURL: string },
  strategy: "standard" | "batching",
): Promise<void> {
  const deliveryStrategy =
    strategy === "batching" ? { strategy, config: { size: 2, timeout: 1_000 } } : ({ strategy } as const);
  const analytics = AnalyticsBrowser.load(settings, { integrations: { "Segment.io": { deliveryStrategy } } });
  await analytics.identify("lin", { email: "lin@example.com", plan: "pro" });
  await analytics.track("Order Completed", { total: 9.5 });
}

/** @returns why the library did not start, where it did not */
const start = (settings: { writeKey: string; cdnURL: string }): Promise<string | undefined> =>
  AnalyticsBrowser.load(settings).then(() => undefined, String);

Object.assign(window, { report, start });
