// Plays a journey of a local service: days pass at once.
import { useState } from "preact/hooks";
import { invalidate } from "../../app/query.ts";
import { local, readMe } from "../../app/session.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";

/** Moves the test clock of a local service, so that a journey of days is seen at once. */
export function Play() {
  const [isBusy, setBusy] = useState(false);
  const play = async () => {
    setBusy(true);
    try {
      await local("clock", { advance: "72h" });
      await readMe();
      invalidate("");
      say("72 hours have passed.");
    } catch (error) {
      say(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  return (
    <Button icon="clock" isBusy={isBusy} onClick={() => void play()}>
      Advance 72 h
    </Button>
  );
}
