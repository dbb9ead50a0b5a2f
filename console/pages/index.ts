// Contents of the console: every page, in the order of the navigation. Each is loaded when it is opened.
import type { ComponentType } from "preact";
import type { Address } from "../app/router.ts";
import { isLocal } from "../app/session.ts";
import type { IconName } from "../components/icon.tsx";

/**
 * What a page declares, so that navigation, palette and router know it before its code is loaded: the segment of its
 * address, its icon, the key that follows `g`, and words that find it in the palette.
 */
type Row = readonly [name: string, icon: IconName, key: string, words: string, load: () => Promise<LoadedPage>];

export interface LoadedPage {
  View: ComponentType;
  /** Asks at once what its views would ask one after another. */
  ahead?: (place: Address) => void;
}

/** Loads one of the pages that share a file. */
const oneOf =
  <N extends string>(file: () => Promise<{ views: Record<N, LoadedPage> }>, page: N) =>
  async (): Promise<LoadedPage> =>
    (await file()).views[page];
const figures = () => import("./figures.ts");
const machine = () => import("./machine.ts");
const messages = () => import("./messages.ts");
const persons = () => import("./persons.ts");
const setup = () => import("./setup.ts");

/** By section of the navigation. */
const sections: Readonly<Record<string, readonly Row[]>> = {
  "": [["home", "home", "h", "start first message overview", oneOf(figures, "Home")]],
  Messages: [
    ["send", "send", "s", "compose message notification new", oneOf(messages, "Send")],
    ["activity", "activity", "a", "sends deliveries outbox why", oneOf(persons, "Activity")],
    ["campaigns", "campaign", "m", "reports lift funnel control group", oneOf(messages, "Campaigns")],
    ["journeys", "journey", "j", "automation steps delays triggers", () => import("./journeys/index.tsx")],
    ["content", "content", "t", "templates lists schedules experiences assets images", oneOf(messages, "Content")],
    ["insights", "insights", "i", "heatmap funnel conversions revenue annotations sources", oneOf(figures, "Insights")],
    [
      "deliverability",
      "shield",
      "d",
      "email mailbox provider gmail bounces complaints spam spf dkim dmarc",
      oneOf(figures, "Deliverability"),
    ],
  ],
  People: [
    ["people", "people", "p", "subscribers profiles consent erase", oneOf(persons, "People")],
    ["import", "import", "u", "csv file upload list rows mapping", oneOf(persons, "Import")],
    ["exports", "export", "x", "csv download file subscribers recipients events report", oneOf(persons, "Exports")],
    [
      "suppressions",
      "blocked",
      "b",
      "blocked bounce complaint unsubscribed address lift",
      oneOf(persons, "Suppressions"),
    ],
    ["segments", "segment", "e", "audience rule dynamic members", oneOf(persons, "Segments")],
  ],
  "Set-up": [
    ["channels", "channel", "c", "credentials email smtp push sms verify", oneOf(setup, "Channels")],
    ["webhooks", "webhook", "w", "endpoint deliveries replay secret", oneOf(setup, "Webhooks")],
    [
      "settings",
      "settings",
      ",",
      "account password sessions second factor team members roles invite keys rotate audit erased receipts plan usage quiet hours caps",
      oneOf(setup, "Settings"),
    ],
  ],
  "This machine": [
    ["outbox", "outbox", "o", "provider mails push sms sent local", oneOf(machine, "Outbox")],
    [
      "operator",
      "operator",
      "y",
      "clock faults meter workspaces dead letters cost version local",
      oneOf(machine, "Operator"),
    ],
  ],
};

/** Only where the service runs on this machine. */
const LOCAL = "This machine";

export const pages = Object.entries(sections).flatMap(([section, rows]) =>
  section === LOCAL && !isLocal
    ? []
    : rows.map(([name, icon, key, words, load]) => {
        const title = name.charAt(0).toUpperCase() + name.slice(1);
        return { name, title, icon, key, words, load, section };
      }),
);
