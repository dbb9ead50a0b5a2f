// Whether a machine or a person opened a mail or followed a link of it, as far as the request tells (F19, AMB-92).

/** Why it was no person: it only asked, it fetches ahead of readers, it looks for threats, or nobody reads so fast. */
export type MachineVerdict = "head" | "prefetch" | "scanner" | "too_soon";

export interface TrackedRequest {
  method: string;
  /** Lower-cased names. */
  headers: Readonly<Record<string, string | undefined>>;
  /** Since the mail went out. */
  elapsedMs: number;
}

/** A gateway that checks mail follows all its links while it still holds it; people need longer to get one. */
const FASTEST_READER_MS = 5_000;

/** Apple's Mail Privacy Protection loads pictures ahead of readers, and says no more than this. */
const PREFETCHING_AGENT = "Mozilla/5.0";

const SCANNER =
  /(?<!cu)bot\b|crawl|spider|scan|preview|headless|phantomjs|barracuda|mimecast|proofpoint|safelinks|messagelabs|symantec|trendmicro|fireeye|cloudmark|virustotal|urldefense|curl\/|wget\/|python|java\/|go-http|okhttp|libwww|httpclient|node-fetch|axios|undici/i;

/** @returns undefined where it may have been a person. */
export function machineVerdict({ method, headers, elapsedMs }: TrackedRequest): MachineVerdict | undefined {
  const agent = (headers["user-agent"] ?? "").trim();
  if (method === "HEAD") return "head";
  const purpose = `${headers.purpose ?? ""} ${headers["sec-purpose"] ?? ""} ${headers["x-moz"] ?? ""}`;
  if (agent === PREFETCHING_AGENT || /prefetch|preview/i.test(purpose)) return "prefetch";
  if (agent === "" || SCANNER.test(agent)) return "scanner";
  return elapsedMs < FASTEST_READER_MS ? "too_soon" : undefined;
}
