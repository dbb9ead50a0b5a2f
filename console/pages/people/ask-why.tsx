// "Why did she not get it?": one question about a send, a campaign or a journey, and its answer in words.
import { useState } from "preact/hooks";
import type { SubscriberProfile } from "../../../sdk/src/types.gen.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { Button } from "../../components/button.tsx";
import { Select } from "../../components/field.tsx";
import { InWords } from "../../components/in-words.tsx";
import { Card } from "../../components/page.tsx";
import { CampaignSelect, JourneySelect } from "../../components/pickers.tsx";
import { SendSelect } from "../../components/send-select.tsx";
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
  const Choice = choices[kind];
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
      <Choice key={kind} label={kinds[kind]} value={about} onInput={setAbout} />
      {about && <Answer key={about} person={id} kind={kind} about={about} />}
    </Card>
  );
}

const choices = { send: SendSelect, campaign: CampaignSelect, journey: JourneySelect };

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
