// The operator of the service, invoked with IAM rights and never through the gateway (D-TENANT): changes of workspaces,
// usage and costs, dead letters, recounts.
import * as v from "valibot";
import { fieldsOf } from "../../shared/http/input.ts";
import { type Deps, NO_TENANT, openAll, type Uses } from "../../shared/kernel/deps.ts";
import { openStore } from "../../shared/store/context.ts";
import { insideSandbox, isSandbox } from "../../shared/store/sandbox/sandbox.ts";
import {
  changeOne,
  chooseEventsOnBus,
  EndSignInDemand,
  EventsOnBus,
  endSignInDemand,
  ForgetSecondFactor,
  forgetSecondFactor,
  Invitation,
  inviteAddress,
  OperatorChange,
  Registration,
  register,
} from "./changes.ts";
import { type OperatorContext, type Refusal, uses } from "./context.ts";
import { CostRequest, costOf, seeWorkspaces, WorkspacesRequest } from "./overview.ts";
import { DeadLettersRequest, RecountRequest, RedriveRequest, recount, redrive, seeDeadLetters } from "./repair.ts";

type Answer<A extends (...args: never[]) => Promise<object>> = Awaited<ReturnType<A>>;
type OperatorAnswer =
  | Refusal
  | Answer<typeof register>
  | Answer<typeof inviteAddress>
  | Answer<typeof forgetSecondFactor>
  | Answer<typeof endSignInDemand>
  | Answer<typeof chooseEventsOnBus>
  | Answer<typeof changeOne>
  | Answer<typeof seeWorkspaces>
  | Answer<typeof costOf>
  | Answer<typeof seeDeadLetters>
  | Answer<typeof redrive>
  | Answer<typeof recount>;

type Action = (context: OperatorContext, event: unknown) => Promise<OperatorAnswer>;

/** An action that validates its event by a schema, and refuses an invalid one with its problems. */
const taking =
  <S extends v.GenericSchema>(
    schema: S,
    act: (context: OperatorContext, input: v.InferOutput<S>) => Promise<OperatorAnswer>,
  ): Action =>
  async (context, event) => {
    const parsed = v.safeParse(schema, event);
    if (parsed.success) return act(context, parsed.output);
    return { error: "invalid", fields: fieldsOf(parsed.issues) };
  };

const change = taking(OperatorChange, changeOne);

/** The actions, by the field of the event that names each. An event without such a field changes a workspace. */
const actions: Record<string, Action> = {
  register: taking(Registration, register),
  invite: taking(Invitation, inviteAddress),
  forget_second_factor: taking(ForgetSecondFactor, forgetSecondFactor),
  end_sign_in_demand: taking(EndSignInDemand, endSignInDemand),
  events_on_bus: taking(EventsOnBus, chooseEventsOnBus),
  workspaces: taking(WorkspacesRequest, seeWorkspaces),
  cost: taking(CostRequest, costOf),
  dead_letters: taking(DeadLettersRequest, seeDeadLetters),
  redrive: taking(RedriveRequest, redrive),
  recount: taking(RecountRequest, recount),
};

interface OperatorFunction {
  name: "operator";
  about: string;
  input: typeof OperatorChange;
  uses: Uses;
  create(deps: Deps): (event: unknown) => Promise<OperatorAnswer>;
}

export const operator: OperatorFunction = {
  name: "operator",
  about:
    "Changes a workspace's plan, kind, status, cap or usage; 30 days after a deletion its data goes. Makes workspaces " +
    "where registration is closed, and invites to register. Lists usage, cost and dead letters, redrives and recounts.",
  input: OperatorChange,
  uses,
  create: (deps) => {
    const bind = openAll(uses, deps);
    const storeIn: OperatorContext["storeIn"] = (workspace) => {
      const { id } = workspace;
      return openStore(isSandbox(id) ? insideSandbox(deps, id, workspace) : deps)(id);
    };
    return async (event) => {
      const name = Object.keys(actions).find((action) => Object.hasOwn(Object(event), action));
      const action = name === undefined ? change : actions[name]!;
      return action({ ...bind(NO_TENANT), bind, storeIn, clock: deps.clock, ids: deps.ids }, event);
    };
  },
};
