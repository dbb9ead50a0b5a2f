// Records whose entries the bus refuses for good: they lie where Lambda puts records that it gives up, so that the rest goes on.
import { createHash } from "node:crypto";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import type { DynamoDBRecord } from "aws-lambda";
import { type Capability, type Deps, setting } from "../../../shared/kernel/deps.ts";

export interface SetAside {
  /** Stores records for `operate redrive`; an alarm tells of it. @throws if the bucket refuses them */
  store(records: readonly DynamoDBRecord[]): Promise<void>;
}

export const setAside: Capability<"setAside", SetAside> = {
  as: "setAside",
  env: ["PUBLISH_FAILURES"],
  grants: [{ actions: ["s3:PutObject"], on: "publish-failures" }],
  open: (deps) => {
    const opened = openSetAside(deps);
    return () => opened;
  },
};

function openSetAside(deps: Deps): SetAside {
  const client = deps.aws(S3Client);
  return {
    store: async (records) => {
      if (records.length === 0) return;
      // The form in which Lambda stores a batch that it gives up.
      const Body = JSON.stringify({ payload: { Records: records } });
      const name = createHash("sha256").update(Body).digest("hex").slice(0, 32);
      const Bucket = setting(deps, "PUBLISH_FAILURES");
      await client.send(
        new PutObjectCommand({ Bucket, Key: `refused/${name}.json`, Body, ContentType: "application/json" }),
      );
    },
  };
}
