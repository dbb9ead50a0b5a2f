import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkUrl, checkUrlTemplate, URL_LENGTH } from "../../shared/rules/safe-url.ts";

describe("URLs in content", () => {
  it.each([
    "https://example.com",
    "https://example.com/a?b=c&d=%20#e",
    "HTTPS://EXAMPLE.COM/",
    "http://localhost:3000/x",
    "https://[::1]:8443/",
    "https://münchen.example/ä",
    "https://example.com/javascript:alert(1)",
    "myapp://offers/12",
    "com.example.app+1:open",
    "tel:+491511234567",
    "mailto:a@example.com",
    "datax:1",
  ])("the check of URLs accepts the link %s (INX-8)", (url) => {
    expect(checkUrl(url)).toBeUndefined();
    expect(checkUrlTemplate(url)).toBeUndefined();
  });

  it.each([
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "java\tscript:alert(1)",
    "java\nscript:alert(1)",
    " javascript:alert(1)",
    "\u0001javascript:alert(1)",
    "\u00a0https://example.com",
    "\u200bjavascript:alert(1)",
    "javascript\u0000:alert(1)",
    "javascript&colon;alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "data:text/html;base64,PHNjcmlwdD4=",
    "vbscript:msgbox(1)",
    "file:///etc/passwd",
    "blob:https://example.com/1",
    "filesystem:https://example.com/x",
    "about:blank",
    "view-source:https://example.com",
    "",
    "example.com",
    "/relative",
    "//example.com",
    "?q",
    "#x",
    ":x",
    "1app://x",
    "https:",
    "https://",
    "https:///",
    "https:example.com",
    "https:/example.com",
    "https:\\\\example.com",
    "https://exa mple.com",
    "https://example.com/\r\nSet-Cookie: a=b",
    "https://example.com/\u202egpj.exe",
    'https://example.com/"onclick="x',
    "https://example.com/<b>",
    "https://user:secret@example.com/",
    "https://user@example.com/",
    "https://example.com:99999/",
    "https://[::1/",
    "https://example.com/\ud800",
    "myapp:",
  ])("the check of URLs refuses %j (INX-8)", (url) => {
    expect(checkUrl(url)).toBeTypeOf("string");
    expect(checkUrlTemplate(url)).toBeTypeOf("string");
  });

  it("the check of URLs takes only http and https for images (INX-7)", () => {
    expect(checkUrl("https://cdn.example.com/a.png", "image")).toBeUndefined();
    expect(checkUrl("http://localhost:3000/a.png", "image")).toBeUndefined();
    expect(checkUrl("myapp://a.png", "image")).toBe("must be an http or https URL");
    expect(checkUrl("data:image/png;base64,AA", "image")).toBe("must not use the scheme data:");
    expect(checkUrlTemplate("{{ data.image }}", "image")).toBeUndefined();
    expect(checkUrlTemplate("myapp://{{ data.image }}", "image")).toBeTypeOf("string");
  });

  it("the check of URLs takes at most 2,048 characters (INX-8)", () => {
    const start = "https://example.com/";
    expect(checkUrl(start + "a".repeat(URL_LENGTH - start.length))).toBeUndefined();
    expect(checkUrl(start + "a".repeat(URL_LENGTH - start.length + 1))).toMatch(/2048/);
    expect(checkUrlTemplate(start + "a".repeat(URL_LENGTH - start.length + 1))).toMatch(/2048/);
  });

  it.each([
    ["https://example.com/{{ data.id }}", true],
    ["https://example.com/{{ data.id | default: 'a b' }}/{% if data.x %}y{% endif %}", true],
    ["{{ data.url }}", true],
    ["{{ data.url }}?from=mail", true],
    ["myapp://{{ data.id }}", true],
    ["https://{{ data.host }}/a", true],
    ["javascript:{{ data.x }}", false],
    ["https://example.com/{{ data.id }} x", false],
    ["{{ data.url }}?a= b", false],
    ["https://example.com/{{ data.id", false],
    ["{ data.url }", false],
    ["{", false],
  ])("the check of URLs judges the fixed part of %s (D-LIQUID)", (url, isAccepted) => {
    expect(checkUrlTemplate(url) === undefined).toBe(isAccepted);
  });

  it("the check of URLs accepts nothing that a browser would run or read locally (INX-8)", () => {
    const piece = fc.constantFrom(
      "java",
      "script",
      ":",
      "data",
      "\t",
      "\n",
      " ",
      "\u0000",
      "/",
      "\\",
      "https",
      "a",
      "J",
      "\u200b",
      "@",
      "x.y",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const url = pieces.join("");
        if (checkUrl(url) !== undefined) return;
        const parsed = URL.parse(url);
        expect(["javascript:", "data:", "file:", "blob:", "vbscript:"]).not.toContain(parsed?.protocol);
        expect(parsed).not.toBeNull();
      }),
      { numRuns: 1_000 },
    );
  });
});
