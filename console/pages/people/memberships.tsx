// The lists and segments that a person is in.
import type { SubscriberProfile } from "../../../sdk/src/types.gen.ts";
import { pathTo } from "../../app/router.ts";
import { Card } from "../../components/page.tsx";

export function Memberships({ profile: { lists, segments } }: { profile: SubscriberProfile }) {
  const groups = [
    ["Lists", lists, () => pathTo("content", "lists")],
    ["Segments", segments, (id: string) => pathTo("segments", id)],
  ] as const;
  return (
    <Card title="Lists and segments">
      <dl class="facts">
        {groups.map(([title, items, hrefOf]) => [
          <dt key={title}>{title}</dt>,
          <dd key={`${title}-items`}>
            {items.length === 0 && <span class="dim">None</span>}
            {items.map(({ id, name }, n) => [
              n > 0 && ", ",
              <a key={id} href={hrefOf(id)}>
                {name}
              </a>,
            ])}
          </dd>,
        ])}
      </dl>
    </Card>
  );
}
