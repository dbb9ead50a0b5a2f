// What may be done with a journey as a whole: activated, paused, copied, archived, deleted, and on this machine played.
import { useState } from "preact/hooks";
import type { Journey } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { invalidate } from "../../app/query.ts";
import { go, pathTo } from "../../app/router.ts";
import { isLocal, local, readMe, sentenceOf } from "../../app/session.ts";
import { plural } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Act, Button } from "../../components/button.tsx";
import { DeleteButton } from "../../components/dialog.tsx";
import { Menu } from "../../components/menu.tsx";
import { Activate } from "./activate.tsx";

export const useMoves = () => ({
  activate: useAction("journeys.activate"),
  pause: useAction("journeys.pause"),
  archive: useAction("journeys.archive"),
  duplicate: useAction("journeys.duplicate"),
});

interface MovesProps {
  journey: Journey;
  moves: ReturnType<typeof useMoves>;
  /** What is edited is not saved yet. */
  isChanged: boolean;
  /** People who are in it now. */
  running: number;
}

export function Moves({ journey, moves: { activate, pause, archive, duplicate }, isChanged, running }: MovesProps) {
  const { id, status } = journey;
  return (
    <>
      {status === "active" && (
        <Act action={pause} given={[id]}>
          Pause
        </Act>
      )}
      {(status === "draft" || status === "paused") && (
        <Activate journey={journey} activate={activate} isChanged={isChanged} />
      )}
      <Menu>
        {isLocal && status === "active" && <Play />}
        <Act action={duplicate} given={[id]} then={(copy) => go(pathTo("journeys", copy.id))}>
          Duplicate
        </Act>
        {status !== "archived" && (
          <Act action={archive} given={[id]}>
            Archive
          </Act>
        )}
        <DeleteButton operation="journeys.delete" id={id} noun="journey" name={journey.name} page="journeys">
          All its runs are deleted as well.{" "}
          {running === 0 ? "Nobody is in it now." : `${plural(running, "person is", "people are")} in it now.`}
        </DeleteButton>
      </Menu>
    </>
  );
}

/** Moves the test clock of a local service, so that a journey of days is seen at once. */
function Play() {
  const [isBusy, setBusy] = useState(false);
  const play = async () => {
    setBusy(true);
    try {
      await local("clock", { advance: "72h" });
      await readMe();
      invalidate("");
      say("72 hours have passed.");
    } catch (error) {
      say(sentenceOf(error));
    }
    setBusy(false);
  };
  return (
    <Button icon="clock" isBusy={isBusy} onClick={() => void play()}>
      Advance 72 h
    </Button>
  );
}
