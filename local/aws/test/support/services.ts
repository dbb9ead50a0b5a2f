// The services of a test that uses one of them through an SDK client.
import type { Services } from "../../protocol.ts";
import { awsFailure, type StandIn } from "../../stand-in.ts";

const absent: StandIn = {
  operate: async () => {
    throw awsFailure("InternalFailure", "not part of this test", { status: 500 });
  },
};

export const onlyWith = (services: Partial<Services>): Services => ({
  dynamodb: absent,
  sqs: absent,
  scheduler: absent,
  kms: absent,
  ...services,
});

/** The name of the error that the call ends with. */
export const nameOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "no error",
    (error: Error) => error.name,
  );
