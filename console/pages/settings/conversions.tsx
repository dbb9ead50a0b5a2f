// Conversions: which event counts as success, and for how long after a message.
import type { Config } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { span } from "../../app/duration.ts";
import { forms } from "../../app/forms.gen.ts";
import { useQuery } from "../../app/query.ts";
import { say } from "../../app/toast.ts";
import { Button } from "../../components/button.tsx";
import { SchemaForm } from "../../components/form.tsx";
import { Card } from "../../components/page.tsx";
import { Empty, Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";

const STALE = ["insights.", "campaigns."];

export function Conversions() {
  const config = useQuery("insights.getConfig", []);
  const save = useAction("insights.config", { stale: STALE });
  const remove = useAction("insights.deleteConfig", { stale: STALE });
  return (
    <div class="grid wide">
      <Card title="Conversion events" flush>
        {remove.error && <Failure error={remove.error} />}
        <Loaded query={config} skeleton={<Skeleton rows={3} />}>
          {({ definitions }) =>
            definitions.length === 0 ? (
              <Empty title="No event counts as a conversion yet.">Reports then show no conversions and no lift.</Empty>
            ) : (
              <Table
                caption="Conversions"
                rows={definitions}
                keyOf={({ event_name }) => event_name}
                columns={[
                  { title: "Event", cell: ({ event_name }: Config) => event_name },
                  {
                    title: "Revenue in",
                    cell: ({ value_property }: Config) => value_property ?? <span class="dim">–</span>,
                  },
                  { title: "Within", cell: ({ window_seconds }: Config) => span(window_seconds) },
                  {
                    title: "",
                    cell: ({ event_name }: Config) => (
                      <Button
                        kind="quiet"
                        icon="trash"
                        label={`Remove ${event_name}`}
                        needs="insights.deleteConfig"
                        onClick={() => void remove.run({ event_name })}
                      />
                    ),
                  },
                ]}
              />
            )
          }
        </Loaded>
      </Card>
      <Card title="Add or change an event">
        <SchemaForm
          schema={forms["insights.config"]}
          texts={{
            event_name: { label: "Event", hint: "As your product sends it, such as purchase." },
            value_property: { label: "Property with the revenue", hint: "In cents." },
            window_seconds: {
              label: "Within",
              hint: "How long after a message it counts. Empty: 7 days.",
              isDuration: true,
            },
          }}
          initial={{ window_seconds: 604_800 }}
          submit="Save"
          needs="insights.config"
          action={save}
          onSubmit={async (values) => {
            // The schema of the API names what the form asks for, hence the cast.
            if (await save.run(values as never)) say("The conversion is saved.");
          }}
        />
      </Card>
    </div>
  );
}
