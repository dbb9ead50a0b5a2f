// The domain that a channel sends mail from: what receivers find of it in DNS, and what is to be published.
import type { ChannelHealth } from "../../sdk/src/types.gen.ts";
import { useAction } from "../app/action.ts";
import type { Query } from "../app/query.ts";
import { Badge } from "./badge.tsx";
import { Act } from "./button.tsx";
import { Card, Code, Time } from "./page.tsx";
import { Failure } from "./states.tsx";

type SenderDomain = NonNullable<ChannelHealth["domain"]>;
type RecordCheck = SenderDomain["spf"];

const ABOUT = {
  spf: ["SPF", "Says which servers may send for the domain."],
  dkim: ["DKIM", "Proves that an email comes from the domain and was not changed."],
  dmarc: ["DMARC", "Says what receivers do with emails that only claim to be from the domain."],
} as const;

export function SendingDomain({ channel, health }: { channel: string; health: Query<ChannelHealth> }) {
  const verify = useAction("channels.verify");
  const domain = health.data?.domain;
  if (!domain) return null;
  return (
    <Card
      title={`Sending domain ${domain.domain}`}
      actions={
        <Act action={verify} given={[channel]}>
          Check again
        </Act>
      }
    >
      {verify.error && <Failure error={verify.error} />}
      <p class="dim">
        Large mailbox providers ask for all three. Checked <Time at={domain.checked_at} />; what you publish may take an
        hour to be seen.
      </p>
      <ul class="standings">
        {(["spf", "dkim", "dmarc"] as const).map((part) => (
          <Part key={part} part={part} check={domain[part]} />
        ))}
      </ul>
    </Card>
  );
}

function Part({
  part,
  check: { state, name, record, advice, wanted },
}: {
  part: keyof typeof ABOUT;
  check: RecordCheck;
}) {
  const [title, about] = ABOUT[part];
  const open = wanted.filter(({ is_there }) => !is_there);
  return (
    <li>
      <h3>
        {title} <Badge {...badges[state]} />
        <span class="dim">{about}</span>
      </h3>
      {advice && <p>{advice}</p>}
      {record && (
        <dl class="facts">
          <dt>{name}</dt>
          <dd>
            <code>{record}</code>
          </dd>
        </dl>
      )}
      {open.length > 0 && (
        <details open={state === "missing"}>
          <summary>{open.length === 1 ? "The record to publish" : `The ${open.length} records to publish`}</summary>
          <Code text={open.map((one) => `${one.name} ${one.type} ${quoted(one)}`).join("\n")} />
        </details>
      )}
    </li>
  );
}

const quoted = ({ type, value }: RecordCheck["wanted"][number]): string => (type === "TXT" ? `"${value}"` : value);

const badges = {
  valid: { state: "verified", word: "in order" },
  weak: { state: "pending", word: "could be stronger" },
  missing: { state: "uncertain", word: "missing" },
  invalid: { state: "invalid", word: "does not count" },
  unknown: { state: "skipped", word: "not known" },
} as const;
