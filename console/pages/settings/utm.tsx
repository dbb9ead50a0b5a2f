// What the links of marketing mails say of where their readers come from (CHC-6).
import type { WorkspacePage } from "../../../sdk/src/types.gen.ts";
import { Check, TextField } from "../../components/field.tsx";
import { Card } from "../../components/page.tsx";

type Defaults = WorkspacePage["utm_defaults"];

interface UtmProps {
  utm: Defaults;
  onUtm: (utm: Defaults) => void;
  faultAt: (name: string) => string | undefined;
}

export function Utm({ utm, onUtm, faultAt }: UtmProps) {
  return (
    <Card title="Links of marketing emails">
      <Check
        label="Add UTM parameters to links"
        note="So that the analytics of your site know which visits come from emails. A link with its own parameters keeps them."
        checked={utm !== null}
        onInput={(is) => onUtm(is ? { source: "", medium: "email" } : null)}
      />
      {utm && (
        <>
          <TextField
            label="Source"
            value={utm.source}
            onInput={(source) => onUtm({ ...utm, source })}
            fault={faultAt("source")}
            hint="The value of utm_source, such as the name of your shop."
            required
          />
          <TextField
            label="Medium"
            value={utm.medium}
            onInput={(medium) => onUtm({ ...utm, medium })}
            fault={faultAt("medium")}
            hint="The value of utm_medium."
            required
          />
          <TextField
            label="Campaign (optional)"
            value={utm.campaign ?? ""}
            onInput={(campaign) => onUtm({ ...utm, ...(campaign ? { campaign } : { campaign: undefined }) })}
            fault={faultAt("campaign")}
            hint="The value of utm_campaign. Empty: the name of the campaign."
          />
        </>
      )}
    </Card>
  );
}
