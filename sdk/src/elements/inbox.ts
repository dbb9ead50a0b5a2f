// <engagement-inbox>: a bell with the number of unread messages, and their list. Import it once to define the element.
import { createBrowserClient } from "../browser.ts";
import { adoptStyle, make, placeWithin, safeUrl } from "./dom.ts";
import { type Feed, type FeedMessage, openFeed } from "./feed.ts";
import { inboxStyle } from "./styles.ts";

/** The words of the element; `{n}` is the number of unread messages. */
export interface InboxLabels {
  bell: string;
  unread: string;
  title: string;
  readAll: string;
  empty: string;
  dismiss: string;
  arrived: string;
}

const english: InboxLabels = {
  bell: "Messages",
  unread: "Messages, {n} unread",
  title: "Messages",
  readAll: "Mark all as read",
  empty: "No messages",
  dismiss: "Dismiss",
  arrived: "New message:",
};

const MAX_SHOWN = 99;
const BELL = "M12 3a6 6 0 0 0-6 6v4l-2 3h16l-2-3V9a6 6 0 0 0-6-6Zm-2 16a2 2 0 0 0 4 0";

/** Sent when a message is opened. `preventDefault()` keeps the element from going to its address. */
export type OpenEvent = CustomEvent<{ message: FeedMessage; url: string | undefined }>;

/**
 * Either set `feed` (one for all elements of a page: `openFeed`), or the attributes `base-url`, `sdk-key`, `external-id`
 * and, where the workspace demands it, `user-hash`. Sends `engagement-open` and `engagement-error`.
 */
export class EngagementInbox extends HTMLElement {
  static readonly observedAttributes = ["base-url", "sdk-key", "external-id", "user-hash"];

