// One segment: its rule, its members, and whether somebody is in it, clause by clause.
import { useEffect, useRef } from "preact/hooks";
import type { Segment } from "../../../sdk/src/types.gen.ts";
import { expectationText, valueText } from "../../../shared/rules/clause-words.ts";
import { useAction } from "../../app/action.ts";
import { call } from "../../app/api.ts";
import { useKept } from "../../app/kept.ts";
import { isSame } from "../../app/merge.ts";
import { calledOf, personName } from "../../app/person-name.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { usePages } from "../../app/rows.ts";
import { plural } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Act, Discard } from "../../components/button.tsx";
import { Collection } from "../../components/collection.tsx";
import { seenBy, useGuard } from "../../components/conflict.tsx";
import { DeleteButton } from "../../components/dialog.tsx";
import { Menu } from "../../components/menu.tsx";
import { Card, Page, Time } from "../../components/page.tsx";
import { PersonField, usePicked } from "../../components/person-picker.tsx";
import { type RuleDraft, wholeOf } from "../../components/rule-builder.tsx";
import { Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { Builder, RuleForm, UNFINISHED } from "./builder.tsx";

const EVERY_MS = 5_000;

export function OneSegment({ id }: { id: string }) {
  const segment = useQuery("segments.get", [id], { every: EVERY_MS });
  const recompute = useAction("segments.recompute");
  const { data } = segment;
  return (
    <Page
      title={data?.name ?? "Segment"}
      back={{ href: pathTo("segments"), label: "Segments" }}
      about={
        data && (data.needs_recompute ? "Its members are being computed." : plural(data.count, "person", "people"))
      }
      actions={
        data && (
          <Menu>
            <Act action={recompute} given={[id]} said="It is being recomputed.">
              Recompute
            </Act>
            <DeleteButton operation="segments.delete" id={id} noun="segment" name={data.name} page="segments">
              The people in it stay. A segment that is in use is not deleted, and you see by what.
            </DeleteButton>
          </Menu>
        )
      }
    >
      {recompute.error && <Failure error={recompute.error} />}
      <Loaded query={segment} skeleton={<Skeleton rows={6} />}>
        {(found) => <Rule segment={found} />}
      </Loaded>
      {segment.error?.status !== 404 && (
        <>
          <IsIn id={id} />
          <Members id={id} />
        </>
      )}
    </Page>
  );
}

interface Draft extends RuleDraft {
  name: string;
}

type Body = Pick<Segment, "name" | "rule">;

const bodyOf = ({ name, rule }: Body): Body => ({ name, rule });

function Rule({ segment }: { segment: Segment }) {
  const { id, name: known, rule: stored, updated_at } = segment;
  const update = useAction("segments.update");
  const kept = useKept<Draft>(`segment.${id}`, () => ({ name: known, rule: stored, isWhole: true }));
  const { name } = kept.value;
  const rule = wholeOf(kept.value);
  const isChanged = name !== known || !isSame(rule, stored);
  const unchanged = isChanged ? undefined : "Nothing has changed.";
  const guard = useGuard<Body>({ name: kept.begun.name, rule: kept.begun.rule ?? stored }, () =>
    seenBy((options) => call("segments.get", [id, options]), bodyOf),
  );
  const save = async () => {
    const mine = rule && (await guard.settle({ name, rule }));
    const done = mine && (await update.run(id, mine.body, mine.over));
    if (!done) return;
    // Not what was merged with it: the next change begins with what stands here.
    guard.saved({ name, rule });
    say(`Saved. Its members are being computed.${kept.accepted()}`);
  };
  const discard = () => {
    kept.discard();
    guard.saved({ name: known, rule: stored });
  };
  const seen = useRef(updated_at);
  // What somebody else saved is shown where nothing is written; what is written is compared with it when it is saved.
  useEffect(() => {
    if (seen.current !== updated_at && isSame(kept.value, kept.begun)) discard();
    seen.current = updated_at;
  }, [updated_at]);
  return (
    <RuleForm
      action={update}
      name={name}
      onName={(next) => kept.set({ name: next })}
      submit="Save"
      refusal={rule ? unchanged : UNFINISHED}
      kept={kept}
      onSubmit={save}
      buttons={
        <>
          {isChanged && <Discard onClick={discard} />}
          {guard.question}
        </>
      }
    >
      {(fault) => <Builder written={kept.value} onRule={kept.set} fault={fault} stored={segment} />}
    </RuleForm>
  );
}

function IsIn({ id }: { id: string }) {
  const picked = usePicked();
  const subscriber = picked.person;
  const member = useQuery("segments.getMember", [id, subscriber?.id ?? ""], { when: subscriber !== undefined });
  return (
    <Card title="Check a person">
      <PersonField label="Person" picked={picked} />
      {member.error && <Failure error={member.error} />}
      {subscriber && member.data && (
        <>
          <p class="verdict">
            <Badge
              state={member.data.member ? "active" : "not_in_audience"}
              word={member.data.member ? "is a member" : "is not a member"}
            />{" "}
            <a href={pathTo("people", subscriber.id)}>{personName(subscriber)}</a>
          </p>
          <Table
            caption="Conditions"
            rows={member.data.reasons}
            keyOf={({ path }) => path}
            columns={[
              { title: "Condition", cell: ({ path }) => <code>{path}</code> },
              {
                title: "Met",
                cell: ({ matched }) => <Badge state={matched ? "active" : "failed"} word={matched ? "yes" : "no"} />,
              },
              { title: "Expected", cell: ({ expected }) => expectationText(expected) },
              {
                title: "Actual",
                cell: ({ actual }) => (actual === undefined ? "–" : valueText(actual)),
              },
            ]}
          />
        </>
      )}
    </Card>
  );
}

function Members({ id }: { id: string }) {
  const rows = usePages("segments.listMembers", [id, {}], ({ items }) => items, { every: EVERY_MS });
  return (
    <Collection
      noun="member"
      card="Members"
      rows={rows}
      usual={4}
      keyOf={({ subscriber_id }) => subscriber_id}
      hrefOf={({ subscriber_id }) => pathTo("people", subscriber_id)}
      empty={{ title: "There are no members." }}
      columns={[
        { title: "Name", cell: calledOf },
        { title: "External ID", isMinor: true, cell: ({ external_id }) => <span class="dim">{external_id}</span> },
        { title: "Since", cell: ({ entered_at }) => <Time at={entered_at} /> },
      ]}
    />
  );
}
