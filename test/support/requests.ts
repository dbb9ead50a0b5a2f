// Requests to AWS, at which a test lets something happen: another write, a failure, time that passes.
import { awsFailure, type Hooks, type ServiceName, type Wire } from "../../local/aws/index.ts";

interface Which {
  /** The function that makes them; any, where none is said. */
  of?: string;
  service?: ServiceName;
  operation?: string;
  /** A text in what is asked. */
  naming?: string;
  /** Before they are carried out, unless said otherwise. */
  moment?: "before" | "after";
}

type Work = (input: Wire) => unknown;

/** After a request: it was carried out, and the client does not know and asks again. */
export function lostReply(): never {
  throw awsFailure("InternalServerError", "The reply is lost.", { status: 500 });
}

/** Requests of one kind. Nothing happens at them until it is said; `hooks` are an option of a world. */
export function requests({ of, moment = "before", ...which }: Which) {
  let work: Work | undefined;
  let seen = 0;
  const isMeant = (service: ServiceName, operation: string, input: Wire): boolean =>
    (which.service === undefined || service === which.service) &&
    (which.operation === undefined || operation === which.operation) &&
    (which.naming === undefined || JSON.stringify(input).includes(which.naming));
  const meet = async (service: ServiceName, operation: string, input: Wire): Promise<void> => {
    if (!isMeant(service, operation, input)) return;
    seen++;
    await work?.(input);
  };
  return {
    hooks: (name: string): Hooks => (of === undefined || name === of ? { [moment]: meet } : {}),
    /** At each from now on, this happens. */
    each: (happens: Work): void => {
      work = happens;
    },
    /** At the next one this happens, and at none after it. */
    next: (happens: Work): void => {
      work = (input) => {
        work = undefined;
        return happens(input);
      };
    },
    /** They fail from now on. */
    fail: (error: Error = new Error("The request failed.")): void => {
      work = () => {
        throw error;
      };
    },
    /** Nothing more happens at them. */
    pass: (): void => {
      work = undefined;
    },
    /** How many there were so far. */
    seen: (): number => seen,
    /** Whether what was said with `next` is still to happen. */
    isAwaited: (): boolean => work !== undefined,
  };
}
