// What is rarely done with the thing of a page, behind one button: the page shows what is done most.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Icon } from "./icon.tsx";

const ITEMS = ".menu-panel > .button";
const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };

/** The next item in the direction of an arrow key, from end to end. */
function nextOf(items: readonly HTMLElement[], step: number): HTMLElement | undefined {
  // The focus is on an element of the page, hence the cast.
  const at = items.indexOf(document.activeElement as HTMLElement);
  return at < 0 && step < 0 ? items.at(-1) : items[(at + step + items.length) % items.length];
}

/** Buttons that stay where they are while it is closed, so that the question of one of them outlives it. */
export function Menu({ children, label = "More actions" }: { children: ComponentChildren; label?: string }) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const toggle = useRef<HTMLButtonElement>(null);
  const id = useId();
  useEffect(() => {
    const menu = root.current;
    if (!isOpen || !menu) return;
    const shut = () => {
      // A question that follows gives the focus back to what had it.
      toggle.current?.focus();
      setOpen(false);
    };
    const leave = ({ target }: Event) => {
      if (!menu.contains(target as Node)) setOpen(false);
    };
    const choose = ({ target }: Event) => {
      const item = (target as Element).closest(ITEMS);
      if (item && !item.hasAttribute("aria-disabled")) shut();
    };
    const press = (event: KeyboardEvent) => {
      const step = STEPS[event.key];
      if (event.key !== "Escape" && step === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      if (step === undefined) shut();
      else nextOf([...menu.querySelectorAll<HTMLElement>(ITEMS)], step)?.focus();
    };
    const listening = new AbortController();
    const { signal } = listening;
    document.addEventListener("pointerdown", leave, { signal });
    document.addEventListener("focusin", leave, { signal });
    menu.addEventListener("click", choose, { signal, capture: true });
    menu.addEventListener("keydown", press, { signal });
    return () => listening.abort();
  }, [isOpen]);
  return (
    <div ref={root} class={isOpen ? "menu open" : "menu"}>
      <button
        ref={toggle}
        type="button"
        class="button icon-only"
        aria-label={label}
        title={label}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="dots" />
      </button>
      <div id={id} class="menu-panel">
        {children}
      </div>
    </div>
  );
}
