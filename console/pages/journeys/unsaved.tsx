// What stands above the steps while they differ from the saved ones.
import { Button } from "../../components/button.tsx";

interface UnsavedProps {
  isBusy: boolean;
  save: () => void;
  /** Undefined where there is nothing to undo. */
  undo: (() => void) | undefined;
  discard: () => void;
}

export function Unsaved({ isBusy, save, undo, discard }: UnsavedProps) {
  return (
    <div class="banner">
      <span>Not saved yet.</span>
      <Button kind="primary" needs="journeys.replace" isBusy={isBusy} onClick={save}>
        Save
      </Button>
      {undo && <Button onClick={undo}>Undo</Button>}
      <Button kind="quiet" onClick={discard}>
        Discard
      </Button>
    </div>
  );
}
