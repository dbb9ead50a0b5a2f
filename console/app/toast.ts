// Short messages about what was done, in the one live region of the page.
import { signal } from "@preact/signals";

interface Toast {
  id: number;
  text: string;
}

const SHOWN_MS = 6_000;
let count = 0;
export const toasts = signal<readonly Toast[]>([]);

export function say(text: string): void {
  count += 1;
  const id = count;
  toasts.value = [...toasts.value.slice(-2), { id, text }];
  setTimeout(() => {
    toasts.value = toasts.value.filter((toast) => toast.id !== id);
  }, SHOWN_MS);
}
