// Settings: who may do what, at what price? The workspace, the team, keys and the plan.
import { me } from "../../app/session.ts";
import { Tabbed } from "../../components/page.tsx";
import { Account } from "./account.tsx";
import { Audit } from "./audit.tsx";
import { Clients } from "./clients.tsx";
import { Conversions } from "./conversions.tsx";
import { General } from "./general.tsx";
import { Keys } from "./keys.tsx";
import { Plan } from "./plan.tsx";
import { Provider } from "./provider.tsx";
import { Team } from "./team.tsx";

const tabs = [
  { id: "", label: "Workspace", View: General },
  { id: "team", label: "Team", View: Team },
  { id: "provider", label: "Sign-in", View: Provider },
  { id: "conversions", label: "Conversions", View: Conversions },
  { id: "keys", label: "Keys", View: Keys },
  { id: "audit", label: "Audit", View: Audit },
  { id: "plan", label: "Plan and usage", View: Plan },
  { id: "account", label: "Your account", View: Account },
] as const;

const ofAgency = { id: "clients", label: "Clients", View: Clients };

export function View() {
  const { name, kind } = me.value?.tenant ?? {};
  return <Tabbed title="Settings" about={name} tabs={kind === "agency" ? [...tabs, ofAgency] : tabs} />;
}
