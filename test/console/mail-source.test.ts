// The outbox shows a mail as it was sent: what its source says is what the service wrote.
import { expect, it } from "vitest";
import { htmlOfSource, loadsRemote, ofEncodedWords } from "../../console/app/mail-source.ts";
import { mailSource } from "../../shared/providers/email.ts";
import { mailParts } from "../../shared/rules/mail-parts.ts";

const credentials = { type: "email", provider: "ses", from_email: "shop@example.com" } as const;

function sent(html: string, from_name?: string): string {
  const mail = mailSource(
    { ...credentials, ...(from_name && { from_name }) },
    {
      tenant: "t",
      job: "j",
      subscriber: "s",
      target: "email",
      address: { email: "ada@example.com" },
      title: "Neu",
      body: "",
      parts: { text: "Hallo", html },
    },
    0,
  );
  if (mail.kind === "refused") throw new Error(mail.reason);
  return mail.source;
}

it.each([
  "<p>Hi</p>\n<p>there = here</p>",
  "<p>Grüße 🎉 aus Köln</p><p>a=b</p>",
  `<p>${"long ".repeat(300)}</p>`,
  "<p>ends with a space </p> \n",
])("%j is read as it was written (CON-3)", (html) => {
  expect(htmlOfSource(sent(html))).toBe(html);
});

it("the pixel that counts opens is left out (CON-3)", () => {
  const { html } = mailParts(
    { text: "Hi", html: "<p>Hi</p>" },
    { open: "https://a.example/o/1", unsubscribe: "https://a.example/u/1" },
  );
  expect(html).toContain("/o/1");
  const shown = htmlOfSource(sent(html));
  expect(shown).not.toContain("/o/1");
  expect(shown).toContain('<a href="https://a.example/u/1">Unsubscribe</a>');
});

it.each(["Nordlicht Fahrräder & Zubehör GmbH", "株式会社ノルドリヒト自転車と部品とアクセサリーの専門店", "Ada's Shop"])(
  "the sender %j is read as it was written (CON-3)",
  (from_name) => {
    const header = /^From: ((?:.+\r\n )*.+)\r\n/m.exec(sent("<p>Hi</p>", from_name))?.[1] ?? "";
    expect(ofEncodedWords(header).replaceAll(/["\\]/g, "")).toBe(`${from_name} <shop@example.com>`);
  },
);

it("what is no mail has no HTML (CON-3)", () => {
  expect(htmlOfSource('{"to":"+49"}')).toBeUndefined();
});

const OURS = "https://crm.example/assets/t/a.png";

it.each([`<p>Hi</p>`, `<img src="${OURS}">`, `<td background='${OURS}'>`, `<img src="data:image/png;base64,AA">`])(
  "%j tells nobody outside that it is looked at (CON-3)",
  (html) => {
    expect(loadsRemote(html, "https://crm.example")).toBe(false);
  },
);

it.each([
  `<img src="https://track.example/o.gif">`,
  `<img src=//track.example/o.gif>`,
  `<img src="&#104;ttps://track.example/o.gif">`,
  `<img src="https://crm.example/o/token">`,
  `<img src="${OURS}" srcset="${OURS} 1x, https://track.example/o.gif 2x">`,
  `<style>p { background: url(https://track.example/o.gif) }</style>`,
  `<style>p { background: u\\72l(https://track.example/o.gif) }</style>`,
  `<svg><image href="https://track.example/o.gif"/></svg>`,
])("%j may tell somebody outside that it is looked at (CON-3)", (html) => {
  expect(loadsRemote(html, "https://crm.example")).toBe(true);
});
