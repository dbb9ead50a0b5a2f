// Schedules: a template that is sent to everyone again and again, with its next time in its own zone.
import { useState } from "preact/hooks";
import type { Schedule, Template } from "../../../sdk/src/types.gen.ts";
import { plans } from "../../app/access.gen.ts";
import { useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { me } from "../../app/session.ts";
import { dateTime, fullTime, zone } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Form, FormFault } from "../../components/form.tsx";
import { Confirm, Dialog } from "../../components/page.tsx";
import { Pager, pageNumber } from "../../components/pager.tsx";
import { ChannelPicker } from "../../components/pickers.tsx";
import { Empty, Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";

const PAGE_SIZE = 50;
const STALE = ["schedules."];
const FIELDS = ["cron_expression", "timezone", "template_id", "channel_ids"];

type Open = { kind: "add" } | { kind: "delete"; schedule: Schedule };

export function Schedules() {
  const schedules = useQuery("schedules.list", [{ page: pageNumber(), per_page: PAGE_SIZE }]);
  const templates = useQuery("templates.list", [{ per_page: 100 }]);
  const update = useAction("schedules.update", { stale: STALE });
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const plan = me.value?.tenant.plan ?? "";
  const isInPlan = plans[plan]?.features.includes("schedules") ?? false;
  const nameOf = ({ template_id }: Schedule) =>
    templates.data?.data.find(({ id }) => id === template_id)?.name ?? template_id.slice(0, 8);
  const add = (
    <Button kind="primary" icon="plus" needs="schedules.create" onClick={() => setOpen({ kind: "add" })}>
      New schedule
    </Button>
  );
  return (
    <>
      {!isInPlan && (
        <div class="banner">
          <span>
            <b>Schedules are not part of the plan {plan}.</b>{" "}
            <a href={pathTo("settings", "plan")}>See the plan and its usage</a>
          </span>
        </div>
      )}
      {update.error && <Failure error={update.error} />}
      <Loaded query={schedules} skeleton={<Skeleton table rows={4} />}>
        {({ data, total }) =>
          data.length === 0 ? (
            <Empty title="There are no schedules yet." action={add}>
              A schedule sends a template to everyone, such as every Monday at 09:00 in Berlin.
            </Empty>
          ) : (
            <>
              <div class="filters">{add}</div>
              <Table
                caption="Schedules"
                rows={data}
                keyOf={({ id }) => id}
                columns={[
                  { title: "Template", cell: (schedule: Schedule) => <b>{nameOf(schedule)}</b> },
                  { title: "When", cell: ({ cron_expression }: Schedule) => <code>{cron_expression}</code> },
                  { title: "Next", cell: (schedule: Schedule) => <Next schedule={schedule} /> },
                  { title: "State", cell: (schedule: Schedule) => <State schedule={schedule} /> },
                  {
                    title: "",
                    cell: (schedule: Schedule) => {
                      const { id, active } = schedule;
                      return (
                        <div class="actions end">
                          <Button
                            kind="quiet"
                            icon={active ? "pause" : "play"}
                            label={`${active ? "Pause" : "Resume"} ${nameOf(schedule)}`}
                            needs="schedules.update"
                            isBusy={update.isBusy}
                            onClick={() => void update.run(id, { active: !active })}
                          />
                          <Button
                            kind="quiet"
                            icon="trash"
                            label={`Delete ${nameOf(schedule)}`}
                            needs="schedules.delete"
                            onClick={() => setOpen({ kind: "delete", schedule })}
                          />
                        </div>
                      );
                    },
                  },
                ]}
              />
              <Pager total={total} size={PAGE_SIZE} what="schedule" />
            </>
          )
        }
      </Loaded>
      {open?.kind === "add" && <Add templates={templates.data?.data ?? []} close={close} />}
      {open?.kind === "delete" && <Remove schedule={open.schedule} name={nameOf(open.schedule)} close={close} />}
    </>
  );
}

function Next({ schedule: { next_run_at, timezone } }: { schedule: Schedule }) {
  if (!next_run_at) return <span class="dim">–</span>;
  return (
    <time dateTime={next_run_at} title={fullTime(next_run_at, timezone)}>
      {dateTime(next_run_at, timezone)} <span class="dim">{timezone}</span>
    </time>
  );
}

function State({ schedule: { active, last_error } }: { schedule: Schedule }) {
  return (
    <>
      <Badge state={active ? "active" : "paused"} />
      {last_error && (
        <>
          {" "}
          <Badge state="failed" word={last_error.message} />
        </>
      )}
    </>
  );
}

function Add({ templates, close }: { templates: readonly Template[]; close: () => void }) {
  const create = useAction("schedules.create", { stale: STALE });
  const [chosen, setTemplate] = useState<string>();
  // The templates may arrive after the dialog has opened.
  const template = chosen ?? templates[0]?.id ?? "";
  const [channels, setChannels] = useState<string[]>([]);
  const [cron, setCron] = useState("0 9 * * 1");
  const [timezone, setTimezone] = useState(zone);
  const fields = create.error?.fields ?? {};
  return (
    <Dialog title="New schedule" close={close}>
      <Form
        error={create.error}
        onSubmit={async () => {
          const done = await create.run({
            template_id: template,
            channel_ids: channels,
            cron_expression: cron,
            timezone,
            target: { type: "all" },
          });
          if (!done) return;
          say("The schedule is created.");
          close();
        }}
      >
        <SelectField
          label="Template"
          value={template}
          options={templates.map(({ id, name }) => ({ value: id, label: name }))}
          onInput={setTemplate}
          fault={fields.template_id}
        />
        <TextField
          label="When"
          value={cron}
          onInput={setCron}
          fault={fields.cron_expression}
          hint="Minute, hour, day of the month, month, weekday: 0 9 * * 1 is every Monday at 09:00."
          code
          required
        />
        <TextField label="Time zone" value={timezone} onInput={setTimezone} fault={fields.timezone} required />
        <ChannelPicker chosen={channels} onInput={setChannels} fault={fields.channel_ids} />
        <FormFault error={create.error} placed={FIELDS} />
        <div class="actions end">
          <Button onClick={close}>Cancel</Button>
          <Button
            kind="primary"
            type="submit"
            needs="schedules.create"
            isBusy={create.isBusy}
            refusal={
              template === ""
                ? "Write a template first."
                : channels.length === 0
                  ? "Choose at least one channel."
                  : undefined
            }
          >
            Create the schedule
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

function Remove({ schedule, name, close }: { schedule: Schedule; name: string; close: () => void }) {
  const remove = useAction("schedules.delete", { stale: STALE });
  return (
    <Confirm
      title="Delete this schedule?"
      name={name}
      act="Delete the schedule"
      isBusy={remove.isBusy}
      close={close}
      onConfirm={async () => {
        if (!(await remove.run(schedule.id))) return;
        say("The schedule is deleted.");
        close();
      }}
    >
      <p>The template is not sent by it any more.</p>
      {remove.error && <Failure error={remove.error} />}
    </Confirm>
  );
}
