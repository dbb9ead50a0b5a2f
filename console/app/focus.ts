// Who works by keyboard keeps a place: where what has the focus is taken away, the nearest that stays gets it.

const FOCUSABLE = 'a[href], button, input, select, textarea, summary, [tabindex="0"], h1[tabindex]';
/** A page that opens puts the focus on its title, a dialog that closes on what opened it. */
const PARTS = "dialog, .content > *";

/** From what was focused by keyboard last to the top of the document. */
let path: readonly Element[] = [];
/** Firefox takes a focus by script, which a key led to, for one by a pointer. */
let isByKey = false;
/** Where the keyboard went on from there, then where it came from. */
let around: readonly HTMLElement[] = [];

function pathOf(element: Element): readonly Element[] {
  const { parentElement } = element;
  return parentElement ? [element, ...pathOf(parentElement)] : [element];
}

function note({ target }: FocusEvent): void {
  path = target instanceof Element && (isByKey || target.matches(":focus-visible")) ? pathOf(target) : [];
  const all = path.length > 0 ? [...document.querySelectorAll<HTMLElement>(FOCUSABLE)] : [];
  const at = all.indexOf(target as HTMLElement);
  around = [...all.slice(at + 1), ...all.slice(0, Math.max(0, at)).reverse()];
}

function repair(): void {
  const [lost] = path;
  if (!lost || lost.isConnected || document.activeElement !== document.body) return;
  const inside = path.filter((element) => element.isConnected && element.closest(PARTS));
  path = [];
  const stay = around.filter((element) => element.getClientRects().length > 0);
  const [found] = inside.flatMap((home) => {
    const near = stay.find((element) => home.contains(element)) ?? home.querySelector<HTMLElement>(FOCUSABLE);
    return near ?? [];
  });
  const place = found ?? document.querySelector<HTMLElement>("main h1[tabindex]");
  place?.focus({ preventScroll: true });
  place?.scrollIntoView({ block: "nearest" });
}

const FIELDS = 'input:not([type="radio"]), select, textarea';

/** What a button is about to add, such as a row above it, gets the focus with its first field, unless it went elsewhere. */
export function enterAdded(button: Element): void {
  const region = button.closest("form, .card, dialog") ?? document.body;
  const known = new Set(region.querySelectorAll(FIELDS));
  requestAnimationFrame(() => {
    const added = [...region.querySelectorAll<HTMLElement>(FIELDS)].find((field) => !known.has(field));
    if (document.activeElement === button || document.activeElement === document.body) added?.focus();
  });
}

function noteInput({ type }: Event): void {
  isByKey = type === "keydown";
}

export function keepFocus(): void {
  addEventListener("keydown", noteInput, true);
  addEventListener("pointerdown", noteInput, true);
  addEventListener("focusin", note);
  new MutationObserver(repair).observe(document.body, { childList: true, subtree: true });
}
