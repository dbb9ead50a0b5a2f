// The forms for a test of an endpoint and for a replay of its deliveries.
import type { Webhook } from "../../../sdk/src/types.gen.ts";
import { DAY } from "../../../shared/kernel/clock.ts";
import { useAction } from "../../app/action.ts";
import { useFields } from "../../app/fields.ts";
import { fromLocalInput, momentText, now, plural, toLocalInput } from "../../app/time.ts";
import { ActionDialog } from "../../components/dialog.tsx";
import { SelectField, TextField } from "../../components/field.tsx";

export function Test({ endpoint: { id, events }, close }: { endpoint: Webhook; close: () => void }) {
  const test = useAction("webhooks.test");
  const form = useFields({ event: events[0] ?? "subscriber.created" }, test);
  return (
    <ActionDialog
      title="Send a test"
      form={form}
      submit="Send it"
      close={close}
      run={() => test.run(id, form.values)}
      said={() => "The sample event is on its way."}
    >
      <SelectField
        label="Event"
        {...form.field("event")}
        options={events.map((value) => ({ value, label: value }))}
        hint="A sample, marked as a test, signed as a real one."
      />
    </ActionDialog>
  );
}

const WHICH = { failed: "Those that failed", delivered: "Those that were delivered", "": "All" };

export function Replay({ id, close }: { id: string; close: () => void }) {
  const replay = useAction("webhooks.replay");
  const start = { from: toLocalInput(now() - DAY), outcome: "failed" as keyof typeof WHICH };
  const form = useFields(start, replay);
  const { values, field } = form;
  const { from, outcome } = values;
  return (
    <ActionDialog
      title="Replay deliveries"
      form={form}
      submit="Replay"
      close={close}
      run={() =>
        replay.run(id, { from: fromLocalInput(from), to: new Date(now()).toISOString(), ...(outcome && { outcome }) })
      }
      said={({ queued, next_from }) =>
        `${plural(queued, "delivery", "deliveries")} sent again, in order.` +
        (next_from === undefined ? "" : ` There are more since ${momentText(next_from)}: replay again from then.`)
      }
    >
      <TextField
        label="Since"
        type="datetime-local"
        required
        {...field("from")}
        hint="All deliveries since then, each with its original ID and body."
      />
      <SelectField label="Which" {...field("outcome")} options={WHICH} />
    </ActionDialog>
  );
}
