// Mails to begin with: each is a design of its own, for a purpose that most workspaces have.
import {
  type Block,
  type BlockType,
  type Cell,
  type Design,
  type MailTheme,
  newId,
  PLAIN,
  type Says,
} from "./design.ts";
import { kinds } from "./kinds.ts";

const HELLO = "{{ subscriber.first_name | default: 'there' }}";

type Part = { [T in BlockType]: readonly [T, Partial<Says[T]>, string?] }[BlockType];

export interface Starter {
  name: string;
  about: string;
  subject: string;
  preheader: string;
  look: MailTheme;
  parts: readonly Part[];
}

const cell = (title: string, text: string, label = ""): Cell => ({
  image: "",
  title,
  text,
  label,
  url: label && "https://example.com/",
});

const brand = (name: string): Part => ["heading", { text: name, size: "small", align: "center" }];
const address: Part = ["footer", { text: "Your company\n\nYou get this because you have an account with us." }];

export const starters: readonly Starter[] = [
  {
    name: "Welcome",
    about: "The first email after a sign-up",
    subject: `Welcome, ${HELLO}`,
    preheader: "Three steps, five minutes.",
    look: { ...PLAIN, accent: "#4338ca", page: "#eef0fb", radius: 16 },
    parts: [
      ["spacer", { height: 20 }, "#4338ca"],
      ["heading", { text: "YOUR PRODUCT", size: "small", align: "center" }, "#4338ca"],
      ["heading", { text: `Good to have you, ${HELLO}`, size: "large", align: "center" }, "#4338ca"],
      ["text", { text: "You are three small steps away from your first result.", align: "center" }, "#4338ca"],
      ["spacer", { height: 20 }, "#4338ca"],
      ["spacer", { height: 16 }],
      ["heading", { text: "1. Set up your profile", size: "small" }],
      ["text", { text: "Your name, your team, and what you are here for. It takes a minute." }],
      ["heading", { text: "2. Bring your data", size: "small" }],
      ["text", { text: "Upload a file or connect what you use already. Nothing is lost, and you can undo it." }],
      ["heading", { text: "3. Invite a colleague", size: "small" }],
      ["text", { text: "Most teams are faster with two." }],
      ["button", { label: "Begin now", align: "center" }],
      ["divider", { space: 16 }],
      ["text", { text: "Questions? Reply to this mail: a person reads it.", size: "small", align: "center" }],
      address,
      ["spacer", { height: 16 }],
    ],
  },
  {
    name: "Receipt",
    about: "What was bought, and for how much",
    subject: "Your receipt",
    preheader: "Thank you for your order.",
    look: { ...PLAIN, accent: "#0f766e", page: "#f3f5f4", radius: 6 },
    parts: [
      ["spacer", { height: 20 }],
      ["heading", { text: "Your product", size: "small" }],
      ["divider", { space: 8 }],
      ["heading", { text: "Thank you for your order", size: "medium" }],
      [
        "text",
        {
          text: `Hello ${HELLO},\n\nwe have received your payment. This is your receipt; there is nothing else to do.`,
        },
      ],
      [
        "html",
        {
          code: `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="font:15px/24px Arial,sans-serif">
<tr><td class="t" style="padding:10px 0;color:#20242c">Pro plan, 1 month</td><td class="t" align="right" style="padding:10px 0;color:#20242c">29.00</td></tr>
<tr><td class="m" style="padding:10px 0;color:#616875">Tax</td><td class="m" align="right" style="padding:10px 0;color:#616875">5.51</td></tr>
<tr><td class="t d" style="padding:12px 0;border-top:1px solid #d9dde5;color:#20242c;font-weight:700">Total</td><td class="t d" align="right" style="padding:12px 0;border-top:1px solid #d9dde5;color:#20242c;font-weight:700">34.51</td></tr>
</table>`,
        },
      ],
      ["button", { label: "See the invoice", look: "line" }],
      ["text", { text: "Something is not right? Reply to this mail within 14 days.", size: "small" }],
      ["divider", { space: 8 }],
      ["footer", { text: "Your company, with its address and VAT number", align: "left" }],
      ["spacer", { height: 16 }],
    ],
  },
  {
    name: "Cart",
    about: "Something was left behind",
    subject: "You left something behind",
    preheader: "We kept it for two days.",
    look: { ...PLAIN, accent: "#b4470f", page: "#fbf3ec", text: "#2b211b", radius: 14 },
    parts: [
      ["spacer", { height: 24 }],
      brand("Your shop"),
      ["heading", { text: "Still thinking about it?", size: "large", align: "center" }],
      ["text", { text: `We kept your cart, ${HELLO}. It is yours until Thursday.`, align: "center" }],
      ["image", { alt: "What is in your cart" }],
      ["button", { label: "Back to my cart", align: "center" }],
      ["spacer", { height: 12 }],
      [
        "columns",
        {
          cells: [
            cell("Free returns", "30 days, no questions, with a label in the box."),
            cell("Here tomorrow", "Ordered before 16:00, delivered the next day."),
            cell("Two years", "Everything has a warranty that we keep."),
          ],
        },
      ],
      ["divider", { space: 8 }],
      address,
      ["spacer", { height: 16 }],
    ],
  },
  {
    name: "Digest",
    about: "The week in a few lines",
    subject: "Your week",
    preheader: "What happened, and what is next.",
    look: { ...PLAIN, accent: "#1d4ed8", page: "#ffffff", font: "serif", radius: 0 },
    parts: [
      ["spacer", { height: 16 }],
      ["heading", { text: "The Weekly", size: "large" }],
      ["text", { text: "Five minutes on what changed, every Monday.", size: "small" }],
      ["divider", { space: 8 }],
      ["heading", { text: "The story of the week", size: "medium" }],
      [
        "text",
        {
          text: "One paragraph that tells what happened and why it matters to the reader. Then a link.\n\n[Read on](https://example.com/)",
        },
      ],
      ["divider", { space: 8 }],
      [
        "columns",
        {
          cells: [
            cell("A second story", "Two or three lines are enough for it.", "Read"),
            cell("A third one", "What people talked about this week.", "Read"),
          ],
        },
      ],
      ["divider", { space: 8 }],
      ["heading", { text: "In short", size: "small" }],
      [
        "text",
        { text: "- A first line worth knowing\n- A second one, with a [link](https://example.com/)\n- A third one" },
      ],
      ["divider", { space: 8 }],
      ["social", { align: "left" }],
      ["footer", { text: "Your company", align: "left" }],
      ["spacer", { height: 16 }],
    ],
  },
  {
    name: "Launch",
    about: "Something new is here",
    subject: "It is here",
    preheader: "What you asked for, at last.",
    look: { ...PLAIN, accent: "#0e7490", page: "#0b1220", radius: 18 },
    parts: [
      ["spacer", { height: 36 }, "#0b2a3a"],
      ["text", { text: "**NEW**", size: "small", align: "center" }, "#0b2a3a"],
      ["heading", { text: "The one thing you asked for most", size: "large", align: "center" }, "#0b2a3a"],
      ["text", { text: "It is faster, it is simpler, and it is yours from today.", align: "center" }, "#0b2a3a"],
      ["button", { label: "See it in action", align: "center" }, "#0b2a3a"],
      ["spacer", { height: 36 }, "#0b2a3a"],
      ["spacer", { height: 12 }],
      ["image", { alt: "How it looks" }],
      [
        "columns",
        {
          cells: [
            cell("Twice as fast", "What took a minute takes thirty seconds."),
            cell("Made for teams", "Everybody sees the same, at the same time."),
          ],
        },
      ],
      ["button", { label: "Try it", align: "center", look: "line" }],
      ["divider", { space: 12 }],
      address,
      ["spacer", { height: 16 }],
    ],
  },
  {
    name: "Win-back",
    about: "Somebody has not been here for long",
    subject: `We miss you, ${HELLO}`,
    preheader: "A month on us.",
    look: { ...PLAIN, accent: "#9d174d", page: "#fdf2f6", text: "#2a1a22", font: "serif", radius: 20 },
    parts: [
      ["spacer", { height: 32 }],
      ["heading", { text: `It has been a while, ${HELLO}`, size: "large", align: "center" }],
      [
        "text",
        {
          text: "A lot has changed since you were here. We would like to show you, and the next month is on us.",
          align: "center",
        },
      ],
      ["spacer", { height: 8 }],
      ["heading", { text: "One month free", size: "medium", align: "center" }, "#fbe3ec"],
      ["text", { text: "Until the end of the month, with the code **HELLOAGAIN**", align: "center" }, "#fbe3ec"],
      ["spacer", { height: 8 }],
      ["button", { label: "Come back", align: "center" }],
      ["text", { text: "Not for you? Tell us why: one line helps.", size: "small", align: "center" }],
      ["divider", { space: 12 }],
      address,
      ["spacer", { height: 16 }],
    ],
  },
  {
    name: "Survey",
    about: "One question, answered by one tap",
    subject: "One question",
    preheader: "It takes ten seconds.",
    look: { ...PLAIN, accent: "#6d28d9", page: "#f4f2fa", radius: 14 },
    parts: [
      ["spacer", { height: 24 }],
      brand("Your product"),
      ["heading", { text: "How likely are you to recommend us?", size: "medium", align: "center" }],
      ["text", { text: "One tap is enough. Every answer is read.", align: "center" }],
      [
        "html",
        {
          code: `<table role="presentation" align="center" cellpadding="0" cellspacing="6" style="margin:0 auto;font:600 15px/20px Arial,sans-serif"><tr>${[
            1, 2, 3, 4, 5,
          ]
            .map(
              (n) =>
                `<td bgcolor="#6d28d9" style="border-radius:10px;padding:14px 18px"><a href="https://example.com/survey?answer=${n}" style="color:#ffffff;text-decoration:none">${n}</a></td>`,
            )
            .join("")}</tr></table>`,
        },
      ],
      ["text", { text: "1: not at all. 5: at once.", size: "small", align: "center" }],
      ["divider", { space: 12 }],
      address,
      ["spacer", { height: 16 }],
    ],
  },
  {
    name: "Notice",
    about: "Something that everybody must know",
    subject: "Planned maintenance on Sunday",
    preheader: "Half an hour, from 03:00.",
    look: { ...PLAIN, accent: "#92400e", page: "#f4f4f2", radius: 4 },
    parts: [
      ["text", { text: "**Planned maintenance**", size: "small" }, "#fde9c8"],
      ["spacer", { height: 12 }],
      ["heading", { text: "Sunday, 03:00 to 03:30 (CET)", size: "medium" }],
      [
        "text",
        {
          text: `Hello ${HELLO},\n\nwe move to new machines on Sunday. For half an hour, you cannot sign in. Nothing is lost, and nothing is to do.\n\n- What stops: sign-in and reports\n- What goes on: everything that is scheduled`,
        },
      ],
      ["button", { label: "Follow it on the status page", look: "line" }],
      ["divider", { space: 12 }],
      ["footer", { text: "Your company", align: "left" }],
      ["spacer", { height: 16 }],
    ],
  },
];

/** The sender's name in the starter mails. */
const SENDER = /your (?:product|company|shop)/gi;

/** @param sender who sends the mail, where that is known */
const saidBy = <T>(says: T, sender: string | undefined): T =>
  sender === undefined
    ? says
    : // The same shape with other texts, hence the cast.
      (JSON.parse(JSON.stringify(says), (_, value: unknown) =>
        typeof value === "string"
          ? value.replaceAll(SENDER, (found) => (found === found.toUpperCase() ? sender.toUpperCase() : sender))
          : value,
      ) as T);

/** A design of its own, whose blocks can be changed. */
export const designOf = ({ look, parts }: Pick<Starter, "look" | "parts">, sender?: string): Design => ({
  look,
  blocks: parts.map(
    ([type, says, back]) =>
      ({ id: newId(), type, ...kinds[type].start, ...saidBy(says, sender), ...(back && { back }) }) as Block,
  ),
});
