// Table settings that are described and have no effect here: encryption, on-demand limits, warm throughput.
import type { Wire } from "../stand-in.ts";
import { choice, count, flag, type Shape, structure, text } from "./parameters.ts";
import { ACCOUNT, REGION, type TableRecord } from "./tables.ts";

export const EXTRAS = {
  SSESpecification: structure({ Enabled: flag, SSEType: choice("AES256", "KMS"), KMSMasterKeyId: text }),
  OnDemandThroughput: structure({ MaxReadRequestUnits: count(-1), MaxWriteRequestUnits: count(-1) }),
  WarmThroughput: structure({ ReadUnitsPerSecond: count(1), WriteUnitsPerSecond: count(1) }),
} satisfies Shape;

/** Stores these settings of a request in the record. */
export function keepExtras(record: TableRecord, input: Wire): void {
  const encryption = input.SSESpecification as { Enabled?: boolean; KMSMasterKeyId?: string } | undefined;
  if (encryption?.Enabled) record.encryptionKey = encryption.KMSMasterKeyId ?? "alias/aws/dynamodb";
  else if (encryption) delete record.encryptionKey;
  if (input.OnDemandThroughput) record.onDemandThroughput = input.OnDemandThroughput as Record<string, number>;
  if (input.WarmThroughput) record.warmThroughput = input.WarmThroughput as Record<string, number>;
}

/** The same settings in the form of the description. */
export function describeExtras({ encryptionKey, onDemandThroughput }: TableRecord): Wire {
  return {
    ...(encryptionKey && {
      SSEDescription: { Status: "ENABLED", SSEType: "KMS", KMSMasterKeyArn: keyArn(encryptionKey) },
    }),
    ...(onDemandThroughput && {
      OnDemandThroughput: { MaxReadRequestUnits: -1, MaxWriteRequestUnits: -1, ...onDemandThroughput },
    }),
  };
}

function keyArn(key: string): string {
  if (key.startsWith("arn:")) return key;
  return `arn:aws:kms:${REGION}:${ACCOUNT}:${key.startsWith("alias/") ? key : `key/${key}`}`;
}
