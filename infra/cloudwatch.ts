// CloudWatch, by its JSON protocol: two operations of it do not need a client library of their own.
import type { LambdaClient } from "@aws-sdk/client-lambda";
import { Sha256 } from "@smithy/core/checksum";
import { SignatureV4 } from "@smithy/signature-v4";

export type CloudWatch = (operation: "DescribeAlarms" | "SetAlarmState", input: object) => Promise<unknown>;

interface Account {
  region: string;
  credentials: ConstructorParameters<typeof SignatureV4>[0]["credentials"];
  /** The endpoint of CloudWatch. Default: that of AWS. */
  endpoint?: string;
}

const TARGET = "GraniteServiceVersion20100801";

/** @throws an error with the name and the message of AWS */
export function cloudWatchOf({ region, credentials, endpoint }: Account): CloudWatch {
  const signer = new SignatureV4({ service: "monitoring", region, credentials, sha256: Sha256 });
  const suffix = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  const { host, hostname, protocol, origin } = new URL(endpoint ?? `https://monitoring.${region}.${suffix}`);
  return async (operation, input) => {
    const body = JSON.stringify(input);
    const headers = { host, "content-type": "application/x-amz-json-1.0", "x-amz-target": `${TARGET}.${operation}` };
    const signed = await signer.sign({ method: "POST", protocol, hostname, path: "/", query: {}, headers, body });
    const { host: _, ...signedHeaders } = signed.headers;
    const response = await fetch(origin, { method: "POST", headers: signedHeaders, body });

    const text = await response.text();
    if (response.ok) return text === "" ? {} : JSON.parse(text);
    throw new Error(`CloudWatch refused ${operation} with ${response.status}: ${text}`);
  };
}

/** That of the account and region of another client. */
export const deployedCloudWatch = async ({ config }: LambdaClient): Promise<CloudWatch> =>
  cloudWatchOf({ region: await config.region(), credentials: config.credentials });
