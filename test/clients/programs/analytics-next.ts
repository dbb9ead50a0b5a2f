// A page of a shop that reports by Segment's library for browsers.
import { AnalyticsBrowser } from "@segment/analytics-next";

/** Resolves when the library has sent both messages. */
async function report(settings: { writeKey: string; cdnURL: string }): Promise<void> {
  const analytics = AnalyticsBrowser.load(settings);
  await analytics.identify("lin", { email: "lin@example.com", plan: "pro" });
  await analytics.track("Order Completed", { total: 9.5 });
}

Object.assign(window, { report });
