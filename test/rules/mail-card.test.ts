// The frame of mails that the service itself writes.
import { expect, it } from "vitest";
import { cardHtml } from "../../shared/rules/mail-card.ts";
import { textOfHtml } from "../../shared/rules/mail-text.ts";
import { accountMail, invitationMail } from "../../shared/store/workspaces/account-mails.ts";

const ORIGIN = "https://engage.example";
const TOKEN = "t".repeat(43);
const invitation = {
  workspace: "Bäckerei <b>Ada</b>",
  role: "marketer",
  token: TOKEN,
  expires_at: "2026-12-06T08:00:00Z",
};

it.each([
  ["a password", accountMail(ORIGIN, "reset", "Ada", TOKEN)],
  ["an address", accountMail(ORIGIN, "confirm", "Ada", TOKEN)],
  ["an invitation", invitationMail(ORIGIN, invitation)],
])(
  "the HTML of a mail about %s says what its text says, and has its link as a button (ACC-1, AMB-78)",
  (_, { text, html }) => {
    const said = textOfHtml(html).replaceAll(/\s+/g, " ");
    const link = /https:\S+/.exec(text)?.[0];

    for (const line of text.split("\n\n")) expect(said).toContain(line);
    expect(html.split(`<a href="${link}"`)).toHaveLength(3);
  },
);

it("the last day of an invitation is a date with its zone (AMB-78)", () => {
  expect(invitationMail(ORIGIN, invitation).text).toContain("until 6 December 2026 at 08:00 UTC.");
});

it("the frame of a mail has nothing that a template would read as Liquid (AMB-129)", () => {
  const html = cardHtml({ lang: "en", heading: "A", before: [], button: { label: "B", url: "C" }, after: [] });

  expect(html).not.toMatch(/\{\{|\{%|\}\}|%\}/);
});
