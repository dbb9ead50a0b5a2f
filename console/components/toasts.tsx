// What was done, said for a few seconds in the one live region.
import { dismiss, toasts } from "../app/toast.ts";

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, undo }) => (
        <div key={id} class="toast">
          {text}
          {undo && (
            <button
              type="button"
              onClick={() => {
                undo();
                dismiss(id);
              }}
            >
              Undo
            </button>
          )}
        </div>
      ))}
    </div>
  );
}
