// Where the links of mails lead: unsubscribing, and what was opened and clicked. Open to all; the token is the proof.
import { endpoints, group, redirect } from "../../../shared/http/endpoint.ts";
import { notFound } from "../../../shared/http/errors.ts";
import { type MailLinkOpener, openedMailLink } from "../../../shared/mail-links.ts";
import { unsubscribe } from "../../../shared/store/subscribers/mail-consents.ts";
import { getSubscriber } from "../../../shared/store/subscribers/subscribers.ts";
import { askPage, donePage, pageHeaders } from "./page.ts";
import { trackClick, trackOpen } from "./tracking.ts";

const endpoint = endpoints({ credentials: [], uses: [openedMailLink] });
const asPage = { type: "text/html; charset=utf-8", headers: pageHeaders };
const asPicture = { type: "image/gif" };
const asNothing = { type: "text/plain; charset=utf-8", headers: { "referrer-policy": "no-referrer" } };

/** One transparent dot. */
const DOT = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

export const mail = group("mail", "Where the links of e-mails lead.", [
  endpoint(
    "GET /u/:token",
    {},
    {
      summary: "Show the page that unsubscribes",
      description: "Changes nothing, for scanners follow links: the button on it posts to the same address.",
      text: asPage,
      errors: ["NOT_FOUND"],
    },
    async ({ openLink, params }) => {
      await unsubscriber(openLink, params.token);
      return askPage;
    },
  ),

  endpoint(
    "POST /u/:token",
    {},
    {
      summary: "Unsubscribe from marketing e-mail",
      description:
        "What `List-Unsubscribe` of each marketing mail names, so one click does (RFC 8058); any body is fine. A repeat " +
        "changes nothing. The link never expires; of whoever is erased nothing is known any more.",
      text: asPage,
      errors: ["NOT_FOUND"],
    },
    async ({ openLink, params }) => {
      const { store, subscriber } = await unsubscriber(openLink, params.token);
      await unsubscribe(store, subscriber);
      return donePage;
    },
  ),

  endpoint(
    "GET /o/:token",
    {},
    {
      summary: "Count that a mail was opened",
      description:
        "The picture of one dot in each HTML body. Counts as `email_opened`, always, with a verdict beside it where a " +
        "machine asked (F19); once a second at most.",
      text: asPicture,
      errors: ["NOT_FOUND"],
    },
    async (asked) => {
      await trackOpen(asked, "GET");
      return DOT;
    },
  ),

  endpoint(
    "HEAD /o/:token",
    {},
    { summary: "Ask for the picture without its dot", text: asPicture, errors: ["NOT_FOUND"] },
    async (asked) => {
      await trackOpen(asked, "HEAD");
      return "";
    },
  ),

  endpoint(
    "GET /c/:token",
    {},
    {
      summary: "Count a click, and go where the link leads",
      description:
        "The token says which link of which message; its target is taken from the message, never from the request. " +
        "Counts as `email_clicked`, with a verdict beside it where a machine asked.",
      status: 302,
      text: asNothing,
      errors: ["NOT_FOUND"],
    },
    async (asked) => redirect(await trackClick(asked, "GET")),
  ),

  endpoint(
    "HEAD /c/:token",
    {},
    { summary: "Ask where a link leads", status: 302, text: asNothing, errors: ["NOT_FOUND"] },
    async (asked) => redirect(await trackClick(asked, "HEAD")),
  ),
]);

/** @throws 404, whether the token is not ours or its subscriber is no more. */
async function unsubscriber(openLink: MailLinkOpener, token: string) {
  const opened = await openLink("unsubscribe", token);
  if (!opened) throw notFound("link");
  const { store, link } = opened;
  if (!(await getSubscriber(store, link.subscriber))) throw notFound("link");
  return { store, subscriber: link.subscriber };
}
