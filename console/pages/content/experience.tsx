// One experience: how it looks, how it does, and what may be done with it now.
import { useState } from "preact/hooks";
import type { Experience } from "../../../sdk/src/types.gen.ts";
import { type ExperienceAction, experienceMoves } from "../../../shared/rules/experience-states.ts";
import { type Action, useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { go, pathTo } from "../../app/router.ts";
import { momentText, now, number, share } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { type Arm, ArmTabs } from "../../components/arms.tsx";
import { AudienceName } from "../../components/audience-name.tsx";
import { Act, Button, LinkButton } from "../../components/button.tsx";
import { AskButton, DialogButton } from "../../components/dialog.tsx";
import { ExperienceSeen } from "../../components/experience-seen.tsx";
import { inWords } from "../../components/field.tsx";
import { Menu } from "../../components/menu.tsx";
import { Card, Facts, Figure } from "../../components/page.tsx";
import { meansOf } from "../../components/release-facts.tsx";
import { ReleaseSheet } from "../../components/release-sheet.tsx";
import { Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { FREQUENCIES, TRIGGERS } from "./experience-draft.ts";

export const EVERY_MS = 10_000;

const mayMove = (action: ExperienceAction, status: Experience["status"]): boolean =>
  (experienceMoves[action].from as readonly string[]).includes(status);

export function One({ experience }: { experience: Experience }) {
  const { id, name, format, status, content, variant_b, last_error } = experience;
  const [arm, setArm] = useState<Arm>("a");
  const stats = useQuery("experiences.getStats", [id], { every: EVERY_MS });
  const seen = arm === "b" && variant_b ? variant_b : content;
  return (
    <Card title={name} actions={variant_b && <ArmTabs arm={arm} show={setArm} />}>
      <ExperienceSeen
        format={format}
        title={seen.title}
        body={seen.body ?? ""}
        image_url={seen.image_url}
        actions={content.actions}
      />
      {last_error && (
        <p class="banner bad" role="alert">
          <span>
            <b>It reached nobody.</b> {last_error.message} Pause and resume it to try again.
          </span>
        </p>
      )}
      {status !== "draft" && (
        <Loaded query={stats} skeleton={<Skeleton rows={2} />}>
          {({ impressions, clicks, ctr, dismissals, unique_reach }) => (
            <div class="figures">
              <Figure value={number(unique_reach)} label="viewers" />
              <Figure value={number(impressions)} label="impressions" />
              <Figure value={number(clicks)} label={impressions ? `clicks (${share(ctr, 1)})` : "clicks"} />
              <Figure value={number(dismissals)} label="dismissals" />
            </div>
          )}
        </Loaded>
      )}
      <About experience={experience} />
      <Moves experience={experience} />
    </Card>
  );
}

function About({
  experience: { display, audience, start_at, end_at, holdout_percentage },
}: {
  experience: Experience;
}) {
  return (
    <Facts
      of={[
        ["Audience", audience ? <AudienceName of={audience} /> : "missing"],
        display?.trigger && [
          "Shown",
          `${TRIGGERS[display.trigger]}${display.trigger_event ? ` ${display.trigger_event}` : ""}`,
        ],
        display?.trigger && ["How often", FREQUENCIES[display.frequency ?? "once"]],
        display?.screens && ["Screens", display.screens.join(", ")],
        start_at && ["Starts", momentText(start_at)],
        end_at && ["Ends", momentText(end_at)],
        holdout_percentage > 0 && ["Control group", `${holdout_percentage}%`],
      ]}
    />
  );
}

function Moves({ experience }: { experience: Experience }) {
  const { id, name, status } = experience;
  const pause = useAction("experiences.pause");
  const resume = useAction("experiences.resume");
  const archive = useAction("experiences.archive");
  const duplicate = useAction("experiences.duplicate");
  const error = [pause, resume, archive, duplicate].find((action) => action.error)?.error;
  const show = ({ id: other }: Experience) => go(pathTo("content", `experiences/${other}`));
  return (
    <>
      {error && <Failure error={error} />}
      <div class="actions">
        {status === "draft" && <Going experience={experience} verb="Publish" />}
        {status === "draft" && (
          <LinkButton icon="pencil" needs="experiences.update" href={pathTo("content", `experiences/${id}/edit`)}>
            Edit
          </LinkButton>
        )}
        {mayMove("pause", status) && (
          <Act action={pause} given={[id]}>
            Pause
          </Act>
        )}
        {mayMove("resume", status) && <Resume experience={experience} resume={resume} />}
        {mayMove("end", status) && (
          <AskButton
            label="End"
            operation="experiences.end"
            given={[id]}
            title={`End ${name}?`}
            act="End it"
            said={`${name} has ended.`}
          >
            Its messages disappear from the app, and it cannot be resumed.
          </AskButton>
        )}
        <Menu>
          <Act action={duplicate} given={[id, {}]} said="The copy is a draft." then={show}>
            Duplicate
          </Act>
          {mayMove("archive", status) && (
            <Act action={archive} given={[id]} said={`${name} is archived.`}>
              Archive
            </Act>
          )}
          {status === "draft" && (
            <AskButton
              label="Delete"
              operation="experiences.delete"
              given={[id]}
              title={`Delete ${name}?`}
              name={name}
              act="Delete the experience"
              said={`${name} is deleted.`}
              then={() => go(pathTo("content", "experiences"))}
            >
              Nobody has seen it.
            </AskButton>
          )}
        </Menu>
      </div>
    </>
  );
}

interface GoingProps {
  experience: Experience;
  verb: "Publish" | "Resume";
}

const goings = { Publish: "experiences.publish", Resume: "experiences.resume" } as const;

const Going = ({ experience, verb }: GoingProps) => (
  <DialogButton
    label={verb}
    kind="primary"
    needs={goings[verb]}
    dialog={(close) => <Release experience={experience} verb={verb} close={close} />}
  />
);

/** What went out is shown again at once. What did not is sent, which is asked first. */
function Resume({ experience, resume }: { experience: Experience; resume: Action<"experiences.resume"> }) {
  const { id, notification_id = "", last_error } = experience;
  const when = !last_error && notification_id !== "";
  const { data: send, isLoading } = useQuery("notifications.get", [notification_id], { when });
  // Until that is known it asks nothing: the question would close as the answer comes.
  if (isLoading && !send) return <Button isBusy>Resume</Button>;
  if (!send || send.status === "canceled") return <Going experience={experience} verb="Resume" />;
  return (
    <Act action={resume} given={[id]}>
      Resume
    </Act>
  );
}

function Release({ experience, verb, close }: GoingProps & { close: () => void }) {
  const { id, name, format, content, variant_b, split_percentage = 50, start_at, end_at } = experience;
  const { audience = { type: "all" as const }, holdout_percentage } = experience;
  const going = useAction(goings[verb]);
  const channels = useQuery("channels.list", []).data?.channels;
  const channel_ids = channels?.flatMap((one) => (one.type === "in_app" ? [one.id] : [])).slice(0, 1) ?? [];
  const preview = useQuery(
    "recipients.previewNotifications",
    [
      {
        target: audience,
        title: content.title,
        body: content.body || " ",
        channel_ids,
        category: "marketing",
        holdout_percentage,
        bypass_quiet_hours: true,
        ...(variant_b && { variant_b: { title: variant_b.title, body: variant_b.body || " " }, split_percentage }),
      },
    ],
    { when: channels !== undefined },
  );
  // It takes no preview: who is held out is drawn anew as it goes out (AMB-140 is of sends and releases).
  const isDrawnAnew = holdout_percentage > 0 && { exact: false };
  const expected = { ...preview, data: preview.data && { ...preview.data, ...isDrawnAnew } };
  const refusals = [
    end_at && Date.parse(end_at) <= now() && "The time at which it ends has passed. Edit it first.",
    channels && channel_ids.length === 0 && "Connect the in-app channel first.",
  ];
  const act = async () => {
    const done = await going.run(id);
    if (!done) return;
    close();
    say(`${name} ${verb === "Publish" ? "is published" : "goes on"}.`);
  };
  return (
    <ReleaseSheet
      title={`${verb} ${name}?`}
      act={`${verb} ${verb === "Publish" ? "to" : "for"}`}
      action={going}
      preview={expected}
      when={[{ at: start_at }]}
      by={[
        ["Format", inWords(format)],
        ...meansOf({ channel_ids, category: "marketing", holdout: holdout_percentage }),
        variant_b && ["Variants", `${split_percentage}% see A, ${100 - split_percentage}% see B`],
        ["Ends", end_at ? momentText(end_at) : "when you end it"],
      ]}
      refusal={refusals.find(Boolean) || undefined}
      stops={<p>Pause hides it from the app, end takes it back.</p>}
      onRelease={act}
      close={close}
    />
  );
}
