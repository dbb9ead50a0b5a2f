// "Why did she not get it?": one question about a send, a campaign or a journey, and its answer in words.
import { useState } from "preact/hooks";
import type { SubscriberProfile } from "../../../sdk/src/types.gen.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { sendName } from "../../app/send-name.ts";
import { Button } from "../../components/button.tsx";
import { Select, SelectField } from "../../components/field.tsx";
import { InWords } from "../../components/in-words.tsx";
import { Card } from "../../components/page.tsx";
import { NONE } from "../../components/pickers.tsx";
import { Loaded, Skeleton } from "../../components/states.tsx";

const kinds = { send: "A send", campaign: "A campaign", journey: "A journey" } as const;
type Kind = keyof typeof kinds;

/** What is behind the answer: of a send how each rule decided for this person. */
const links = { send: "Every condition", campaign: "Open the campaign", journey: "Open the journey" } as const;

const pages = { send: "activity", campaign: "campaigns", journey: "journeys" } as const;

export function AskWhy({ profile: { id } }: { profile: SubscriberProfile }) {
  const [kind, setKind] = useState<Kind>();
  const [about, setAbout] = useState("");
  if (!kind)
    return (
      <Card title="Why, or why not?">
        <p class="dim">What became of a send, a campaign or a journey for this person, and the reason.</p>
        <div class="actions">
          {Object.entries(kinds).map(([one, label]) => (
            <Button key={one} onClick={() => setKind(one as Kind)}>
              {label}
            </Button>
          ))}
        </div>
      </Card>
    );
  return (
    <Card
      title="Why, or why not?"
      actions={
        <Select
          class="small"
          label="About"
          value={kind}
          options={kinds}
          onInput={(next) => {
            setKind(next);
            setAbout("");
          }}
        />
      }
    >
      <Choice key={kind} kind={kind} value={about} onInput={setAbout} />
      {about && <Answer key={about} person={id} kind={kind} about={about} />}
    </Card>
  );
}

const LISTED = 50;

interface Named {
  id: string;
  name: string;
}

/** The newest of a kind by their names. */
function useNamed(kind: Kind): readonly Named[] | undefined {
  const sends = useQuery("notifications.list", [{ limit: LISTED, exclude_source_type: "journey" }], {
    when: kind === "send",
  });
  const campaigns = useQuery("campaigns.list", [{ page_size: LISTED }], { when: kind === "campaign" });
  const journeys = useQuery("journeys.list", [{}], { when: kind === "journey" });
  if (kind === "send") return sends.data?.items.map((send) => ({ id: send.id, name: sendName(send) }));
  return kind === "campaign" ? campaigns.data?.items : journeys.data?.journeys;
}

interface ChoiceProps {
  kind: Kind;
  value: string;
  onInput: (id: string) => void;
}

function Choice({ kind, value, onInput }: ChoiceProps) {
  const named = useNamed(kind);
  if (!named) return <Skeleton rows={1} />;
  return (
    <SelectField
      label={kinds[kind]}
      value={value}
      options={[NONE, ...named.map(({ id, name }) => ({ value: id, label: name }))]}
      onInput={onInput}
    />
  );
}

interface AnswerProps {
  person: string;
  kind: Kind;
  about: string;
}

function Answer({ person, kind, about }: AnswerProps) {
  const why = useQuery("recipients.getWhy", [{ person, [kind]: about }]);
  return (
    <Loaded query={why} skeleton={<Skeleton rows={2} />}>
      {({ in_words }) => (
        <div aria-live="polite" class="stack tight">
          <InWords text={in_words} />
          <p>
            <a href={pathTo(pages[kind], about, kind === "send" ? { person } : {})}>{links[kind]}</a>
          </p>
        </div>
      )}
    </Loaded>
  );
}
