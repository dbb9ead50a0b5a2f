// Everything about a person as one file, for the person who asks for it.
import { useState } from "preact/hooks";
import { ServiceError } from "../../../sdk/src/errors.ts";
import type { SubscriberExport, SubscriberProfile } from "../../../sdk/src/types.gen.ts";
import { call } from "../../app/api.ts";
import { saveFile } from "../../app/save-file.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { Failure } from "../../components/states.tsx";

/** All pages as one: lists of later pages follow those of the first. */
async function wholeOf(id: string): Promise<Omit<SubscriberExport, "next_cursor">> {
  const { next_cursor, ...whole } = await call("subscribers.getExport", [id, {}]);
  let cursor = next_cursor;
  while (cursor) {
    const page = await call("subscribers.getExport", [id, { cursor }]);
    whole.inbox.push(...page.inbox);
    whole.history.push(...page.history);
    cursor = page.next_cursor;
  }
  return whole;
}

export function ExportPerson({ profile: { id, external_id } }: { profile: SubscriberProfile }) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ServiceError>();
  const run = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const whole = await wholeOf(id);
      saveFile(`${external_id}.json`, "application/json", JSON.stringify(whole, null, 2));
      say("The file holds everything about this person.");
    } catch (cause) {
      if (!(cause instanceof ServiceError)) throw cause;
      setError(cause);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Button icon="export" needs="subscribers.getExport" isBusy={isBusy} onClick={() => void run()}>
        Export
      </Button>
      {error && <Failure error={error} />}
    </>
  );
}
