// Every key, on `?`.
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { pages } from "../pages/index.ts";
import { panel } from "./keys.ts";

const KEYS = [
  ["Ctrl K", "Find pages, actions and people"],
  ["d", "API calls, as curl and SDK code"],
  ["/", "Go to the filter"],
  ["j  k", "Next and previous row"],
  ["Enter", "Open the row"],
  ["Esc", "Close"],
] as const;

export function KeyHelp() {
  return (
    <Dialog title="Keyboard" close={() => (panel.value = "")}>
      <dl class="facts">
        {KEYS.map(([key, does]) => [
          <dt key={key}>
            <kbd>{key}</kbd>
          </dt>,
          <dd key={does}>{does}</dd>,
        ])}
        {pages.map(({ key, title }) => [
          <dt key={key}>
            <kbd>g</kbd> <kbd>{key}</kbd>
          </dt>,
          <dd key={title}>{title}</dd>,
        ])}
      </dl>
      <div class="actions end">
        <Button onClick={() => (panel.value = "")}>Close</Button>
      </div>
    </Dialog>
  );
}
