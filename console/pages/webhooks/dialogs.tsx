// The forms for a test of an endpoint and for a replay of its deliveries.
import { useState } from "preact/hooks";
import type { Webhook } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { fromLocalInput, now, plural, toLocalInput } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Form, FormFault } from "../../components/form.tsx";
import { Dialog } from "../../components/page.tsx";
import { STALE } from "./verification.ts";

const DAY_MS = 86_400_000;

export function Test({ endpoint, close }: { endpoint: Webhook; close: () => void }) {
  const test = useAction("webhooks.test", { stale: STALE });
  const [event, setEvent] = useState<Webhook["events"][number]>(endpoint.events[0] ?? "subscriber.created");
  return (
    <Dialog title="Send a test" close={close}>
      <Form
        onSubmit={async () => {
          if (!(await test.run(endpoint.id, { event }))) return;
          say("The sample event is on its way.");
          close();
        }}
      >
        <SelectField
          label="Event"
          value={event}
          options={endpoint.events.map((value) => ({ value, label: value }))}
          onInput={(value) => setEvent(value as typeof event)}
          hint="A sample, marked as a test, signed as a real one."
        />
        <FormFault error={test.error} placed={[]} />
        <div class="actions end">
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" needs="webhooks.test" isBusy={test.isBusy}>
            Send it
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

export function Replay({ id, close }: { id: string; close: () => void }) {
  const replay = useAction("webhooks.replay", { stale: STALE });
  const [from, setFrom] = useState(toLocalInput(now() - DAY_MS));
  const [outcome, setOutcome] = useState("failed");
  return (
    <Dialog title="Replay deliveries" close={close}>
      <Form
        onSubmit={async () => {
          const body = { from: fromLocalInput(from), to: new Date(now()).toISOString() };
          const chosen = outcome === "" ? {} : { outcome: outcome as "failed" | "delivered" };
          const done = await replay.run(id, { ...body, ...chosen });
          if (!done) return;
          say(`${plural(done.answer.queued, "delivery", "deliveries")} sent again, in order.`);
          close();
        }}
      >
        <TextField
          label="Since"
          type="datetime-local"
          value={from}
          onInput={setFrom}
          fault={replay.error?.fields?.from}
          hint="All deliveries since then, each with its original ID and body."
        />
        <SelectField
          label="Which"
          value={outcome}
          options={[
            { value: "failed", label: "Those that failed" },
            { value: "delivered", label: "Those that were delivered" },
            { value: "", label: "All" },
          ]}
          onInput={setOutcome}
        />
        <FormFault error={replay.error} placed={["from"]} />
        <div class="actions end">
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" needs="webhooks.replay" isBusy={replay.isBusy}>
            Replay
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
