// Conversions: which event counts as success, and for how long after a message.
import type { InsightsConfigBody } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { span } from "../../app/duration.ts";
import { forms } from "../../app/forms.gen.ts";
import { useRows } from "../../app/rows.ts";
import { say } from "../../app/toast.ts";
import { Act } from "../../components/button.tsx";
import { Collection } from "../../components/collection.tsx";
import { SchemaForm } from "../../components/form.tsx";
import { useEventNames } from "../../components/known.tsx";
import { Card, Dash } from "../../components/page.tsx";
import { Failure } from "../../components/states.tsx";

const STALE = ["insights.", "campaigns."];

export function Conversions() {
  const rows = useRows("insights.getConfig", [], ({ definitions }) => definitions);
  const remove = useAction("insights.deleteConfig", { stale: STALE });
  return (
    <div class="grid wide">
      <Collection
        noun="conversion"
        card="Conversion events"
        rows={rows}
        usual={3}
        keyOf={({ event_name }) => event_name}
        empty={{
          title: "No event counts as a conversion yet.",
          about: "Reports then show no conversions and no lift.",
        }}
        columns={[
          { title: "Event", cell: ({ event_name }) => event_name },
          { title: "Revenue in", cell: ({ value_property }) => value_property ?? <Dash /> },
          { title: "Within", cell: ({ window_seconds }) => span(window_seconds) },
        ]}
        actions={({ event_name }) => (
          <Act kind="quiet" icon="trash" label={`Remove ${event_name}`} action={remove} given={[{ event_name }]} />
        )}
      >
        {remove.error && <Failure error={remove.error} />}
      </Collection>
      <NewConversion />
    </div>
  );
}

function NewConversion() {
  const save = useAction("insights.config", { stale: STALE });
  return (
    <Card title="Add or change an event">
      <SchemaForm
        schema={forms["insights.config"]}
        texts={{
          event_name: { label: "Event", hint: "As your product sends it, such as purchase.", known: useEventNames() },
          value_property: { label: "Property with the revenue", hint: "In cents." },
          window_seconds: {
            label: "Within",
            hint: "How long after a message it counts. Empty: 7 days.",
            isDuration: true,
          },
        }}
        initial={{ window_seconds: 604_800 }}
        submit="Save"
        action={save}
        onSubmit={async (values: InsightsConfigBody) => {
          const done = await save.run(values);
          if (done) say("The conversion is saved.");
        }}
      />
    </Card>
  );
}
