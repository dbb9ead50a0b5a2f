// Who works by keyboard keeps a place: where what has the focus is taken away, the nearest that stays gets it.

const FOCUSABLE = 'a[href], button, input, select, textarea, summary, [tabindex="0"], h1[tabindex]';
/** A page that opens puts the focus on its title, a dialog that closes on what opened it. */
const PARTS = "dialog, .content > *";

/** From what was focused by keyboard last to the top of the document. */
let path: readonly Element[] = [];

function pathOf(element: Element): readonly Element[] {
  const { parentElement } = element;
  return parentElement ? [element, ...pathOf(parentElement)] : [element];
}

function note({ target }: FocusEvent): void {
  path = target instanceof Element && target.matches(":focus-visible") ? pathOf(target) : [];
}

function repair(): void {
  const [lost] = path;
  if (!lost || lost.isConnected || document.activeElement !== document.body) return;
  const inside = path.filter((element) => element.isConnected && element.closest(PARTS));
  path = [];
  const [found] = inside.flatMap((element) => element.querySelector<HTMLElement>(FOCUSABLE) ?? []);
  (found ?? document.querySelector<HTMLElement>("main h1[tabindex]"))?.focus({ preventScroll: true });
}

const FIELDS = 'input:not([type="radio"]), select, textarea';

/** What a button is about to add, such as a row above it, gets the focus with its first field. */
export function enterAdded(button: Element): void {
  const around = button.closest("form, .card, dialog") ?? document.body;
  const known = new Set(around.querySelectorAll(FIELDS));
  requestAnimationFrame(() => {
    const added = [...around.querySelectorAll<HTMLElement>(FIELDS)].find((field) => !known.has(field));
    added?.focus();
  });
}

export function keepFocus(): void {
  addEventListener("focusin", note);
  new MutationObserver(repair).observe(document.body, { childList: true, subtree: true });
}
