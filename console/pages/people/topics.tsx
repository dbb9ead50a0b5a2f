// The topics of a person, and the other choice of each.
import type { SubscriberProfile } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { Card, Time } from "../../components/page.tsx";
import { Failure } from "../../components/states.tsx";
import { Opt } from "./opt.tsx";

export function Topics({ profile: { id, topics } }: { profile: SubscriberProfile }) {
  const set = useAction("preferences.set", { stale: ["subscribers."] });
  if (topics.length === 0) return null;
  return (
    <Card title="Topics">
      <ul class="stack tight">
        {topics.map(({ key, name, status, consented_at }) => (
          <Opt
            key={key}
            name={name}
            status={status}
            since={consented_at ? <Time at={consented_at} /> : "by default"}
            action={set}
            record={(choice) => set.run({ subscriber_id: id, topics: { [key]: choice } })}
          />
        ))}
      </ul>
      {set.error && <Failure error={set.error} />}
    </Card>
  );
}
