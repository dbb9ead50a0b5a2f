// Contents of the console: every page, in the order of the navigation. Each is loaded when it is opened.
import type { PageEntry } from "../app/pages.ts";

export const pages: readonly PageEntry[] = [
  {
    name: "home",
    title: "Home",
    icon: "home",
    key: "h",
    section: "",
    words: "start first message insights overview",
    load: () => import("./home/index.tsx"),
  },
  {
    name: "send",
    title: "Send",
    icon: "send",
    key: "s",
    section: "Messages",
    words: "compose message notification new",
    load: () => import("./send/index.tsx"),
  },
  {
    name: "activity",
    title: "Activity",
    icon: "activity",
    key: "a",
    section: "Messages",
    words: "sends deliveries outbox why",
    load: () => import("./activity/index.tsx"),
  },
  {
    name: "people",
    title: "People",
    icon: "people",
    key: "p",
    section: "People",
    words: "subscribers profiles consent erase",
    load: () => import("./people/index.tsx"),
  },
  {
    name: "channels",
    title: "Channels",
    icon: "channel",
    key: "c",
    section: "Set-up",
    words: "credentials e-mail smtp push sms verify",
    load: () => import("./channels/index.tsx"),
  },
];
