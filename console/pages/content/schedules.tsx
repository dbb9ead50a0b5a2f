// Schedules: a template that is sent to everyone again and again, with its next time in its own zone.
import { useState } from "preact/hooks";
import type { Schedule } from "../../../sdk/src/types.gen.ts";
import { plans } from "../../app/access.gen.ts";
import { useAction } from "../../app/action.ts";
import { cronWords } from "../../app/cron-words.ts";
import { pathTo } from "../../app/router.ts";
import { PAGE_SIZE, pageNumber, useNumbered } from "../../app/rows.ts";
import { me } from "../../app/session.ts";
import { dateTime, fullTime } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Collection } from "../../components/collection.tsx";
import { Dash } from "../../components/page.tsx";
import { Failure } from "../../components/states.tsx";
import { useTemplateNames } from "../../components/template-names.ts";
import { Release, ScheduleEditor } from "./schedule-editor.tsx";

export function Schedules() {
  const rows = useNumbered("schedules.list", [{ page: pageNumber(), per_page: PAGE_SIZE }], ({ data }) => data);
  const templateName = useTemplateNames(rows.items.map(({ template_id }) => template_id));
  const update = useAction("schedules.update");
  const [resumed, setResumed] = useState<Schedule>();
  const nameOf = ({ template_id }: Schedule) => templateName(template_id) ?? "A template";
  return (
    <>
      <NotInPlan />
      {update.error && <Failure error={update.error} />}
      <Collection
        noun="schedule"
        caption="Schedules"
        rows={rows}
        usual={4}
        keyOf={({ id }) => id}
        nameOf={nameOf}
        empty={{ about: "A schedule sends a template to everyone, such as every Monday at 09:00 in Berlin." }}
        columns={[
          { title: "Template", cell: (schedule) => <b>{nameOf(schedule)}</b> },
          { title: "When", cell: ({ cron_expression: cron }) => <span title={cron}>{cronWords(cron)}</span> },
          { title: "Next", cell: (schedule) => <Next schedule={schedule} /> },
          { title: "State", cell: (schedule) => <State schedule={schedule} /> },
        ]}
        // One button, which keeps the focus as it changes.
        actions={(schedule) => (
          <Button
            kind="quiet"
            icon={schedule.active ? "pause" : "play"}
            label={`${schedule.active ? "Pause" : "Resume"} ${nameOf(schedule)}`}
            needs="schedules.update"
            isBusy={update.isBusy}
            onClick={() => (schedule.active ? void update.run(schedule.id, { active: false }) : setResumed(schedule))}
          />
        )}
        add={{
          operation: "schedules.create",
          label: "New schedule",
          by: (close) => <ScheduleEditor close={close} />,
        }}
        remove={{
          operation: "schedules.delete",
          about: "It no longer sends the template.",
          said: () => "The schedule is deleted.",
        }}
      />
      {resumed && <Resume schedule={resumed} close={() => setResumed(undefined)} />}
    </>
  );
}

function Resume({ schedule, close }: { schedule: Schedule; close: () => void }) {
  const update = useAction("schedules.update");
  const save = async () => {
    if (await update.run(schedule.id, { active: true })) close();
  };
  return <Release draft={schedule} verb="Resume" action={update} save={save} close={close} />;
}

function NotInPlan() {
  const plan = me.value?.tenant.plan ?? "";
  if (plans[plan]?.features.includes("schedules")) return null;
  return (
    <div class="banner">
      <span>
        <b>Schedules are not part of the plan {plan}.</b>{" "}
        <a href={pathTo("settings", "plan")}>See the plan and its usage</a>
      </span>
    </div>
  );
}

function Next({ schedule: { next_run_at, timezone } }: { schedule: Schedule }) {
  if (!next_run_at) return <Dash />;
  return (
    <time dateTime={next_run_at} title={fullTime(next_run_at, timezone)}>
      {dateTime(next_run_at, timezone)} <span class="dim">{timezone}</span>
    </time>
  );
}

function State({ schedule: { active, last_error } }: { schedule: Schedule }) {
  return (
    <>
      <Badge state={active ? "active" : "paused"} /> {last_error && <Badge state="failed" word={last_error.message} />}
    </>
  );
}
