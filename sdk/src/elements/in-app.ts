// Shows in-app messages as banner, modal, card or fullscreen, one at a time, and reports what the user does.
import { adoptStyle, make, safeUrl } from "./dom.ts";
import type { Action, Display, Feed, FeedMessage } from "./feed.ts";
import { inAppStyle } from "./styles.ts";

export interface InAppOptions {
  /** Where the user is: a path. Default: that of the page. */
  screen?: () => string;
  /** The parent node of messages. Default: the body. */
  container?: HTMLElement;
  /** Called before a message with an address is left. Return false to go there yourself. */
  onAction?(action: Action, message: FeedMessage): boolean | undefined;
  /** The words of the button that closes. */
  closeLabel?: string;
}

export interface InApp {
  /** Something happened: messages that wait for this event are shown. */
  track(event: string): void;
  /** The user is on another screen: messages for it are shown. */
  update(): void;
  close(): void;
}

const SHOWN = ["banner", "modal", "card", "fullscreen"];
const KEY = "engagement:shown";

/** `/shop/*` and `/items/:id` are patterns. */
function isOn(patterns: readonly string[] | undefined, screen: string): boolean {
  if (!patterns || patterns.length === 0) return true;
  return patterns.some((pattern) => {
    const parts = pattern.split("/").map((part) => {
      if (part === "*") return ".*";
      return part.startsWith(":") ? "[^/]+" : part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", "[^/]*");
    });
    return new RegExp(`^${parts.join("/")}/?$`).test(screen);
  });
}

/** Ids that were shown, in a storage of the browser, which its other tabs write too; in memory where it is closed to us. */
function memoryOf(storage: () => Storage) {
  const shown = new Set<string>();
  const stored = (): unknown[] => {
    try {
      return [JSON.parse(storage().getItem(KEY) ?? "[]")].flat();
    } catch {
      return [];
    }
  };
  return {
    has: (id: string) => shown.has(id) || stored().includes(id),
    add: (id: string) => {
      shown.add(id);
      try {
        storage().setItem(KEY, JSON.stringify([...stored(), id].slice(-500)));
      } catch {
        // Private windows may refuse: it is then remembered for this page alone.
      }
    },
  };
}

/** Begins a session: `showInApp(openFeed(client, id))`. */
export function showInApp(feed: Feed, options: InAppOptions = {}): InApp {
  const { screen = () => location.pathname } = options;
  const [ever, session] = [memoryOf(() => localStorage), memoryOf(() => sessionStorage)];
  const happened = new Set<string>();
  /** Ids of the messages that existed when the session began. */
  let atStart: ReadonlySet<string> | undefined;
  let current: { message: FeedMessage; remove(): void } | undefined;

  const isDue = ({ id, status, content }: FeedMessage) => {
    const { trigger = "immediate", trigger_event, screens, frequency = "once" }: Display = content.display ?? {};
    if (status !== "unread" || !SHOWN.includes(content.format ?? "") || !isOn(screens, screen())) return false;
    if (session.has(id) || (frequency === "once" && ever.has(id))) return false;
    if (trigger === "event") return happened.has(trigger_event ?? "");
    return trigger === "immediate" || atStart?.has(id) === true;
  };
  const next = () => {
    if (current) return;
    const due = feed.messages.filter(isDue);
    const [first] = due.sort((a, b) => (b.content.display?.priority ?? 0) - (a.content.display?.priority ?? 0));
    if (first) show(first);
  };
  const show = (message: FeedMessage) => {
    session.add(message.id);
    ever.add(message.id);
    const over = () => {
      current?.remove();
      current = undefined;
      next();
    };
    const isOnce = (message.content.display?.frequency ?? "once") === "once";
    const remove = render(message, options, {
      dismissed: () => {
        feed.report(message, "inapp_dismiss");
        if (isOnce) void feed.read(message.id);
        over();
      },
      acted: (action) => {
        const url = safeUrl(action.url);
        feed.report(message, url ? "inapp_click" : "inapp_dismiss", action.id);
        void feed.read(message.id);
        over();
        if (url && options.onAction?.(action, message) !== false) location.assign(url);
      },
    });
    current = { message, remove };
    feed.report(message, "inapp_impression");
  };
  const unsubscribe = feed.subscribe(() => {
    if (feed.messages.length > 0 || feed.state === "live") atStart ??= new Set(feed.messages.map(({ id }) => id));
    // A message that was recalled meanwhile disappears.
    if (current && !feed.messages.some(({ id }) => id === current?.message.id)) {
      current.remove();
      current = undefined;
    }
    next();
  });
  return {
    track: (event) => {
      happened.add(event);
      next();
    },
    update: next,
    close: () => {
      unsubscribe();
      current?.remove();
      current = undefined;
    },
  };
}

interface Answers {
  dismissed(): void;
  acted(action: Action): void;
}

/** @returns a function that removes the message without an answer */
function render(
  { content: { title, body, image_url, actions = [], format = "banner" } }: FeedMessage,
  { container = document.body, closeLabel = "Close" }: InAppOptions,
  answers: Answers,
): () => void {
  const host = make("div", { "data-engagement-format": format });
  const root = host.attachShadow({ mode: "open" });
  adoptStyle(root, inAppStyle);
  const image = safeUrl(image_url);
  const close = make("button", { part: "close", class: "close", type: "button", "aria-label": closeLabel }, "×");
  const buttons = actions.map((action, i) => {
    const button = make("button", { part: "action", class: i === 0 ? "first" : "", type: "button" }, action.title);
    button.addEventListener("click", () => answers.acted(action));
    return button;
  });
  close.addEventListener("click", () => answers.dismissed());

  const isModal = format === "modal" || format === "fullscreen";
  const named = {
    part: `box ${format}`,
    class: `box ${format}`,
    "aria-labelledby": "title",
    "aria-describedby": "body",
  };
  const box = make(
    isModal ? "dialog" : "section",
    { ...named, ...(!isModal && { role: "region", "aria-live": "polite" }) },
    image !== undefined && make("img", { part: "image", src: image, alt: "" }),
    make("h2", { part: "title", id: "title" }, title),
    make("p", { part: "body", id: "body" }, body ?? ""),
    make("div", { part: "actions", class: "actions" }, ...buttons),
    close,
  );

  root.append(box);
  container.append(host);
  if (box instanceof HTMLDialogElement) {
    // Escape closes it; the browser keeps the focus inside.
    box.addEventListener("cancel", (event) => {
      event.preventDefault();
      answers.dismissed();
    });
    box.showModal();
  }

  return () => {
    if (box instanceof HTMLDialogElement) box.close();
    host.remove();
  };
}
