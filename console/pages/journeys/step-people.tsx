// Who is on a step of a journey now.
import { useQuery } from "../../app/query.ts";
import { plural } from "../../app/time.ts";
import { Time } from "../../components/page.tsx";
import { PersonLink } from "../../components/person.tsx";
import { Loaded } from "../../components/states.tsx";

const SHOWN = 5;

interface PeopleProps {
  journey: string;
  step: string;
  active: number;
}

export function People({ journey, step, active }: PeopleProps) {
  const runs = useQuery("journeys.listRuns", [journey, { step, status: "active" }], { when: active > 0 });
  if (active === 0) return null;
  return (
    <div class="stack tight">
      <h3>{plural(active, "person", "people")} here</h3>
      <Loaded query={runs}>
        {({ items }) => (
          <ul class="stack tight">
            {items.slice(0, SHOWN).map((run) => (
              <li key={run.id}>
                <PersonLink id={run.subscriber_id} /> <span class="dim">entered</span> <Time at={run.entered_at} />
              </li>
            ))}
            {active > SHOWN && <li class="dim">and {plural(active - SHOWN, "other")}</li>}
          </ul>
        )}
      </Loaded>
    </div>
  );
}
