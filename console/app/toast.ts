// Short messages about what was done, in the one live region of the page.
import { signal } from "@preact/signals";

export interface Toast {
  id: number;
  text: string;
  undo?: (() => void) | undefined;
}

const SHOWN_MS = 6_000;
let count = 0;
export const toasts = signal<readonly Toast[]>([]);

export function say(text: string, undo?: () => void): void {
  count += 1;
  const id = count;
  toasts.value = [...toasts.value.slice(-2), { id, text, undo }];
  setTimeout(() => dismiss(id), SHOWN_MS);
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}
