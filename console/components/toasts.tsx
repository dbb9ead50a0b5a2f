// What was done, said for a few seconds in the one live region.
import { toasts } from "../app/toast.ts";

export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.value.map(({ id, text }) => (
      <div key={id} class="toast">
        {text}
      </div>
    ))}
  </div>
);
