// Machines and people, by their requests when they open a mail (F19).
import { describe, expect, it } from "vitest";
import { machineVerdict } from "../../shared/rules/tracking.ts";

const MINUTE_MS = 60_000;
const verdictOf = (agent: string | undefined, more: object = {}) =>
  machineVerdict({ method: "GET", headers: { "user-agent": agent }, elapsedMs: MINUTE_MS, ...more });
const CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";

describe("verdicts", () => {
  it.each([
    CHROME,
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
    "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)",
    "Mozilla/5.0 (Linux; Android 9; CUBOT X18) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile",
    "Mozilla/5.0 (Windows NT 10.0; Microsoft Outlook 16.0.5000; ms-office) Gecko",
  ])("%s may be a person (F19, D-EMAIL)", (agent) => {
    expect(verdictOf(agent)).toBeUndefined();
  });

  it.each([
    ["Mozilla/5.0", "prefetch"],
    ["Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "scanner"],
    ["Barracuda Sentinel (EE)", "scanner"],
    ["Mozilla/5.0 (Windows NT 10.0) BingPreview/1.0b", "scanner"],
    ["python-requests/2.32.3", "scanner"],
    ["curl/8.9.1", "scanner"],
    ["HeadlessChrome/140.0", "scanner"],
    ["", "scanner"],
    [undefined, "scanner"],
  ])("%s is a machine: %s (F19, D-EMAIL)", (agent, verdict) => {
    expect(verdictOf(agent)).toBe(verdict);
  });

  it("a HEAD request, a prefetch, and a request faster than a reader are machines (F19, D-EMAIL)", () => {
    expect(verdictOf(CHROME, { method: "HEAD" })).toBe("head");
    expect(verdictOf(CHROME, { headers: { "user-agent": CHROME, "sec-purpose": "prefetch" } })).toBe("prefetch");
    expect(verdictOf(CHROME, { elapsedMs: 4_999 })).toBe("too_soon");
    expect(verdictOf(CHROME, { elapsedMs: 5_000 })).toBeUndefined();
  });
});
