// Requests to the embedded AWS since the last reset, and the resources of this process that they took.
import { readFileSync, writeFileSync } from "node:fs";
import type { DynamoDbMeter } from "./aws/index.ts";

interface MeteredServices {
  dynamodb: { meter(): DynamoDbMeter; resetMeter(): void };
  sqs: { meter(): { requests: number; sent: number; received: number }; resetMeter(): void };
  scheduler: { meter(): { created: number; deleted: number; fired: number }; resetMeter(): void };
  kms: { meter(): { requests: number }; resetMeter(): void };
  s3: { meter(): { requests: number }; resetMeter(): void };
  ses: { meter(): { requests: number }; resetMeter(): void };
  eventbridge: { meter(): { requests: number; entries: number }; resetMeter(): void };
  providers: { meter(): { requests: number }; resetMeter(): void };
}

interface Meter {
  read(): Record<string, unknown>;
  reset(): void;
}

const MB = 1_048_576;
const KB_PER_MB = 1_024;
const MICROSECONDS = 1_000;

export function openMeter({ dynamodb, sqs, scheduler, kms, s3, ses, eventbridge, providers }: MeteredServices): Meter {
  let since = process.cpuUsage();
  return {
    read: () => {
      const { user, system } = process.cpuUsage(since);
      const rss_mb = Math.round(process.memoryUsage.rss() / MB);
      return {
        dynamodb: dynamodb.meter(),
        sqs: sqs.meter(),
        scheduler: scheduler.meter(),
        s3: s3.meter(),
        kms: kms.meter(),
        eventbridge: eventbridge.meter(),
        providers: { requests: providers.meter().requests + ses.meter().requests },
        process: {
          cpu_ms: Math.round((user + system) / MICROSECONDS),
          rss_mb,
          rss_peak_mb: Math.max(rss_mb, Math.round(peakKilobytes() / KB_PER_MB)),
        },
      };
    },
    reset: () => {
      for (const service of [dynamodb, sqs, scheduler, kms, s3, ses, eventbridge, providers]) service.resetMeter();
      since = process.cpuUsage();
      forgetPeak();
    },
  };
}

/** Without `/proc`, the peak is that of the whole life of the process. */
function peakKilobytes(): number {
  try {
    const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"));
    return peak ? Number(peak[1]) : process.resourceUsage().maxRSS;
  } catch {
    return process.resourceUsage().maxRSS;
  }
}

function forgetPeak(): void {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // The peak then stays that of the whole life of the process.
  }
}
