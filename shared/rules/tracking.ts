// Whether a machine or a person opened a mail or followed one of its links, as far as the request shows (F19, AMB-92).

/**
 * A HEAD request, a fetch ahead of the reader, a scan for threats, a request sooner than a reader could be, or one of
 * many links of a mail that are followed within seconds.
 */
export const machineVerdicts = ["head", "prefetch", "scanner", "too_soon", "burst"] as const;
export type MachineVerdict = (typeof machineVerdicts)[number];

interface TrackedRequest {
  method: string;
  /** Lower-cased names. */
  headers: Readonly<Record<string, string | undefined>>;
  /** Since the mail was sent. */
  elapsedMs: number;
}

/** A mail gateway follows all links before it delivers a mail; a person needs longer. */
const FASTEST_READER_MS = 5_000;

/** The whole user agent of Apple's Mail Privacy Protection, which loads images in advance. */
const PREFETCHING_AGENT = "Mozilla/5.0";

const SCANNER =
  /(?<!cu)bot\b|crawl|spider|scan|preview|headless|phantomjs|barracuda|mimecast|proofpoint|safelinks|messagelabs|symantec|trendmicro|fireeye|cloudmark|virustotal|urldefense|curl\/|wget\/|python|java\/|go-http|okhttp|libwww|httpclient|node-fetch|axios|undici/i;

/** The verdict on a request. @returns undefined if it may be a person */
export function machineVerdict({ method, headers, elapsedMs }: TrackedRequest): MachineVerdict | undefined {
  const agent = (headers["user-agent"] ?? "").trim();
  if (method === "HEAD") return "head";
  const purpose = `${headers.purpose ?? ""} ${headers["sec-purpose"] ?? ""} ${headers["x-moz"] ?? ""}`;
  if (agent === PREFETCHING_AGENT || /prefetch|preview/i.test(purpose)) return "prefetch";
  if (agent === "" || SCANNER.test(agent)) return "scanner";
  return elapsedMs < FASTEST_READER_MS ? "too_soon" : undefined;
}

/** A person does not follow all links of a mail, or so many of them, within this time. */
export const BURST_MS = 10_000;
const BURST_LINKS = 5;

/**
 * Whether a machine follows the links of a mail: all of them, or five of many, within seconds, at any time. @param
 * clicked when each link was last followed, in milliseconds @param links how many links the mail has; a mail of one
 * link tells nothing
 */
export function isBurst(clicked: ReadonlyMap<number, number>, links: number, now: number): boolean {
  const recent = [...clicked.values()].filter((at) => Math.abs(now - at) <= BURST_MS);
  return links > 1 && recent.length >= Math.min(links, BURST_LINKS);
}