  #feed: Feed | undefined;
  #ownFeed: Feed | undefined;
  #unsubscribe: (() => void) | undefined;
  #labels = english;
  /** Raised with each change of the attributes, so that work of an earlier attempt is dropped. */
  #attempt = 0;
  readonly #bell: HTMLButtonElement;
  readonly #badge = make("span", { part: "badge", class: "badge", "aria-hidden": "true", hidden: "" });
  readonly #panel: HTMLElement;
  readonly #heading = make("h2", { part: "heading", id: "heading" });
  readonly #readAll = make("button", { part: "read-all", class: "all", type: "button" });
  readonly #list = make("ul", { part: "list", class: "list", role: "list" });
  readonly #empty = make("p", { part: "empty", class: "empty" });
  readonly #live = make("p", { class: "hidden", role: "status", "aria-live": "polite" });

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    adoptStyle(root, inboxStyle);
    const bell = { part: "bell", class: "bell", type: "button", "aria-expanded": "false", "aria-controls": "panel" };
    this.#bell = make("button", bell, icon(), this.#badge);
    this.#panel = make(
      "section",
      { part: "panel", class: "panel", id: "panel", role: "dialog", "aria-labelledby": "heading", hidden: "" },
      make("div", { part: "header", class: "head" }, this.#heading, this.#readAll),
      this.#list,
      this.#empty,
    );
    root.append(this.#bell, this.#panel, this.#live);
    this.#bell.addEventListener("click", () => this.toggle());
    this.#readAll.addEventListener("click", () => {
      this.#heading.tabIndex = -1;
      this.#heading.focus();
      void this.#feed?.readAll();
    });
    root.addEventListener("keydown", (event) => this.#onKey(event as KeyboardEvent));
    this.#render([]);
  }

  get feed(): Feed | undefined {
    return this.#feed;
  }

  set feed(feed: Feed | undefined) {
    this.#attempt++;
    this.#closeOwn();
    this.#show(feed);
  }

  /** Words in another language; those that are left out stay English. */
  set labels(labels: Partial<InboxLabels>) {
    this.#labels = { ...english, ...labels };
    this.#render([]);
  }

  get isOpen(): boolean {
    return !this.#panel.hidden;
  }

  /** Opens or closes the list. */
  toggle(isOpen = !this.isOpen): void {
    if (isOpen === this.isOpen) return;
    this.#panel.hidden = !isOpen;
    this.#bell.setAttribute("aria-expanded", String(isOpen));
    this.#place();
    if (isOpen) (this.#openers()[0] ?? this.#heading).focus();
    else if (this.shadowRoot?.activeElement) this.#bell.focus();
  }

  connectedCallback(): void {
    document.addEventListener("pointerdown", this.#onOutside);
    window.addEventListener("resize", this.#place);
    if (this.#feed) this.#show(this.#feed);
    else this.#connect();
  }

  disconnectedCallback(): void {
    document.removeEventListener("pointerdown", this.#onOutside);
    window.removeEventListener("resize", this.#place);
    this.#attempt++;
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    if (this.#ownFeed) this.#feed = undefined;
    this.#closeOwn();
  }

  attributeChangedCallback(): void {
    if (!this.isConnected || (this.#feed && !this.#ownFeed)) return;
    this.#closeOwn();
    this.#show(undefined);
    this.#connect();
  }

  readonly #place = () => {
    if (this.isOpen) placeWithin(this.#panel, this.#bell);
  };

  readonly #onOutside = (event: Event) => {
    if (!event.composedPath().includes(this)) this.toggle(false);
  };

  #connect(): void {
    const [baseUrl, sdkKey, external_id, hash] = EngagementInbox.observedAttributes.map((name) =>
      this.getAttribute(name),
    );
    if (!baseUrl || !sdkKey || !external_id) return;
    const attempt = ++this.#attempt;
    const client = createBrowserClient({ baseUrl, sdkKey, ...(hash && { userHash: hash }) });
    client.subscribers.upsert({ external_id }).then(
      ({ id }) => {
        if (attempt !== this.#attempt || !this.isConnected) return;
        this.#ownFeed = openFeed(client, id, { onError: (error) => this.#fail(error) });
        this.#show(this.#ownFeed);
      },
      (error: unknown) => this.#fail(error),
    );
  }

  #closeOwn(): void {
    this.#ownFeed?.close();
    this.#ownFeed = undefined;
  }

  #show(feed: Feed | undefined): void {
    this.#unsubscribe?.();
    this.#feed = feed;
    let isFirst = true;
    this.#unsubscribe = feed?.subscribe((_, arrived) => {
      // The messages at the beginning are not announced as new.
      this.#render(isFirst ? [] : arrived.filter(({ status }) => status === "unread"));
      if (feed.state === "live" || arrived.length > 0) isFirst = false;
    });
    if (!feed) this.#render([]);
  }

  #fail(error: unknown): void {
    this.dispatchEvent(new CustomEvent("engagement-error", { detail: { error } }));
  }

  #render(arrived: readonly FeedMessage[]): void {
    const { unread = 0, messages = [] } = this.#feed ?? {};
    const words = this.#labels;
    this.#bell.setAttribute("aria-label", unread > 0 ? words.unread.replace("{n}", String(unread)) : words.bell);
    this.#badge.hidden = unread === 0;
    this.#badge.textContent = unread > MAX_SHOWN ? `${MAX_SHOWN}+` : String(unread);
    this.#heading.textContent = words.title;
    this.#readAll.textContent = words.readAll;
    this.#readAll.disabled = unread === 0;
    this.#empty.textContent = words.empty;
    this.#empty.hidden = messages.length > 0;
    this.#renderList(messages);
    const [newest] = arrived;
    if (newest) this.#live.textContent = `${words.arrived} ${newest.content.title}`;
  }

  /** Keeps the nodes of messages that stay, and with them the focus. */
  #renderList(messages: readonly FeedMessage[]): void {
    const known = new Map([...this.#list.children].map((item) => [(item as HTMLElement).dataset.id, item]));
    const items = messages.map((message) => {
      const found = known.get(message.id);
      const item = found ?? this.#itemOf(message);
      item.setAttribute("part", message.status === "unread" ? "item item-unread" : "item");
      item.className = message.status === "unread" ? "item unread" : "item";
      const label = `${this.#labels.dismiss}: ${message.content.title}`;
      item.querySelector(".dismiss")?.setAttribute("aria-label", label);
      return item;
    });
    const ids = new Set(messages.map(({ id }) => id));
    for (const [id, item] of known) if (!ids.has(id ?? "")) item.remove();
    for (const [i, item] of items.entries())
      if (this.#list.children[i] !== item) this.#list.insertBefore(item, this.#list.children[i] ?? null);
  }

  #itemOf(message: FeedMessage): HTMLLIElement {
    const { title, body } = message.content;
    const time = make("time", { part: "time", class: "time", datetime: message.created_at });
    time.textContent = new Date(message.created_at).toLocaleString(this.lang || undefined, {
      dateStyle: "medium",
      timeStyle: "short",
    });
    const open = make(
      "button",
      { part: "open", class: "open", type: "button" },
      make("span", { part: "title", class: "title" }, title),
      make("span", { part: "body", class: "text" }, body),
      time,
    );
    const dismiss = make("button", { part: "dismiss", class: "dismiss", type: "button" }, "×");
    open.addEventListener("click", () => this.#open(message));
    dismiss.addEventListener("click", () => this.#dismiss(message));
    return make("li", { "data-id": message.id }, open, dismiss);
  }

  #open(message: FeedMessage): void {
    const { actions = [], format } = message.content;
    const action = actions.find(({ url }) => safeUrl(url));
    const url = safeUrl(action?.url);
    if (message.status === "unread") void this.#feed?.read(message.id);
    this.#feed?.report(message, format ? "inapp_click" : "tapped", action?.id);
    const event: OpenEvent = new CustomEvent("engagement-open", { detail: { message, url }, cancelable: true });
    if (this.dispatchEvent(event) && url) location.assign(url);
  }

  #dismiss(message: FeedMessage): void {
    const openers = this.#openers();
    const i = openers.findIndex((opener) => opener.closest("li")?.dataset.id === message.id);
    (openers[i + 1] ?? openers[i - 1] ?? this.#bell).focus();
    this.#feed?.report(message, message.content.format ? "inapp_dismiss" : "dismissed");
    void this.#feed?.dismiss(message.id);
  }

  #openers(): HTMLElement[] {
    return [...this.#list.querySelectorAll<HTMLElement>(".open")];
  }

  #onKey(event: KeyboardEvent): void {
    if (!this.isOpen) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      this.toggle(false);
      this.#bell.focus();
      return;
    }
    const openers = this.#openers();
    const at = openers.findIndex((opener) => opener.closest("li")?.contains(event.target as Node));
    const to = { ArrowDown: at + 1, ArrowUp: at < 0 ? -1 : at - 1, Home: 0, End: openers.length - 1 }[event.key];
    const target = to === undefined ? undefined : openers[Math.max(0, Math.min(to, openers.length - 1))];
    if (target) {
      event.preventDefault();
      target.focus();
    }
    const current = openers[at]?.closest("li")?.dataset.id;
    const message = this.#feed?.messages.find(({ id }) => id === current);
    if (event.key === "Delete" && message) this.#dismiss(message);
  }
}

function icon(): SVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", BELL);
  svg.append(path);
  return svg;
}

declare global {
  interface HTMLElementTagNameMap {
    "engagement-inbox": EngagementInbox;
  }
}

if (!customElements.get("engagement-inbox")) customElements.define("engagement-inbox", EngagementInbox);
