// What the answers of DNS and SES mean for a domain that sends mail (RDA-24).
import { describe, expect, it } from "vitest";
import {
  type DnsAnswer,
  dkimOfSes,
  dkimRecordsOf,
  dmarcNamesOf,
  dmarcOf,
  spfOf,
} from "../../shared/rules/mail-domain.ts";

const found = (...records: string[]): DnsAnswer => ({ kind: "known", records });
const FAILED: DnsAnswer = { kind: "failed", reason: "queryTxt ESERVFAIL news.example.com" };

describe("SPF", () => {
  it.each([
    [found("v=spf1 include:amazonses.com ~all"), "valid"],
    [found("google-site-verification=abc", "v=spf1 mx include:amazonses.com -all"), "valid"],
    [found("V=SPF1 include:amazonses.com redirect=_spf.example.com"), "valid"],
    [found("v=spf1 include:amazonses.com ?all"), "weak"],
    [found("v=spf1 include:amazonses.com"), "weak"],
    [found("v=spf1 include:_spf.google.com ~all"), "invalid"],
    [found("v=spf1 include:amazonses.com +all"), "invalid"],
    [found("v=spf1 include:amazonses.com ~all", "v=spf1 mx ~all"), "invalid"],
    [found("v=spf10 include:amazonses.com ~all"), "missing"],
    [found(), "missing"],
    [FAILED, "unknown"],
  ])("SPF records %j are %s for a sender by SES (RDA-24)", (answered, state) => {
    const standing = spfOf("bounce.example.com", answered, { bySes: true });
    expect(standing.state).toBe(state);
    expect(standing.advice === null).toBe(state === "valid");
  });

  it("SPF for a sender by a mail server names no server that must be in it (RDA-24)", () => {
    const answered = found("v=spf1 include:_spf.google.com ~all");
    expect(spfOf("example.com", answered, { bySes: false })).toMatchObject({ state: "valid", wanted: [] });
  });
});

describe("DKIM", () => {
  const dkim = { SigningEnabled: true, Status: "SUCCESS", Tokens: ["abc", "def", "ghi"] };
  const published = (isThere: boolean) =>
    dkimRecordsOf("example.com", dkim).map((record) => ({ type: "CNAME" as const, ...record, isThere }));

  it("DKIM has the records of Easy DKIM, in the zone that SES says (RDA-24)", () => {
    expect(dkimRecordsOf("example.com", dkim)[0]).toEqual({
      name: "abc._domainkey.example.com",
      value: "abc.dkim.amazonses.com",
    });
    const zone = { ...dkim, SigningHostedZone: "dkim.eu-south-2.amazonses.com" };
    expect(dkimRecordsOf("example.com", zone)[0]?.value).toBe("abc.dkim.eu-south-2.amazonses.com");
    expect(dkimRecordsOf("example.com", { ...dkim, SigningAttributesOrigin: "EXTERNAL" })).toEqual([]);
  });

  it.each([
    [{}, true, "valid"],
    [{}, false, "weak"],
    [{ SigningEnabled: false }, true, "invalid"],
    [{ Status: "PENDING" }, false, "missing"],
    [{ Status: "FAILED" }, false, "invalid"],
    [{ Status: "TEMPORARY_FAILURE" }, true, "unknown"],
    [{ Status: "NOT_STARTED", Tokens: [] }, false, "missing"],
    [{ Status: "SOMETHING_NEW" }, true, "unknown"],
  ])("%j with records in DNS %j is %s (RDA-24)", (more, isThere, state) => {
    expect(dkimOfSes("example.com", { ...dkim, ...more }, published(isThere)).state).toBe(state);
  });
});

describe("DMARC", () => {
  it.each([
    ["v=DMARC1; p=reject; rua=mailto:a@example.com", "valid", "reject"],
    ["v=DMARC1;p=QUARANTINE;rua=mailto:a@example.com", "valid", "quarantine"],
    ["v=DMARC1; p=quarantine", "weak", "quarantine"],
    ["v=DMARC1; p=none; rua=mailto:a@example.com", "weak", "none"],
    ["v=DMARC1; p=maybe", "invalid", null],
    ["v=DMARC1", "invalid", null],
    ["v=DMARC2; p=reject", "missing", null],
  ])("%s is %s with the policy %s (RDA-24)", (record, state, policy) => {
    expect(dmarcOf("example.com", [found(record)])).toMatchObject({ state, policy });
  });

  it("several DMARC records of a domain are invalid, whatever each says (RDA-24)", () => {
    const record = "v=DMARC1; p=reject; rua=mailto:a@example.com";

    expect(dmarcOf("example.com", [found(record, record)])).toMatchObject({ state: "invalid", policy: null });
  });

  it("the DMARC of a domain is that of the next domain above without one, with its policy for subdomains (RDA-24)", () => {
    expect(dmarcNamesOf("news.example.co.uk")).toEqual([
      "_dmarc.news.example.co.uk",
      "_dmarc.example.co.uk",
      "_dmarc.co.uk",
    ]);
    const above = found("v=DMARC1; p=reject; sp=quarantine; rua=mailto:a@example.co.uk");
    expect(dmarcOf("news.example.co.uk", [found(), above, found()])).toMatchObject({
      name: "_dmarc.example.co.uk",
      policy: "quarantine",
    });
    expect(dmarcOf("example.co.uk", [above, found()]).policy).toBe("reject");
  });

  it("the DMARC of a domain is unknown where the domain's own name is not answered, whatever is above (RDA-24)", () => {
    expect(dmarcOf("news.example.com", [FAILED, found("v=DMARC1; p=reject")])).toMatchObject({
      state: "unknown",
      policy: null,
    });
  });
});
