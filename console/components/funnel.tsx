// From sent to converted, as bars with their numbers and shares.
import type { InsightsGetFunnelAnswer } from "../../sdk/src/types.gen.ts";
import { amount, number, share } from "../app/time.ts";

type Stages = Pick<
  InsightsGetFunnelAnswer,
  "sent" | "delivered" | "opened" | "opened_human" | "clicked" | "clicked_human" | "converted" | "revenue_cents"
>;

export function Funnel({ of, caption }: { of: Stages; caption: string }) {
  const { sent, delivered, opened, opened_human, clicked, clicked_human, converted, revenue_cents } = of;
  const stages = [
    ["Sent", sent, ""],
    ["Delivered", delivered, ""],
    ["Opened", opened, opened_human < opened ? `${number(opened_human)} by people, the rest by machines` : ""],
    ["Clicked", clicked, clicked_human < clicked ? `${number(clicked_human)} by people` : ""],
    ["Converted", converted, revenue_cents ? `revenue ${amount(revenue_cents)}` : ""],
  ] as const;
  return (
    <>
      <table class="funnel">
        <caption class="unseen">{caption}</caption>
        <tbody>
          {stages.map(([name, value, note]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <div class="meter">
                  <i style={{ width: `${sent ? (100 * value) / sent : 0}%` }} />
                </div>
                {note && value > 0 && <span class="hint">{note}</span>}
              </td>
              <td class="num">{number(value)}</td>
              <td class="num dim">{share(value, sent)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="hint">
        Shares are of those it was sent to. Converted are people, each once, whatever else they got before.
      </p>
    </>
  );
}
