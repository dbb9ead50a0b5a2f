// A template as this person would get it, on each channel.
import { useState } from "preact/hooks";
import type { SubscriberProfile } from "../../../sdk/src/types.gen.ts";
import { personName } from "../../app/person-name.ts";
import { useQuery } from "../../app/query.ts";
import { channelName } from "../../app/sentences.ts";
import { Button } from "../../components/button.tsx";
import { Dialog, DialogButton } from "../../components/dialog.tsx";
import { TemplateSelect } from "../../components/pickers.tsx";
import { Rendered } from "../../components/rendered.tsx";
import { Failure, Skeleton } from "../../components/states.tsx";

export const PreviewAs = ({ profile }: { profile: SubscriberProfile }) => (
  <DialogButton
    label="Preview a template"
    needs="templates.preview"
    dialog={(close) => (
      <Dialog title={`As ${personName(profile)} would get it`} close={close}>
        <Templates id={profile.id} />
      </Dialog>
    )}
  />
);

function Templates({ id }: { id: string }) {
  const [chosen, choose] = useState("");
  return (
    <>
      <TemplateSelect value={chosen} onInput={choose} />
      {chosen && <Shown key={chosen} template={chosen} person={id} />}
    </>
  );
}

function Shown({ template, person }: { template: string; person: string }) {
  const found = useQuery("templates.get", [template]);
  const content = found.data?.content ?? { title: "", body: "" };
  const preview = useQuery("templates.preview", [{ content, render_for: person }], { when: found.data !== undefined });
  const [channel, setChannel] = useState("");
  if (found.error) return <Failure error={found.error} />;
  if (preview.error) return <Failure error={preview.error} />;
  const { renderings = [] } = preview.data ?? {};
  const rendering = renderings.find((one) => one.channel === channel) ?? renderings[0];
  if (!rendering) return <Skeleton rows={4} />;
  return (
    <>
      <div class="actions">
        {renderings.map((one) => (
          <Button
            key={one.channel}
            kind="quiet"
            pressed={one.channel === rendering.channel}
            onClick={() => setChannel(one.channel)}
          >
            {channelName(one.channel)}
          </Button>
        ))}
      </div>
      <Rendered rendering={rendering} />
    </>
  );
}
