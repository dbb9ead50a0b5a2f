// The keyboard: pages by `g` and a letter, rows by `j` and `k`, panels. Keys do nothing while a text is edited.
import { signal } from "@preact/signals";
import { pages } from "../pages/index.ts";
import { REDO, UNDO } from "./history.ts";
import { go, pathTo } from "./router.ts";
import { me } from "./session.ts";

export const panel = signal<"" | "palette" | "drawer" | "keys">("");

const SEQUENCE_MS = 3_000;
let armedUntil = 0;

const isEditing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

function moveRow(step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  // Without a row that has the focus, the first row in sight gets it.
  const seen = rows.findIndex((row) => row.getBoundingClientRect().top >= 0);
  rows[Math.min(rows.length - 1, Math.max(0, at < 0 ? seen : at + step))]?.focus();
}

/** Presses a button of the page, or of the dialog over it. */
function pressOnTop(keys: string, event: Event): void {
  const top = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document;
  // Else the browser undoes what was typed in a field as well.
  if (top.querySelector("[aria-keyshortcuts]")) event.preventDefault();
  top.querySelector<HTMLElement>(`[aria-keyshortcuts="${keys}"]`)?.click();
}

const actions: Record<string, () => void> = {
  d: () => {
    panel.value = panel.value === "drawer" ? "" : "drawer";
  },
  "?": () => {
    panel.value = "keys";
  },
  "/": () => document.querySelector<HTMLElement>('main input[type="search"]')?.focus(),
  j: () => moveRow(1),
  k: () => moveRow(-1),
  g: () => {
    armedUntil = performance.now() + SEQUENCE_MS;
  },
};

function onKey(event: KeyboardEvent): void {
  if (!me.value) return;
  const { key } = event;
  if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === "k") {
    event.preventDefault();
    // What is shown only now is not left for another page.
    if (!document.querySelector("dialog[data-stays]")) panel.value = panel.value === "palette" ? "" : "palette";
    return;
  }
  if (event.altKey || isEditing(event.target)) return;
  if (event.ctrlKey || event.metaKey) {
    if (key.toLowerCase() === "z") pressOnTop(event.shiftKey ? REDO : UNDO, event);
    return;
  }
  // A panel that was asked for takes the keys before its dialog is there, and no more once it is closing.
  const isComing = (panel.value === "palette" || panel.value === "keys") && !document.querySelector("dialog");
  if (isComing || document.querySelector("dialog[open]")) return;
  if (key === "Escape" && panel.value) {
    panel.value = "";
    return;
  }
  const entry = performance.now() < armedUntil ? pages.find((page) => page.key === key) : undefined;
  armedUntil = 0;
  const act = entry ? () => go(pathTo(entry.name)) : actions[key];
  if (!act) return;
  event.preventDefault();
  act();
}

export const startKeys = (): void => addEventListener("keydown", onKey);
