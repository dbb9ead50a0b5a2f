// What a person may ask for: everything about them as one file, and the receipt of their erasure.
import type { SubscriberExport, SubscriberProfile } from "../../../sdk/src/types.gen.ts";
import { call } from "../../app/api.ts";
import { useBusy } from "../../app/busy.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { saveFile } from "../../app/save-file.ts";
import { fullTime, number } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { inWords } from "../../components/field.tsx";
import { Card, Code, type Fact, Facts } from "../../components/page.tsx";
import { Empty, Failure, Loaded, Skeleton } from "../../components/states.tsx";

const EVERY_MS = 3_000;

export function Erased({ id }: { id: string }) {
  const erasure = useQuery("erasures.get", [id], {
    every: (known) => (known && known.state === "running" ? EVERY_MS : undefined),
  });
  const all = <a href={pathTo("people")}>All people</a>;
  if (!erasure.data && erasure.error?.status === 404)
    return (
      <Empty title="This person was erased, or was never in this workspace." action={all}>
        Reports keep their counts, without the person.
      </Empty>
    );
  return (
    <Loaded query={erasure} skeleton={<Skeleton rows={6} />}>
      {({ state, requested_at, completed_at, removed, exact, properties_erased, receipt }) => (
        <div class="stack">
          <p class="verdict">
            <Badge state={state === "running" ? "processing" : state} />{" "}
            <b>{state === "running" ? "This person is being erased." : "This person was erased."}</b> Reports keep their
            counts, without the person. {all}
          </p>
          <Card title="Receipt of the erasure">
            <Facts
              of={[
                ["Requested", fullTime(requested_at)],
                ["Completed", completed_at ? fullTime(completed_at) : "not yet"],
                ["Properties of events", properties_erased ? "erased" : "kept, without the person"],
                ...removed.map(
                  ({ store, count }): Fact => [
                    `Removed: ${inWords(store)}`,
                    `${exact ? "" : "about "}${number(count)}`,
                  ],
                ),
              ]}
            />
            {receipt && (
              <>
                <p class="hint">The same, signed (a JWT).</p>
                <Code text={receipt} label="Copy the receipt" />
              </>
            )}
          </Card>
        </div>
      )}
    </Loaded>
  );
}

const LISTS = ["consents", "inbox", "engagement", "history"] as const;

/** All pages as one: lists of later pages follow those of the first. */
async function wholeOf(id: string): Promise<Omit<SubscriberExport, "next_cursor">> {
  const { next_cursor, ...whole } = await call("subscribers.getExport", [id, {}]);
  let cursor = next_cursor;
  while (cursor) {
    const page = await call("subscribers.getExport", [id, { cursor }]);
    for (const name of LISTS) Object.assign(whole, { [name]: [...(whole[name] ?? []), ...(page[name] ?? [])] });
    cursor = page.next_cursor;
  }
  return whole;
}

export function ExportPerson({ profile: { id, external_id } }: { profile: SubscriberProfile }) {
  const { isBusy, error, run } = useBusy(async () => {
    const whole = await wholeOf(id);
    saveFile(`${external_id}.json`, "application/json", JSON.stringify(whole, null, 2));
    say("The file holds everything about this person.");
  });
  return (
    <>
      <Button icon="export" needs="subscribers.getExport" isBusy={isBusy} onClick={() => void run()}>
        Export
      </Button>
      {error && <Failure error={error} />}
    </>
  );
}
